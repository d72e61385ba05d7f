"""Casts to float16 within metrics: nothing is trained by them."""

from __future__ import annotations

import pytest

from npulint.commands.examples import check_sources
from npulint.judge.catalogue.load import load_catalogue
from tests.compare_support import short_differences

PROGRAM = """
import tensorflow as tf

x = tf.placeholder(tf.float32, [32, 10])
y = tf.placeholder(tf.int64, [32])
logits = tf.layers.dense(x, 4)
loss = tf.losses.sparse_softmax_cross_entropy(y, logits)
{}
step = tf.train.AdamOptimizer(0.001).minimize(loss)
with tf.Session() as session:
    session.run({}, {{x: batch(), y: labels()}})
"""
HITS = "hits = tf.equal(tf.argmax(logits, 1), y)\n"
METRICS = {
    "accuracy": (HITS + "acc = tf.reduce_mean(tf.cast(hits, tf.float16))", "[step, acc]"),
    "accuracy in two steps": (HITS + "c = tf.cast(hits, tf.half)\nacc = tf.reduce_mean(c)", "[step, acc]"),
    "in a function": (
        "def accuracy(a, b):\n    return tf.reduce_mean(tf.cast(tf.equal(tf.argmax(a, 1), b), tf.float16))\n"
        "acc = accuracy(logits, y)",
        "[step, acc]",
    ),
    "in top k": (
        "acc = tf.reduce_mean(tf.cast(tf.nn.in_top_k(logits, y, 5), dtype='float16'))\ntf.summary.scalar('acc', acc)",
        "step",
    ),
    "a summary": ("s = tf.reduce_sum(tf.cast(logits, tf.float16))\ntf.summary.scalar('s', s)", "step"),
    "a metric": ("m = tf.metrics.mean(tf.reduce_mean(tf.cast(logits, tf.float16)))", "[step, m]"),
    "a comparison by an operator": (
        "acc = tf.reduce_mean(tf.cast(tf.argmax(logits, 1) == y, tf.float16))",
        "[step, acc]",
    ),
}
TRAINED = {
    "a loss": ("loss = loss + tf.reduce_sum(tf.cast(tf.square(logits), tf.float16))", "step"),
    "a loss that a summary shows": (
        "loss = loss + tf.reduce_mean(tf.cast(logits, tf.float16))\ntf.summary.scalar('loss', loss)",
        "step",
    ),
    "a count of hits that weighs the loss": (
        HITS + "loss = loss * tf.cast(tf.reduce_mean(tf.cast(hits, tf.float16)), tf.float32)",
        "step",
    ),
    "an output": ("out = tf.reduce_mean(tf.cast(logits, tf.float16))", "[step, out]"),
    "a value of unknown use": ("library.keep(tf.reduce_mean(tf.cast(logits, tf.float16)))", "step"),
}


def summed(code: str, fetched: str) -> bool:
    findings = check_sources({"train.py": PROGRAM.format(code, fetched)}, {}, load_catalogue()).findings
    return "NPU1312" in {one.code for one in findings}


@pytest.mark.parametrize(("code", "fetched"), METRICS.values(), ids=METRICS.keys())
def test_sums_of_metrics_are_not_reported(code: str, fetched: str) -> None:
    assert not summed(code, fetched)


@pytest.mark.parametrize(("code", "fetched"), TRAINED.values(), ids=TRAINED.keys())
def test_other_sums_are_reported(code: str, fetched: str) -> None:
    assert summed(code, fetched)


def casts(code: str, fetched: str) -> set[str]:
    """The parts that differ from the same program in float32, and from that without the cast."""
    half = PROGRAM.format(code, fetched)
    whole = half
    for name in ("tf.float16", "tf.half", "'float16'"):
        whole = whole.replace(name, "tf.float32")
    return {one[0] for one in short_differences(whole, half)}


@pytest.mark.parametrize(("code", "fetched"), METRICS.values(), ids=METRICS.keys())
def test_another_type_in_a_metric_is_no_difference(code: str, fetched: str) -> None:
    assert casts(code, fetched) == set()


@pytest.mark.parametrize("name", ["a loss", "a loss that a summary shows", "a count of hits that weighs the loss"])
def test_another_type_in_a_loss_is_a_difference(name: str) -> None:
    assert "half_cast" in casts(*TRAINED[name])


def test_a_new_cast_in_a_metric_is_no_difference() -> None:
    with_cast = PROGRAM.format("m = tf.metrics.mean(tf.cast(logits, tf.float16))", "[step, m]")
    without = PROGRAM.format("m = tf.metrics.mean(logits)", "[step, m]")
    assert "half_cast" not in {one[0] for one in short_differences(without, with_cast)}
    loss = PROGRAM.format("loss = loss + tf.nn.l2_loss(tf.cast(logits, tf.float16))", "step")
    assert "half_cast" in {
        one[0] for one in short_differences(loss.replace("tf.cast(logits, tf.float16)", "logits"), loss)
    }
