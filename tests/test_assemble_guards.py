"""Does code run by default? ``active`` is no behind something that is off by default."""

from __future__ import annotations

import pytest

from tests.support import facts

_HEAD = """import argparse
import os
import tensorflow as tf
parser = argparse.ArgumentParser()
parser.add_argument("--off", action="store_true")
parser.add_argument("--on", default=True)
parser.add_argument("--mode", default="train")
parser.add_argument("--precision_mode", default="origin")
parser.add_argument("--needed", required=True)
parser.add_argument("--named", default=None)
args = parser.parse_args()
"""


def _active(text: str, name: str = "tensorflow.Session") -> list[str]:
    return [f.get("active") for f in facts(_HEAD + text, "call", name)]


_CONDITIONS = {
    "no condition": ("tf.Session()", "yes"),
    "an option that is off": ("if args.off:\n    tf.Session()", "no"),
    "the other branch of it": ("if args.off:\n    pass\nelse:\n    tf.Session()", "yes"),
    "an option that is on": ("if args.on:\n    tf.Session()", "yes"),
    "the other branch of an option that is on": ("if args.on:\n    pass\nelse:\n    tf.Session()", "no"),
    "not an option that is off": ("if not args.off:\n    tf.Session()", "yes"),
    "an option with this value": ("if args.mode == 'train':\n    tf.Session()", "yes"),
    "an option that chooses the job": ("if args.mode == 'eval':\n    tf.Session()", "unknown"),
    "an option that chooses the precision": ("if args.precision_mode == 'fp16':\n    tf.Session()", "unknown"),
    "an option among values": ("if args.mode in 'train eval':\n    tf.Session()", "yes"),
    "an option without a default": ("if args.needed:\n    tf.Session()", "unknown"),
    "an option that has no value until it is given": ("if args.named == 'a':\n    tf.Session()", "unknown"),
    "the same, asked whether it is given": ("if args.named:\n    tf.Session()", "no"),
    "a constant": ("DEBUG = False\nif DEBUG:\n    tf.Session()", "no"),
    "a literal": ("if 0:\n    tf.Session()", "no"),
    "elif after an option that is on": ("if args.on:\n    pass\nelif x:\n    tf.Session()", "no"),
    "elif after an option that is off": ("if args.off:\n    pass\nelif x:\n    tf.Session()", "unknown"),
    "and with an option that is off": ("if x and args.off:\n    tf.Session()", "no"),
    "or with an option that is off": ("if x or args.off:\n    tf.Session()", "unknown"),
    "an unknown condition": ("if x:\n    tf.Session()", "unknown"),
    "a loop within an unknown condition": ("if x:\n    for i in y:\n        tf.Session()", "unknown"),
    "an option that is off around a known condition": ("if args.off:\n    if True:\n        tf.Session()", "no"),
    "an option that is off within an unknown condition": ("if x:\n    if args.off:\n        tf.Session()", "no"),
    "a known condition within an unknown one": ("if x:\n    if args.on:\n        tf.Session()", "unknown"),
    "the main guard": ("if __name__ == '__main__':\n    tf.Session()", "yes"),
    "the main guard the other way round": ("if '__main__' == __name__:\n    tf.Session()", "yes"),
    "a loop": ("for i in x:\n    tf.Session()", "yes"),
    "try and except": ("try:\n    pass\nexcept E:\n    tf.Session()", "yes"),
    "an environment variable": ("if os.getenv('DEBUG'):\n    tf.Session()", "unknown"),
    "a case": ("match x:\n    case 1:\n        tf.Session()", "unknown"),
}


@pytest.mark.parametrize(("text", "answer"), _CONDITIONS.values(), ids=_CONDITIONS.keys())
def test_code_under_a_condition(text: str, answer: str) -> None:
    assert _active(text + "\n") == [answer]


_NPU = {
    "a flag": ("if is_npu:", "unknown", "no"),
    "a negated flag": ("if not is_npu:", "no", "unknown"),
    "an equal text": ("if platform == 'npu':", "unknown", "no"),
    "an unequal text": ("if platform != 'npu':", "no", "unknown"),
    "a text that is not in": ("if 'npu' not in platform:", "no", "unknown"),
    "among texts": ("if platform in ('npu', 'ascend'):", "unknown", "no"),
    "a call": ("if is_available('Ascend'):", "unknown", "no"),
    "an own question": ("if npu_available():", "unknown", "no"),
    "an NPU option is none of those that switch it off": ("if npu_scale not in [None, -1]:", "unknown", "no"),
    "an NPU option is compared with a number": ("if npu_count > 0:", "unknown", "no"),
    "something for the NPU is given": ("if npu_config is not None:", "unknown", "no"),
    "nothing for the NPU is given": ("if npu_config is None:", "no", "unknown"),
    "equal to false": ("if use_npu == False:", "no", "unknown"),
    "the soc": ("if soc == 'Ascend910A':", "unknown", "no"),
    "nothing about it": ("if platform == 'gpu':", "unknown", "unknown"),
    "a word that only contains the letters": ("if input_tensor != x:", "unknown", "unknown"),
    "a call with a lambda": ("if f(lambda: npu):", "unknown", "unknown"),
}


@pytest.mark.parametrize(("test", "then", "otherwise"), _NPU.values(), ids=_NPU.keys())
def test_branch_for_other_devices_is_not_active(test: str, then: str, otherwise: str) -> None:
    assert _active(f"{test}\n    tf.Session()\nelse:\n    tf.Session()\n") == [then, otherwise]


_CALLERS = {
    "nobody calls": ("def f():\n    tf.Session()", "yes"),
    "called only where it is off": ("def f():\n    tf.Session()\nif args.off:\n    f()", "no"),
    "called also elsewhere": ("def f():\n    tf.Session()\nif args.off:\n    f()\nf()", "yes"),
    "called by a function that is": ("def f():\n    tf.Session()\ndef g():\n    f()\nif args.off:\n    g()", "no"),
    "called by itself": ("def f():\n    tf.Session()\n    f()", "yes"),
    "called by each other": ("def f():\n    tf.Session()\n    g()\ndef g():\n    f()", "yes"),
    "called under an unknown condition": ("def f():\n    tf.Session()\nif x:\n    f()", "yes"),
    "handed to somebody": ("def f():\n    tf.Session()\nif args.off:\n    f()\nrun(f)", "yes"),
    "handed to somebody by keyword": ("def f():\n    tf.Session()\nif args.off:\n    f()\nrun(target=f)", "yes"),
    "a method": ("class C:\n    def f(self):\n        tf.Session()\nif args.off:\n    C().f()", "no"),
    "an initialiser": ("class C:\n    def __init__(self):\n        tf.Session()\nif args.off:\n    C()", "no"),
    "a nested function": ("def f():\n    def g():\n        tf.Session()\n    g()\nif args.off:\n    f()", "no"),
}


@pytest.mark.parametrize(("text", "answer"), _CALLERS.values(), ids=_CALLERS.keys())
def test_code_in_a_function(text: str, answer: str) -> None:
    assert _active(text + "\n") == [answer]


def test_callers_in_other_modules_count() -> None:
    sources = {
        "h.py": "import tensorflow as tf\ndef f():\n    tf.Session()\n",
        "train.py": _HEAD + "import h\nif args.off:\n    h.f()\n",
    }
    assert [f.get("active") for f in facts(sources, "call", "tensorflow.Session")] == ["no"]


def test_switch_of_another_module_counts() -> None:
    sources = {"c.py": "DEBUG = False\n", "train.py": _HEAD + "import c\nif c.DEBUG:\n    tf.Session()\n"}
    assert [f.get("active") for f in facts(sources, "call", "tensorflow.Session")] == ["no"]


def test_switch_that_is_set_on_an_object_does_not_turn_code_off() -> None:
    text = "class C:\n    debug = False\n    def f(self):\n        if self.debug:\n            tf.Session()\n"
    text += "c = C()\nc.debug = True\n"
    assert _active(text) == ["unknown"]
