"""Lines that two fixes would insert, or that a file has already, are inserted once."""

from __future__ import annotations

import pytest

from npulint.commands.check.fix_command import fix_texts
from npulint.judge.catalogue.load import load_catalogue
from tests.fix_support import stepped

_FLOW = "import tensorflow as tf\nfrom npu_bridge.npu_init import *\n\n"
_REST = """
x = tf.placeholder(tf.float32, [None, None, 10])
_, y = tf.while_loop(lambda i, x: i < 10, lambda i, x: (i + 1, x * 2), [0, x])
train_op = tf.train.AdamOptimizer(1e-3).minimize(tf.reduce_mean(y))
with tf.Session(config=npu_config_proto()) as sess:
    sess.run(train_op)
"""
_MAIN = """
def build():
    x = tf.placeholder(tf.float32, [None, None, 10])
    _, y = tf.while_loop(lambda i, x: i < 10, lambda i, x: (i + 1, x * 2), [0, x])
    return tf.train.AdamOptimizer(1e-3).minimize(tf.reduce_mean(y))


def main():
    {switch}
    train_op = build()
    with tf.Session(config=npu_config_proto()) as sess:
        sess.run(train_op)


main()
"""
_ONE, _OTHER = "tf.enable_control_flow_v2()", "tf.enable_resource_variables()"
_CHECKS = ("NPU1120", "NPU1121", "NPU11A0")


@pytest.mark.parametrize("launcher", ["", "export ENABLE_RUNTIME_V2=1\npython3 a.py\n"])
@pytest.mark.parametrize(
    "program",
    [
        _FLOW + _REST,
        _FLOW + _ONE + "\n" + _REST,
        _FLOW + _OTHER + "\n" + _REST,
        _FLOW + _MAIN.format(switch=_ONE),
        _FLOW + _MAIN.format(switch=_OTHER),
        _FLOW.replace("tensorflow as", "tensorflow.compat.v1 as") + _ONE + "\n" + _REST,
    ],
)
def test_both_switches_of_control_flow_are_set_once(program: str, launcher: str) -> None:
    files = {"a.py": program} | ({"run.sh": launcher} if launcher else {})
    fixes = fix_texts(files, {}, load_catalogue(), _CHECKS)
    (changed,) = fixes.files
    after = changed.after.decode()
    assert (after.count(_ONE), after.count(_OTHER)) == (1, 1)
    assert not fixes.refused and not fixes.result.findings


TEXT = {"where": "imports", "text": "a.f()\na.g(1)"}
INSERTED = {
    "none is there": ("import a\n«x»()\n", "import a\n\na.f()\na.g(1)\nx()\n"),
    "one is there": ("import a\na.f()\n«x»()\n", "import a\n\na.g(1)\na.f()\nx()\n"),
    "one is in a function": (
        "import a\n\ndef m():\n    a.g(1)\n    «x»()\n",
        "import a\n\na.f()\n\ndef m():\n    a.g(1)\n    x()\n",
    ),
    "both are there": ("import a\na.f()\na.g( 1 )\n«x»()\n", "refused: nothing"),
    "one is there under a condition": (
        "import a\nif c:\n    a.f()\n«x»()\n",
        "import a\n\na.f()\na.g(1)\nif c:\n    a.f()\nx()\n",
    ),
    "one is there with another argument": ("import a\na.g(2)\n«x»()\n", "import a\n\na.f()\na.g(1)\na.g(2)\nx()\n"),
    "its result is used": ("import a\ny = a.f()\n«x»()\n", "import a\n\na.f()\na.g(1)\ny = a.f()\nx()\n"),
}


@pytest.mark.parametrize(("source", "result"), INSERTED.values(), ids=INSERTED.keys())
def test_calls_that_are_made_already(source: str, result: str) -> None:
    assert stepped(source, "insert", TEXT).replace("\n\n", "\n") == result.replace("\n\n", "\n")
