"""Interfaces that the adapter does not support: by which spelling and arguments they are known; aliases."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from npulint.commands.build import assemble
from npulint.data.names import canonical
from npulint.data.tf_api import find
from npulint.facts.model import Fact, FileFacts
from npulint.judge.catalogue.check import Query
from npulint.judge.catalogue.load import load_catalogue
from npulint.judge.evaluate.checks import evaluate
from npulint.read.python import read_python
from tests.support import facts

_SOURCES = Path(__file__).resolve().parent.parent / "data-src"
_LIST = os.environ.get("NPULINT_API_LIST", "")  # a support list (api, alias_of), to hold its aliases against us


def _rows(name: str) -> list[dict[str, str]]:
    with (_SOURCES / name).open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


_TABLE = _rows("tf_api.csv")

# What a call is taken for: its canonical name below tensorflow, support, reason.
_CALLS = [
    ("tf.matmul(a, b, a_is_sparse=True)", "matmul no operator"),
    ("tf.matmul(a, b, False, False, False, False, False, True)", "matmul no operator"),
    ("tf.linalg.matmul(a, b, b_is_sparse=True)", "matmul no operator"),
    ("sparse = True; tf.compat.v1.matmul(a, b, a_is_sparse=sparse)", "matmul no operator"),
    ("from tensorflow.python.ops import math_ops; math_ops.matmul(a, b, a_is_sparse=True)", "matmul no operator"),
    ("tf.sequence_mask(a)", "sequence_mask static_shape shape"),
    ("tf.sequence_mask(a, None, tf.float32)", "sequence_mask static_shape shape"),
    ("tf.compat.v2.sequence_mask(a)", "sequence_mask static_shape shape"),
    ("n = tf.reduce_max(a); tf.sequence_mask(a, n + 1)", "sequence_mask static_shape shape"),
    ("tf.math.unsorted_segment_sum(a, b, tf.math.reduce_max(b) + 1)", "unsorted_segment_sum static_shape shape"),
    ("tf.range(tf.reduce_max(a))", "range static_shape shape"),
    ("tf.math.segment_max(a, b)", "segment_max static_shape shape"),
    ("tf.manip.roll(a, 1, 0)", "roll newer operator"),
    ("tf.pad(a, b, constant_values=-1)", "pad newer operator"),
    ("tf.raw_ops.MatrixLogarithm(input=a)", "raw_ops.MatrixLogarithm no raw"),
    ("tf.raw_ops.Roll(input=a, shift=1, axis=0)", "raw_ops.Roll newer raw"),
    (
        "from tensorflow.python.ops import gen_rnn_ops as g; g.lstm_block_cell(a)",
        "python.ops.gen_rnn_ops.lstm_block_cell no raw",
    ),
    ("tf.config.experimental.get_memory_info('GPU:0')", "config.experimental.get_memory_info no gpu"),
    ("tf.enable_eager_execution()", "enable_eager_execution no eager"),
    ("from tensorflow.python.compat import v2_compat as c; c.enable_v2_behavior()", "enable_v2_behavior no eager"),
    ("from tensorflow.contrib import tpu; tpu.CrossShardOptimizer(a)", "contrib.tpu.CrossShardOptimizer no tpu"),
    ("from tensorflow.contrib.learn.python.learn import experiment; experiment.Experiment(a)",
     "contrib.learn.Experiment deprecated old_estimator"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "expected"), _CALLS, ids=[c for c, _ in _CALLS])
def test_a_call_is_known_by_any_spelling_and_by_its_arguments(call: str, expected: str) -> None:
    found = facts(f"import tensorflow as tf\n{call}\n", "tf_api")
    assert [f"{f.name.removeprefix('tensorflow.')} {f.get('support')} {f.get('reason')}" for f in found] == [expected]


@pytest.mark.parametrize(
    "call",
    [
        "tf.matmul(a, b)",
        "tf.matmul(a, b, a_is_sparse=flag)",
        "tf.matmul(a, b, a_is_sparse=False)",
        "tf.sequence_mask(a, 8)",
        "tf.sequence_mask(a, maxlen=tf.shape(b)[1])",
        "tf.sequence_mask(*a)",
        "tf.sequence_mask(a, **options)",
        "tf.unsorted_segment_sum(a, b, tf.shape(c)[0])",
        "tf.range(n)",
        "tf.pad(a, b)",
        "tf.pad(a, b, 'REFLECT')",
        "tf.pad(a, b, constant_values=0.0)",
        "tf.TensorArray(tf.float32, 8, False)",
        "tf.raw_ops.MatMul(a=a, b=b)",
        "tf.config.experimental.get_memory_info(device)",
        "tf.config.experimental.get_memory_info('CPU:0')",
        "tf.executing_eagerly()",
        "tf.placeholder(tf.float32, [1])",
        "tf.contrib.learn.ModeKeys()",
        "np.roll(a, 1)",
        "eager.enable_eager_execution()",
    ],
)
def test_ordinary_calls_are_none(call: str) -> None:
    assert facts(f"import tensorflow as tf\nimport numpy as np\n{call}\n", "tf_api") == []


def test_a_name_of_the_release_itself_is_told_from_one_of_compat() -> None:
    sources = {
        "plain.py": "import tensorflow as tf\ntf.enable_v2_behavior()\n",
        "compat.py": "import tensorflow as tf\ntf.compat.v1.enable_v2_behavior()\n",
        "module.py": "import tensorflow.compat.v2 as tf\ntf.enable_v2_behavior()\n",
        "member.py": "from tensorflow.compat.v1 import enable_v2_behavior\nenable_v2_behavior()\n",
    }
    found = {f.path: f.get("plain") for f in facts(sources, "tf_api")}
    assert found == {"plain.py": "yes", "compat.py": "no", "module.py": "no", "member.py": "no"}


@pytest.mark.parametrize(
    ("code", "guarded", "used"),
    [
        ("tf.tpu.rewrite(step)", "no", "yes"),
        ("try:\n    tf.tpu.rewrite(step)\nexcept ValueError:\n    pass", "yes", "yes"),
        ("try:\n    tf.tpu.rewrite(step)\nfinally:\n    pass", "no", "yes"),
        ("run = tf.tpu.rewrite(step) if fast else step()", "yes", "yes"),
        ("run = wrap(tf.tpu.rewrite(step)) if fast else step()", "yes", "yes"),
        ("run = (tf.tpu.rewrite(step), a if fast else b)", "no", "yes"),
        ("if FLAGS.use_tpu:\n    tf.tpu.rewrite(step)", "yes", "yes"),
        ("if FLAGS.output:\n    tf.tpu.rewrite(step)", "no", "yes"),
        ("def start(use_tpu):\n    tf.tpu.rewrite(step)\nstart(True)", "yes", "yes"),
        ("def on_tpu():\n    tf.tpu.rewrite(step)", "yes", "no"),
        ("def start():\n    if not FLAGS.use_tpu:\n        return\n    tf.tpu.rewrite(step)\nstart()", "yes", "yes"),
        ("def start():\n    tf.tpu.rewrite(step)\nif FLAGS.tpu:\n    start()", "yes", "yes"),
        ("def start():\n    tf.tpu.rewrite(step)\nstart()", "no", "yes"),
        ("def start():\n    tf.tpu.rewrite(step)", "no", "no"),
        ("@tf_export('start')\ndef start():\n    tf.tpu.rewrite(step)", "no", "no"),
        ("@tf.function\ndef start():\n    tf.tpu.rewrite(step)", "no", "yes"),
        ("class Step:\n    def start(self):\n        tf.tpu.rewrite(step)\nStep().start()", "no", "yes"),
        ("class Step:\n    def start(self):\n        tf.tpu.rewrite(step)", "no", "no"),
    ],
)
def test_a_call_says_whether_it_may_be_left_out(code: str, guarded: str, used: str) -> None:
    found = facts(f"import tensorflow as tf\n{code}\n", "tf_api")
    assert [(f.get("guarded"), f.get("used")) for f in found] == [(guarded, used)]


def test_every_recorded_name_is_canonical_and_found() -> None:
    names = [f"tensorflow.{row['name']}" for row in _TABLE]
    assert [name for name in names if canonical(name) != name or not find(name)] == []


def test_every_record_has_the_substitute_that_its_text_names() -> None:
    told = {"eager", "gpu", "towers", "old_estimator", "operator", "shape", "device", "determinism", "profiler"}
    assert {row["reason"] for row in _TABLE} == told | {"tpu"}
    assert [row["name"] for row in _TABLE if row["reason"] in told and not row["instead"]] == []
    assert [row["name"] for row in _TABLE if (row["reason"] == "operator") != bool(row["ops"])] == []


def test_no_call_is_told_by_this_table_and_by_that_of_host_operators() -> None:
    there = {(row["api"], row["when"].partition(":")[0]) for row in _rows("tf_host_ops.csv")}
    here = {(f"tensorflow.{row['name']}", row["when"].partition(":")[0]) for row in _TABLE}
    bare = {name for name, argument in there | here if not argument}
    assert here & there == set()
    assert {name for name, _ in here} & {name for name, _ in there} & bare == set()


def test_no_call_is_told_by_this_table_and_by_another_check() -> None:
    kinds = ("call", "mention", "distribution")
    told = {name for check in load_catalogue().checks for name in _asked(check.find, kinds)}
    assert {f"tensorflow.{row['name']}" for row in _TABLE} & told == set()


def _asked(query: Query | None, kinds: tuple[str, ...]) -> Iterator[str]:
    """The names that a question and its parts look for."""
    if query is not None:
        yield from query.names if query.kind in kinds else ()
        for part in (*query.all, *query.any):
            yield from _asked(part, kinds)


def _aliases() -> Iterator[tuple[str, str]]:
    """Spellings below tf.compat, each with the public name that it stands for."""
    for row in _rows("tf115_api.csv"):
        member = row["api"].removeprefix("tf.")
        if not member.startswith(("contrib.", "compat.")):
            yield f"tf.compat.v1.{member}", row["api"]
            yield f"tf.compat.v2.{member}", row["api"]
    if _LIST:
        with open(_LIST, encoding="utf-8", newline="") as stream:
            yield from ((r["api"], r["alias_of"]) for r in csv.DictReader(stream) if r["alias_of"])


def _files(names: list[str]) -> list[FileFacts]:
    """A training program that calls each name on a line of its own."""
    head = "import tensorflow as tf\nfrom npu_bridge.npu_init import *\n\n"
    tail = "\ntf.train.AdamOptimizer(1e-3).minimize(loss)\n"
    code, problems = read_python(head + "".join(f"x = {name}(y)\n" for name in names) + tail, "train.py")
    assert not problems
    return [FileFacts("train.py", "python", code)]


def _told(fact: Fact) -> tuple[Any, ...]:
    """A fact without what only tells the spelling."""
    attrs = {name: fact.get(name) for name in fact.attribute_names() if name not in ("plain", "written")}
    return fact.span.line, fact.kind, fact.name.replace(".compat.v2", ""), repr(sorted(attrs.items()))


_PAIRS = sorted(set(_aliases()))
_PART = 400
_PARTS = [_PAIRS[at : at + _PART] for at in range(0, len(_PAIRS), _PART)]
_KINDS = (
    "tf_api",
    "host_op",
    "session",
    "estimator",
    "optimizer",
    "control_flow",
    "dynamic_shape",
    "dropout",
    "device",
)


@pytest.mark.parametrize("pairs", _PARTS, ids=[part[0][0] for part in _PARTS])
def test_an_alias_is_never_worse_than_the_name_that_it_stands_for(pairs: list[tuple[str, str]]) -> None:
    catalogue = load_catalogue()
    told, codes = [], []
    for names in zip(*pairs, strict=True):
        programs = assemble("", _files(list(names)), "")
        told.append({_told(f) for p in programs for kind in _KINDS for f in p.index.of_kind(kind)})
        codes.append({f.code for p in programs for f in evaluate(catalogue, p, {}, "en").findings})
    assert told[0] - told[1] == set()
    assert codes[0] - codes[1] == set()


def test_there_are_aliases_to_hold_against_their_names() -> None:
    assert len(_PAIRS) > 4000
