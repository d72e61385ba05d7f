"""The recorded spellings, held against the TensorFlow that is installed, if any."""

from __future__ import annotations

import csv
import functools
import importlib
import inspect
import os
import warnings
from pathlib import Path
from typing import Any

import pytest

from npulint.data.names import _names, canonical

pytestmark = pytest.mark.slow

_SOURCES = Path(__file__).resolve().parent.parent / "data-src"


@functools.cache
def tf() -> Any:
    """TensorFlow; only when a test runs, for it takes seconds to import."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip("tensorflow")


@pytest.fixture(scope="module", autouse=True)
def _installed() -> None:
    tf()


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
            one, other = look_up(tf().compat.v1, spelling), look_up(tf().compat.v1, name)
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
        assert not same(look_up(tf().compat.v1, name), look_up(tf().compat.v2, name))


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
    assert same(getattr(importlib.import_module(module), symbol), look_up(tf().compat.v1, public))


def rows(name: str) -> list[dict[str, str]]:
    with (_SOURCES / name).open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def homes(name: str) -> list[Any]:
    """What a name is in the installed release: as ``tf.X`` and as ``tf.compat.v1.X``, if it is there."""
    found = []
    for root in (tf(), tf().compat.v1):
        try:
            found.append(look_up(root, name))
        except AttributeError:
            continue
    return found


def release(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(".")[:2])


def test_recorded_interfaces_are_there_from_their_first_release_to_their_last() -> None:
    here = release(tf().__version__)
    wrong = []
    for row in rows("tf_api.csv"):
        since, removed = release(row["since"] or "1.15"), release(row["removed"] or "999.0")
        if bool(homes(row["name"])) != (since <= here < removed):
            wrong.append(row["name"])
    assert wrong == []


def test_interfaces_of_1_15_are_in_its_list() -> None:
    listed = {row["api"].removeprefix("tf.") for row in rows("tf115_api.csv")}
    old = {row["name"] for row in rows("tf_api.csv") if row["tensorflow"] != "2.6" or row["removed"] == "2.0"}
    assert [name for name in sorted(old) if name not in listed and name.rpartition(".")[0] not in listed] == []


def test_the_arguments_that_decide_stand_where_the_table_says() -> None:
    wrong = []
    for row in rows("tf_api.csv"):
        argument, position, _ = row["when"].split(":") if row["when"] else ("", "", "")
        for thing in homes(row["name"]) if argument else []:
            names = list(inspect.signature(thing).parameters)
            at = names.index(argument) if argument in names else None
            if at is None or position not in (str(at), "-1"):
                wrong.append((row["name"], argument, at))
    assert wrong == []


def test_second_names_of_recorded_interfaces_are_the_same_objects() -> None:
    recorded = {row["name"] for row in rows("tf_api.csv")}
    pairs = [(a, b) for a, b in _names().spellings.items() if b.removeprefix("tensorflow.") in recorded]
    checked = [
        same(*found)
        for a, b in pairs
        if len(
            found := [homes(n.removeprefix("tensorflow."))[-1] for n in (a, b) if homes(n.removeprefix("tensorflow."))]
        )
        == 2
    ]
    assert len(checked) > 8
    assert all(checked)
