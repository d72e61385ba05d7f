"""TensorFlow's graph rewrite against the precision mode and the loss scale of the adapter."""

from __future__ import annotations

import pytest

from tests.compare_support import differences, short_differences

REWRITTEN = """
import tensorflow as tf

loss = tf.reduce_mean(tf.layers.dense(tf.ones([32, 8]), 1))
optimizer = tf.train.AdamOptimizer(0.001)
optimizer = {}
step = optimizer.minimize(loss)
with tf.Session() as session:
    session.run(step)
"""
PORTED = """
import tensorflow as tf
from npu_bridge.npu_init import *

loss = tf.reduce_mean(tf.layers.dense(tf.ones([32, 8]), 1))
optimizer = tf.train.AdamOptimizer(0.001)
{scale}
step = optimizer.minimize(loss)
config = tf.ConfigProto()
custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = "NpuOptimizer"
{mode}
with tf.Session(config=config) as session:
    session.run(step)
"""
CALLS = [
    "tf.train.experimental.enable_mixed_precision_graph_rewrite(optimizer)",
    "tf.train.experimental.enable_mixed_precision_graph_rewrite(optimizer, loss_scale='dynamic')",
    "tf.compat.v1.train.experimental.enable_mixed_precision_graph_rewrite(optimizer)",
    "tf.compat.v1.mixed_precision.enable_mixed_precision_graph_rewrite(optimizer)",
    "tf.mixed_precision.enable_mixed_precision_graph_rewrite(opt=optimizer)",
]
FIXED = "tf.train.experimental.enable_mixed_precision_graph_rewrite(optimizer, loss_scale={})"
DYNAMIC = (
    "optimizer = NPULossScaleOptimizer(optimizer, ExponentialUpdateLossScaleManager("
    "init_loss_scale={}, incr_every_n_steps=2000, decr_every_n_nan_or_inf=1, decr_ratio=0.5))"
)
STATIC = "optimizer = NPULossScaleOptimizer(optimizer, FixedLossScaleManager(loss_scale={}))"


def mode(value: str, name: str = "precision_mode") -> str:
    return f'custom_op.parameter_map["{name}"].s = tf.compat.as_bytes("{value}")'


def told(call: str, scale: str, setting: str = mode("allow_mix_precision")) -> set[tuple[str, str, bool]]:
    """Part, change, and whether the adapter needs it."""
    found = differences(REWRITTEN.format(call), PORTED.format(scale=scale, mode=setting))
    return {(one.part, one.change, one.adapter) for one in found if one.part in PARTS and one.change != "none"}


PARTS = ("autocast", "precision_mode", "loss_scale")
CAST = ("autocast", "changed", True)


@pytest.mark.parametrize("call", CALLS)
def test_a_correct_port_needs_only_the_mode_of_the_adapter(call: str) -> None:
    assert told(call, DYNAMIC.format("2**15")) == {CAST}
    assert told(call, DYNAMIC.format("2**15"), mode("mixed_float16", "precision_mode_v2")) == {CAST}


@pytest.mark.parametrize("call", [*CALLS, FIXED.format(128)])
def test_a_lost_loss_scale_is_told(call: str) -> None:
    assert told(call, "") == {CAST, ("loss_scale", "removed", False)}
    assert ("loss_scale", "removed", False) in told(call, "", "")


@pytest.mark.parametrize("value", ["allow_mix_precision_bf16", "must_keep_origin_dtype", "force_fp32"])
def test_no_loss_scale_is_missed_where_no_gradient_is_float16(value: str) -> None:
    assert told(CALLS[0], "", mode(value)) == {("autocast", "changed", False)}


@pytest.mark.parametrize(
    ("call", "scale", "expected"),
    [
        (CALLS[0], DYNAMIC.format("2**32"), {("loss_scale", "changed", True)}),
        (CALLS[0], STATIC.format(1024), {("loss_scale", "changed", False)}),
        (FIXED.format(1024), STATIC.format(1024), set()),
        (FIXED.format(1024), STATIC.format("2.0**10"), set()),
        (FIXED.format(128), STATIC.format(1024), {("loss_scale", "changed", False)}),
        (FIXED.format(128), DYNAMIC.format("2**15"), {("loss_scale", "changed", False)}),
    ],
)
def test_both_scales_are_compared(call: str, scale: str, expected: set[tuple[str, str, bool]]) -> None:
    assert told(call, scale) == {CAST, *expected}


def test_values_are_shown() -> None:
    found = short_differences(REWRITTEN.format(CALLS[0]), PORTED.format(scale=STATIC.format(1024), mode=mode("x")))
    assert ("loss_scale", "changed", "loss_scale", "dynamic, 32768.0", "static, 1024.0") in found


def test_without_a_mode_mixed_precision_is_missing() -> None:
    assert ("autocast", "removed", False) in told(CALLS[0], DYNAMIC.format("2**15"), "")


def test_a_port_that_rewrites_as_well_is_told_as_before() -> None:
    assert told(CALLS[0], f"optimizer = {CALLS[0]}", "") == set()


def test_a_reference_without_mixed_precision_is_told_as_before() -> None:
    found = told("optimizer", DYNAMIC.format("2**15"))
    assert {one[:2] for one in found} == {("precision_mode", "added"), ("loss_scale", "added")}
