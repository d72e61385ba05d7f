"""Tables that scripts write of their training, and the curves that stand for a series."""

from __future__ import annotations

import io
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from npulint.discover.artifacts import form_of_text
from npulint.facts.model import Fact, Problem
from npulint.runs.read import read_artifact
from npulint.runs.read.rows import Seen
from npulint.runs.read.series.numbers import CURVE, Blocks
from npulint.runs.read.series.tables import read
from tests.fact_support import attrs_of


def facts_of(text: str, path: str = "loss.csv") -> tuple[list[Fact], Seen]:
    seen = Seen("series_table")
    return read(io.BytesIO(text.encode()), path, seen), seen


def told(text: str, path: str = "loss.csv") -> dict[str, dict[str, Any]]:
    return {fact.name: attrs_of(fact) for fact in facts_of(text, path)[0]}


@pytest.mark.parametrize(
    ("name", "header"),
    [
        ("metrics.csv", b"step,loss,loss_scale\n1,2,3\n"),
        ("log.csv", b"epoch\ttrain_loss\tval_loss\n"),
        ("loss.csv", b'"Step";"Loss"\n'),
        ("x.csv", b"\xef\xbb\xbfWall time,Step,Value\n"),
        ("m.csv", b"iteration,train/loss,lr\n"),
    ],
)
def test_headers_of_tables_of_scripts(name: str, header: bytes) -> None:
    assert form_of_text(name, header) == "series_table"


@pytest.mark.parametrize(
    ("name", "header"),
    [
        ("data.csv", b"id,label,path\n"),
        ("loss.csv", b"loss\n1\n"),
        ("weights.csv", b"class,weight_of_loss_function,name\n"),
        ("x.csv", b"Wall time,Step,Value,Other\n"),
        ("kernel_details.csv", b"Step Id,Name,Type,Accelerator Core,Start Time(us),Duration(us)\n"),
    ],
)
def test_other_headers_are_not(name: str, header: bytes) -> None:
    assert form_of_text(name, header) != "series_table"


def test_columns_of_a_table() -> None:
    rows = [
        f"{n},{2.5 - n / 50},{n / 60},{1024 if n < 40 else 512},{int(n == 39)},{500 if n % 10 else 40}"
        for n in range(60)
    ]
    header = "step,train_loss,val_acc,loss_scale,found_inf,samples/sec\n"
    facts, seen = facts_of(header + "\n".join(rows) + "\n")
    found = {fact.name: attrs_of(fact) for fact in facts}
    scale, loss, accuracy = found["loss_scale"], found["loss"], found["accuracy"]
    assert (scale["points"], scale["drops"], scale["skipped"]) == (60, 1, 1)
    assert (loss["label"], loss["points"], loss["first"], loss["last"]) == ("train_loss", 60, 2.5, 1.32)
    assert (accuracy["label"], accuracy["maximum"]) == ("val_acc", 0.983333)
    assert (found["periodic"]["period"], found["periodic"]["label"]) == (10, "samples/sec")
    assert (seen.rows, seen.malformed) == (60, 0)


def test_a_part_of_the_loss_that_is_switched_off_and_the_best_so_far_are_not_told() -> None:
    header = "step,box/loss,cls/loss,top1,top5,best_loss\n"
    text = header + "".join(f"{n},{3 - n / 10},0.0,0,0.5,2\n" for n in range(5))
    facts, _ = facts_of(text)
    told = [(fact.name, fact.get("label")) for fact in facts]
    assert told == [("loss", "box/loss"), ("accuracy", "top1"), ("accuracy", "top5")]


def test_what_is_malformed_is_counted_and_left_out() -> None:
    facts, seen = facts_of("step,loss\n0,2.0\n1,oops\n2\n3,1.9\n\n4,\n5,1.8\nstep,loss\n6,nan\n")
    (loss,) = facts
    assert (seen.rows, seen.malformed, seen.first_malformed) == (5, 3, 3)
    assert (loss.get("points"), loss.get("bad"), loss.span.line) == (4, 1, 10)
    assert loss.get("numbers_before") == 3


def test_what_tensorboard_exported_has_its_tag_in_the_name() -> None:
    text = "Wall time,Step,Value\n" + "".join(f"{1.6e9 + n},{n * 100},{2.0 ** (16 - n)}\n" for n in range(17))
    scale = told(text, "logs/run-train-tag-train_loss_scale.csv")["loss_scale"]
    assert (scale["first"], scale["minimum"], scale["drops"]) == (65536, 1, 16)
    assert set(told(text, "run-.-tag-epoch_loss.csv")) == {"loss"}
    assert told(text, "run-.-tag-learning_rate.csv") == {}


def test_through_the_reader(tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_text("step,loss\n0,2\n1,3\n2,2\n", encoding="utf-8")
    facts = read_artifact(str(tmp_path / "m.csv"), "m.csv")
    assert not isinstance(facts, Problem)
    assert [(fact.kind, fact.name) for fact in facts] == [("run_source", "series_table"), ("run_series", "loss")]


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.lists(st.sampled_from(["1", "nan", "-inf", "1e999", '"', "", "x", "\0", "9" * 30]), max_size=5), max_size=30
    )
)
def test_no_row_breaks_it(rows: list[list[str]]) -> None:
    facts, seen = facts_of("step,loss,loss_scale,step_time\n" + "\n".join(",".join(row) for row in rows))
    assert seen.rows + seen.malformed <= len(rows)
    assert all(math.isfinite(one) for fact in facts for one in fact.get("curve") or ())


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(-1000, 1000), min_size=1, max_size=6000))
def test_a_curve_keeps_the_ends(values: list[int]) -> None:
    blocks = Blocks()
    for value in values:
        blocks.put(value)
    curve = blocks.curve()
    assert len(curve) <= CURVE
    assert (min(curve), max(curve)) == (min(values), max(values))
    if len(values) <= CURVE:
        assert curve == values


def test_a_single_outlier_is_seen_in_a_long_curve() -> None:
    blocks = Blocks()
    for number in range(1_000_000):
        blocks.put(99.0 if number == 654_321 else 1.0)
    curve = blocks.curve()
    assert curve.count(99.0) == 1
    assert 0.6 < curve.index(99.0) / len(curve) < 0.7
