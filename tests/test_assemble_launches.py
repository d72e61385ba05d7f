"""Which scripts launchers start, what reaches their options, and what their parsers make of it."""

from __future__ import annotations

from typing import Any

import pytest

from npulint.commands.build import assemble
from npulint.facts.model import Fact, FileFacts
from npulint.facts.values import PossibleValues
from npulint.read.python import read_python
from npulint.read.shell_script import read_shell

_PARSER = """
import argparse
import tensorflow as tf
parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=1)
args = parser.parse_args()
tf.nn.top_k(y, args.steps)
"""
_FLAGS = """
import tensorflow as tf
from absl import app, flags
flags.DEFINE_integer("steps", 1, "")
flags.DEFINE_bool("fast", False, "")
flags.DEFINE_enum("mode", "train", ["train", "eval"], "")

def main(_):
    tf.nn.top_k(y, flags.FLAGS.steps)

if __name__ == "__main__":
    app.run(main)
"""


def _found(files: dict[str, str], kind: str) -> list[Fact]:
    facts = []
    for path, text in files.items():
        if path.endswith(".py"):
            code, problems = read_python(text, path)
            assert not problems
            facts.append(FileFacts(path, "python", code))
        else:
            facts.append(FileFacts(path, "shell", facts=read_shell(text, path)))
    found = {id(fact): fact for program in assemble("", facts) for fact in program.index.of_kind(kind)}
    return list(found.values())


def _steps(files: dict[str, str]) -> dict[str, tuple[object, ...]]:
    """By path the values that the option has there."""
    found: dict[str, tuple[object, ...]] = {}
    for fact in _found(files, "call"):
        if fact.name.endswith("top_k"):
            known = fact.args.argument_value("k", 1)
            assert isinstance(known, PossibleValues)
            found[fact.path] = known.values if known.exact else ("?", *known.values)
    return found


_SAME_NAME = {"a/train.py": _PARSER, "b/train.py": _PARSER}
_MATCHES: dict[str, tuple[dict[str, str], dict[str, tuple[object, ...]]]] = {
    "beside the launcher": ({"a/run.sh": "python3 train.py --steps=2"}, {"a/train.py": (2,), "b/train.py": (1,)}),
    "above the launcher": (
        {"b/test/run.sh": "cd ..\npython3 train.py --steps=2"},
        {"a/train.py": (1,), "b/train.py": (2,)},
    ),
    "from where the launcher was started": (
        {"b/test/run.sh": "here=`pwd`\ncd $here/../\nfor i in 1; do\n nohup python3 train.py --steps=2 &\ndone"},
        {"a/train.py": (1,), "b/train.py": (2,)},
    ),
    "by a variable of the folder": (
        {"a/test/run.sh": "here=$(dirname $0)\npython3 ${here}/../train.py --steps 2"},
        {"a/train.py": (2,), "b/train.py": (1,)},
    ),
    "by its folder from the root": (
        {"run.sh": "python3 a/train.py --steps=2\npython3 a/train.py --steps=3"},
        {"a/train.py": (2, 3), "b/train.py": (1,)},
    ),
    "as a module": ({"run.sh": "python3 -m b.train --steps=2"}, {"a/train.py": (1,), "b/train.py": (2,)}),
    "by a name that two have": (
        {"c/run.sh": "python3 $CODE/train.py --steps=2"},
        {"a/train.py": (1, 2), "b/train.py": (1, 2)},
    ),
    "as a module of something that is not in the project": (
        {"run.sh": "python3 -m installed.train --steps=2"},
        {"a/train.py": (1,), "b/train.py": (1,)},
    ),
    "in a folder that is not in the project": (
        {"run.sh": "python3 tools/train.py --steps=2"},
        {"a/train.py": (1,), "b/train.py": (1,)},
    ),
    "at its place in an image": (
        {"run.sh": "python3 /workspace/a/train.py --steps=2"},
        {"a/train.py": (2,), "b/train.py": (1,)},
    ),
    "on another machine": (
        {"run.sh": "python3 /home/somebody/train.py --steps=2"},
        {"a/train.py": (1, 2), "b/train.py": (1, 2)},
    ),
    "once without the option": (
        {"a/run.sh": "python3 train.py --steps=2\npython3 train.py"},
        {"a/train.py": (1, 2), "b/train.py": (1,)},
    ),
    "with what only a run can tell": (
        {"a/run.sh": "python3 train.py --steps=$1"},
        {"a/train.py": ("?",), "b/train.py": (1,)},
    ),
    "with a default that the caller may replace": (
        {"a/run.sh": "python3 train.py --steps=${1:-4}"},
        {"a/train.py": (4,), "b/train.py": (1,)},
    ),
    "for the NPU and for GPUs": (
        {"a/run_npu.sh": "python3 train.py --steps=2", "a/run_gpu.sh": "python3 train.py --steps=3"},
        {"a/train.py": (2,), "b/train.py": (1,)},
    ),
    "for GPUs alone": (
        {"a/run.sh": "export CUDA_VISIBLE_DEVICES=0\npython3 train.py --steps=3"},
        {"a/train.py": (3,), "b/train.py": (1,)},
    ),
}


@pytest.mark.parametrize(("launchers", "values"), _MATCHES.values(), ids=_MATCHES.keys())
def test_a_launcher_decides_the_options_of_the_script_that_it_starts(
    launchers: dict[str, str], values: dict[str, tuple[object, ...]]
) -> None:
    found = _steps({**_SAME_NAME, **launchers})
    assert {path: tuple(sorted(of, key=str)) for path, of in found.items()} == values


def test_options_of_a_shared_module_follow_the_launched_script() -> None:
    shared = _PARSER.replace("tf.nn.top_k(y, args.steps)", "")
    user = "import tensorflow as tf\nfrom options import args\ntf.nn.top_k(y, args.steps)\n"
    files = {"options.py": shared, "train.py": user, "evaluate.py": user, "run.sh": "python3 train.py --steps=7"}
    assert _steps(files)["train.py"] == (7,)


def _passed(files: dict[str, str], *attributes: str) -> list[tuple[Any, ...]]:
    return [(fact.name, *map(fact.get, attributes)) for fact in _found(files, "launch_option")]


def test_passed_options_stand_where_they_are_written() -> None:
    (fact,) = _found({"train.py": _PARSER, "run.sh": "python3 train.py \\\n    --steps 2\n"}, "launch_option")
    assert (fact.path, fact.span.line, fact.span.column, fact.get("script")) == ("run.sh", 2, 5, "train.py")


_MORE = '\nparser.add_argument("--" + name)\n'
_KNOWN = {
    "argparse": (_PARSER, "yes", "no", "aborts"),
    "an option whose name is computed": (_PARSER.replace("args =", _MORE + "args ="), "yes", "unknown", "aborts"),
    "known arguments only": (_PARSER.replace("parse_args", "parse_known_args"), "yes", "unknown", "unknown"),
    "parents": (_PARSER.replace("Parser()", "Parser(parents=[p])"), "yes", "unknown", "aborts"),
    "two parsers": (_PARSER + "\nq = argparse.ArgumentParser()\n", "yes", "unknown", "aborts"),
    "a parser handed to somebody": (
        _PARSER.replace("args =", "lib.extend(parser)\nargs ="),
        "yes",
        "unknown",
        "aborts",
    ),
    "changed arguments": (_PARSER + "\nimport sys\nsys.argv.append('--x')\n", "yes", "unknown", "aborts"),
    "absl": (_FLAGS, "yes", "no", "aborts"),
    "TensorFlow's runner": (_FLAGS.replace("app.run", "tf.app.run"), "yes", "no", "ignored"),
    "a library that may define flags": ("import official.flags\n" + _FLAGS, "yes", "unknown", "aborts"),
    "flags with computed names": (_FLAGS + "\nflags.DEFINE_string(name, '', '')\n", "yes", "unknown", "aborts"),
    "nothing that parses": ("import tensorflow as tf\n", "unknown", "unknown", "unknown"),
}


@pytest.mark.parametrize(("script", "steps", "other", "effect"), _KNOWN.values(), ids=_KNOWN.keys())
def test_options_that_a_script_has(script: str, steps: str, other: str, effect: str) -> None:
    files = {"train.py": script, "run.sh": "python3 train.py --steps=2 --nothing=3\n"}
    assert _passed(files, "known", "effect") == [("steps", steps, effect), ("nothing", other, effect)]


def test_a_beginning_of_a_name_is_enough_for_argparse() -> None:
    assert _passed({"train.py": _PARSER, "run.sh": "python3 train.py --st=2\n"}, "known", "option") == [
        ("st", "yes", "steps")
    ]


_FITS = {
    "a number": ("type=int", "--x=3", "yes"),
    "no number": ("type=int", "--x=three", "no"),
    "a fraction": ("type=int", "--x 1e5", "no"),
    "a fraction for a float": ("type=float", "--x 1e5", "yes"),
    "a choice": ("choices=['a', 'b']", "--x=a", "yes"),
    "none of the choices": ("choices=['a', 'b']", "--x=c", "no"),
    "choices that are computed": ("choices=names", "--x=c", "unknown"),
    "a switch": ("action='store_true'", "--x", "yes"),
    "a switch with a value": ("action='store_true'", "--x=True", "no"),
    "a switch with a word behind it": ("action='store_true'", "--x True", "no"),
    "what only a run can tell": ("type=int", "--x=$N", "unknown"),
    "nothing": ("type=int", "--x=", "unknown"),
    "arithmetic": ("type=int", "--x=$[8/2]", "unknown"),
    "a function": ("type=parse", "--x=three", "unknown"),
}


@pytest.mark.parametrize(("definition", "given", "fits"), _FITS.values(), ids=_FITS.keys())
def test_values_that_a_parser_takes(definition: str, given: str, fits: str) -> None:
    script = _PARSER.replace('"--steps", type=int, default=1', f'"--x", {definition}')
    assert _passed({"train.py": script, "run.sh": f"python3 train.py {given}\n"}, "fits") == [("x", fits)]


@pytest.mark.parametrize(
    ("given", "detached", "value"),
    [("--fast False", "yes", True), ("--fast=False", "no", False), ("--nofast", "no", False), ("--fast", "no", True)],
)
def test_boolean_flags_take_no_word_of_their_own(given: str, detached: str, value: bool) -> None:
    script = _FLAGS.replace("flags.FLAGS.steps", "flags.FLAGS.fast")
    files = {"train.py": script, "run.sh": f"python3 train.py {given}\n"}
    assert [answer for _, answer in _passed(files, "detached")] == [detached]
    assert _steps(files) == {"train.py": (value,)}


def test_enumerated_flags_have_choices() -> None:
    files = {"train.py": _FLAGS, "run.sh": "python3 train.py --mode=predict\n"}
    assert _passed(files, "fits", "allowed") == [("mode", "no", "train | eval")]


_TARGETS = {
    "exports a rank": ("run.sh", "export RANK_ID=0\n", "npu"),
    "is named after it": ("run_npu.sh", "export CUDA_VISIBLE_DEVICES=0\n", "npu"),
    "is for some devices": ("train_full_8p.sh", "", "npu"),
    "exports CUDA variables": ("run_8p.sh", "export CUDA_VISIBLE_DEVICES=0\n", "gpu"),
    "lies in a folder for TPUs": ("tpu/run.sh", "", "gpu"),
    "says nothing": ("run.sh", "", "unknown"),
}


@pytest.mark.parametrize(("path", "head", "target"), _TARGETS.values(), ids=_TARGETS.keys())
def test_device_that_a_launcher_is_for(path: str, head: str, target: str) -> None:
    files = {"train.py": _PARSER, path: head + "python3 train.py --steps=2\n"}
    assert [fact.get("target") for fact in _found(files, "start")] == [target]


def test_a_launcher_of_unknown_device_beside_one_for_the_npu_is_another() -> None:
    files = {"train.py": _PARSER, "a.sh": "python3 train.py\n", "run_1p.sh": "python3 train.py\n"}
    assert sorted((fact.path, fact.get("target")) for fact in _found(files, "start")) == [
        ("a.sh", "other"),
        ("run_1p.sh", "npu"),
    ]


_SETTING = """
import argparse
import tensorflow as tf
from npu_bridge.npu_init import *
parser = argparse.ArgumentParser()
parser.add_argument("--precision", default="allow_mix_precision")
args = parser.parse_args()
config = tf.ConfigProto()
custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = "NpuOptimizer"
custom_op.parameter_map["precision_mode"].s = tf.compat.as_bytes(args.precision)
"""


@pytest.mark.parametrize(
    ("given", "refused"), [("allow_mix", "precision_mode"), ("force_fp16", "-"), ("$MODE", "-"), ("", "-")]
)
def test_settings_that_a_passed_option_decides(given: str, refused: str) -> None:
    files = {"train.py": _SETTING, "run.sh": f"python3 train.py --precision={given}\n"}
    assert _passed(files, "feeds", "refused_by") == [("precision", "precision_mode", refused)]
    assert [fact.get("launched") for fact in _found(files, "setting")] == ["yes"]


def test_settings_of_another_script_are_not_decided() -> None:
    files = {"a.py": _SETTING, "b.py": _SETTING, "run.sh": "python3 a.py --precision=allow_mix\n"}
    assert {fact.path: fact.get("launched") for fact in _found(files, "setting")} == {"a.py": "yes", "b.py": "no"}
