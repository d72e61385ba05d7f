"""Figures in the sentences of findings."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npulint.facts.model import Span
from npulint.judge.catalogue.forms import number, problem, time, times
from npulint.judge.evaluate.captures import fill
from tests.fact_support import TableFact

SIZES = {"µs": 1.0, "ms": 1e3, "s": 1e6, "min": 6e7, "h": 3.6e9}


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0, "0 µs"),
        (0.25, "0.25 µs"),
        (5.261, "5.26 µs"),
        (812.5, "812 µs"),
        (999.96, "1 ms"),
        (1500, "1.5 ms"),
        (9_400.0, "9.4 ms"),
        (136_612, "137 ms"),
        (22_400_000, "22.4 s"),
        (119_600_000, "1.99 min"),
        (2_663_000_000, "44.4 min"),
        (7_200_000_000, "2 h"),
        (7_200_000_000_000, "2,000 h"),
    ],
)
def test_times_have_the_unit_that_suits_them(value: float, shown: str) -> None:
    assert time(value) == shown


@given(st.floats(min_value=1, max_value=1e13))
def test_a_time_keeps_three_digits(value: float) -> None:
    shown, unit = time(value).split(" ")
    back = float(shown.replace(",", "")) * SIZES[unit]
    assert abs(back - value) <= 0.0051 * value
    assert unit in ("h", "s", "min") or len(re.sub(r"[.]", "", shown)) <= 3


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0, "0"),
        (7, "7"),
        (14199, "14,199"),
        (12.0, "12"),
        (0.25, "0.25"),
        (99.96, "100"),
        (16.04, "16"),
        (-3.5, "-3.5"),
    ],
)
def test_whole_numbers_keep_all_digits(value: float, shown: str) -> None:
    assert number(value) == shown


def test_sentences_are_filled_by_unit() -> None:
    attrs = {"total_us": 22_400_000.0, "median_ms": 1500, "lost_seconds": 90, "count": 14199, "wide": ["BOOL", "INT64"]}
    fact = TableFact("run_op", "PyFunc", "k.csv", Span(2, 1, 2, 1), {**attrs, "max_us": None, "mean_us": "N/A"})
    text = "{name}: {total_us:time}, {median_ms:time}, {lost_seconds:time}, {count:number} of {count}, {wide}"
    assert fill(text, fact) == "PyFunc: 22.4 s, 1.5 s, 90 s, 14,199 of 14199, BOOL, INT64"
    assert fill("{max_us:time} {mean_us:time} {wait_us:time}", fact) == "? N/A ?"
    assert fill("{count:number}", fact, {"count": "3"}) == "3"


def test_what_cannot_be_shown_is_told() -> None:
    assert (
        problem("total", "times")
        == problem("total_us", "time")
        == problem("share", "number")
        == problem("share", "")
        == ""
    )
    assert "no unit" in problem("share", "time")
    assert "no form" in problem("share", "percent")


@pytest.mark.parametrize(("value", "shown"), [(1, ""), (2, " ×2"), (14199, " ×14,199"), (0, " ×0")])
def test_what_was_seen_once_needs_no_number(value: float, shown: str) -> None:
    assert times(value) == shown


@pytest.mark.parametrize(("count", "shown"), [("1", "1 place in 1 file"), ("12", "12 places in 3 files")])
def test_counted_nouns_agree_with_their_number(count: str, shown: str) -> None:
    fact = TableFact("call", "x", "a.py", Span(1, 1, 1, 1))
    assert (
        fill("{count:places} in {files:files}", fact, {"count": count, "files": "1" if count == "1" else "3"}) == shown
    )
    assert fill("{count:nodes}", TableFact("op", "x", "a.pb", Span(1, 1, 1, 1), {"count": 1})) == "1 node"
