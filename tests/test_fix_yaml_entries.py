"""Entries of mappings in YAML files are deleted with their line, or not at all."""

from __future__ import annotations

import pytest

from npulint.facts.model import Span
from npulint.fix.lines import plan
from npulint.fix.model import FixRefused, Text
from npulint.fix.source import edited_text
from npulint.fix.verify import objection
from npulint.judge.findings import FixStep


def without(source: str, value: str) -> str:
    """The text without the entry that has this value."""
    line = next(number for number, one in enumerate(source.split("\n"), 1) if value in one)
    column = source.split("\n")[line - 1].index(value) + 1
    text = Text("a.yaml", "configuration", source)
    edits = plan(FixStep("delete", "a.yaml", Span(line, column, line, column + len(value)), {}), text).edits
    after = edited_text(source, edits)
    assert objection(text, after, edits) == ""
    return after


@pytest.mark.parametrize(
    ("source", "value", "after"),
    [
        ("a:\n  b: 32\n  c: 1\n", "32", "a:\n  c: 1\n"),
        ("a:\n  c: 1\n  b: 32  # iterations\nd: 2\n", "32", "a:\n  c: 1\nd: 2\n"),
        ("a:\n  b: 'x y'\nc: 1\n", "'x y'", "a:\nc: 1\n"),
        ("c: 1\nb: 32", "32", "c: 1"),
    ],
)
def test_the_line_of_the_entry_goes(source: str, value: str, after: str) -> None:
    assert without(source, value) == after


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("a: {b: 32, c: 1}\n", "32"),
        ("a:\n  - b: 32\n    c: 1\n", "32"),
        ("a:\n  b: one\n    two\n  c: 1\n", "one"),
        ("a:\n  b: |\n    text\n", "|"),
        ("b: 32\n", "32"),
    ],
)
def test_what_is_more_than_one_entry_in_one_line_stays(source: str, value: str) -> None:
    with pytest.raises(FixRefused):
        without(source, value)
