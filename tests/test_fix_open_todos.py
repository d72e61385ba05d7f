"""After fixes the report still names what it asked for before and no fix solved."""

from __future__ import annotations

import pytest

from npulint.commands.check.fix_command import fix_texts
from npulint.facts.model import Span
from npulint.fix.open_todos import kept_open
from npulint.judge.catalogue.load import load_catalogue
from npulint.judge.findings import Finding, Fix
from npulint.judge.fix_results import Fixed

_MODEL = """import tensorflow as tf

x = tf.placeholder(tf.float32, [32, 10])
loss = tf.reduce_mean(tf.square(tf.layers.dense(x, 1)))
"""
_STEP = "train_op = tf.train.AdamOptimizer(1e-3).minimize(loss)\n"
_TWO_STEPS = _STEP + "other_op = tf.train.AdamOptimizer(1e-4).minimize(loss)\n"
_SESSION = """with tf.Session() as sess:
    for step in range(1000):
        sess.run(train_op, {x: batch()})
"""
_ESTIMATOR = """

def model_fn(features, labels, mode):
    loss = tf.reduce_mean(tf.square(tf.layers.dense(features, 1)))
    train_op = tf.train.AdamOptimizer(1e-3).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


tf.estimator.Estimator(model_fn, config=tf.estimator.RunConfig()).train(input_fn)
"""


def _left(program: str) -> set[str]:
    """The topics of mixed precision that findings are about after fixes."""
    fixes = fix_texts({"a.py": program}, {}, load_catalogue(), None)
    assert fixes.fixed
    return {"mixed_precision", "loss_scale"} & {one.topic for one in fixes.result.findings}


def test_a_migrated_program_still_lacks_what_it_lacked_before() -> None:
    assert _left(_MODEL + _TWO_STEPS + _SESSION) == {"mixed_precision", "loss_scale"}


@pytest.mark.parametrize("program", [_MODEL + _STEP + _SESSION, _MODEL + _ESTIMATOR], ids=["session", "estimator"])
def test_one_optimizer_gets_a_loss_scale_and_a_precision_mode(program: str) -> None:
    assert _left(program) == set()


def test_a_program_with_a_precision_mode_lacks_nothing() -> None:
    config = """config = tf.ConfigProto()
custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = "NpuOptimizer"
custom_op.parameter_map["precision_mode"].s = tf.compat.as_bytes("allow_mix_precision")
"""
    program = _MODEL + _STEP + config + _SESSION.replace("tf.Session()", "tf.Session(config=config)")
    assert _left(program) == set()


def finding(code: str, severity: str, topic: str = "loss_scale", program: str = "a.py", path: str = "a.py") -> Finding:
    return Finding(code, code, topic, "precision", severity, "high", path, Span(), "", "", Fix(""), program=program)


def fixed(code: str, path: str = "a.py") -> Fixed:
    return Fixed(code, code, path, 1, "unsafe")


@pytest.mark.parametrize(
    ("first", "last", "made", "severities"),
    [
        ([finding("A", "error")], [finding("B", "note")], [], ["error"]),
        ([finding("A", "error")], [finding("B", "note")], [fixed("C")], ["error"]),
        ([finding("A", "error")], [finding("B", "note")], [fixed("A")], ["note"]),  # what a fix solved
        ([finding("A", "error")], [finding("A", "error"), finding("B", "note")], [], ["error", "note"]),
        ([finding("A", "error"), finding("B", "note")], [finding("B", "note")], [], ["note"]),  # there before
        ([finding("A", "note")], [finding("B", "error")], [], ["error"]),
        ([finding("A", "error")], [finding("B", "note", topic="setting")], [], ["note"]),
        ([finding("A", "error")], [finding("B", "note", program="b.py", path="b.py")], [], ["note"]),
        ([finding("A", "error", path="c.py")], [finding("B", "note")], [], ["error"]),  # of the same program
        ([finding("A", "error", program="")], [finding("B", "note", program="")], [], ["error"]),
    ],
)
def test_which_findings_keep_the_weight_of_others(
    first: list[Finding], last: list[Finding], made: list[Fixed], severities: list[str]
) -> None:
    assert [one.severity for one in kept_open(first, last, made)] == severities
