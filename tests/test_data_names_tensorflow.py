"""The recorded spellings, held against the TensorFlow that is installed, if any."""

from __future__ import annotations

import importlib
import os
import warnings
from typing import Any

import pytest

from npulint.data.names import _names, canonical

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    tf = pytest.importorskip("tensorflow")


def look_up(root: Any, dotted: str) -> Any:
    for part in dotted.split("."):
        root = getattr(root, part)
    return root


def bare(thing: Any) -> Any:
    """A function without the wrappers that each spelling adds."""
    tf_decorator = importlib.import_module("tensorflow.python.util.tf_decorator")
    return tf_decorator.unwrap(thing)[1] if callable(thing) and not isinstance(thing, type) else thing


def same(one: Any, other: Any) -> bool:
    one, other = bare(one), bare(other)
    code = getattr(one, "__code__", None)
    return one is other or one == other or (code is not None and code is getattr(other, "__code__", None))


def test_folded_spellings_are_the_same_object() -> None:
    folded = [
        (a.removeprefix("tensorflow."), b.removeprefix("tensorflow."))
        for a, b in _names().spellings.items()
        if not b.startswith("tensorflow.keras.")
    ]
    checked, different = 0, []
    for spelling, name in folded:
        try:
            one, other = look_up(tf.compat.v1, spelling), look_up(tf.compat.v1, name)
        except AttributeError:
            continue  # gone from this release
        checked += 1
        if not same(one, other):
            different.append((spelling, name))
    assert checked > 300
    assert different == []


def test_2x_names_that_stay_apart_are_different_objects() -> None:
    for name in ("nn.dropout", "nn.in_top_k", "space_to_batch", "saved_model.load", "random.poisson"):
        assert canonical(f"tensorflow.compat.v2.{name}") == f"tensorflow.compat.v2.{name}"
        assert not same(look_up(tf.compat.v1, name), look_up(tf.compat.v2, name))


@pytest.mark.parametrize(
    "private",
    [
        "tensorflow.python.ops.nn_ops.dropout",
        "tensorflow.python.ops.nn_ops.top_k",
        "tensorflow.python.ops.array_ops.where",
        "tensorflow.python.ops.math_ops.reduce_sum_v1",
        "tensorflow.python.ops.script_ops.py_func",
        "tensorflow.python.client.session.Session",
        "tensorflow.python.training.adam.AdamOptimizer",
        "tensorflow.python.training.supervisor.Supervisor",
        "tensorflow.core.protobuf.config_pb2.ConfigProto",
    ],
)
def test_private_names_are_their_public_objects(private: str) -> None:
    module, _, symbol = private.rpartition(".")
    public = canonical(private).removeprefix("tensorflow.")
    assert same(getattr(importlib.import_module(module), symbol), look_up(tf.compat.v1, public))
