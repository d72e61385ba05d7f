"""Edits as lines that go and come, and how the text report shows them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from npulint.facts.model import Span
from npulint.fix.source import edited_text
from npulint.judge.findings import Edit, Fix, RunResult, Summary
from npulint.report.changed import blocks
from npulint.report.view import ReportView, render
from tests.surface_support import finding

TEXTS = st.text(alphabet="ab \n权", max_size=30)


@st.composite
def edited(draw: st.DrawFn) -> tuple[str, list[Edit]]:
    """A text with edits that do not overlap."""
    text = draw(TEXTS)
    cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=6)))
    edits = []
    for start, end in zip(cuts[::2], cuts[1::2], strict=False):
        edits.append(Edit("a.py", Span(*place(text, start), *place(text, end)), draw(TEXTS)))
    spans = [edit.span for edit in edits]
    return text, [edit for edit in edits if spans.count(edit.span) == 1]


def place(text: str, offset: int) -> tuple[int, int]:
    line = text.count("\n", 0, offset)
    return line + 1, offset - (text.rfind("\n", 0, offset) + 1) + 1


@given(edited())
def test_lines_out_and_in_make_the_edited_text(case: tuple[str, list[Edit]]) -> None:
    text, edits = case
    lines = text.split("\n")
    found = blocks(edits, lambda path: lines)
    for block in reversed(found):
        assert lines[block.line - 1 : block.line - 1 + len(block.old)] == list(block.old)
        assert not block.old or not block.new or block.old[0] != block.new[0]
        lines[block.line - 1 : block.line - 1 + len(block.old)] = block.new
    assert "\n".join(lines) == edited_text(text, edits)


def shown(edits: Sequence[Edit], source: Sequence[str], **view: Any) -> str:
    one = finding(path="a.py", span=Span(1, 1, 1, 2), fix=Fix("Do it.", "safe", tuple(edits)))
    wanted = ReportView(fixes=True, lines=lambda path: source, **view)
    return render("text", RunResult([one], summary=Summary(1, 1)), wanted)


def test_a_change_elsewhere_names_the_place() -> None:
    report = shown([Edit("b.py", Span(2, 1, 2, 2), "z")], ["x", "y"])
    assert "   = change:\n   ::: b.py\n 2 | - y\n   | + z\n" in report


def test_a_change_that_does_not_fit_the_file_is_left_out() -> None:
    assert "= change:" not in shown([Edit("a.py", Span(7, 1, 7, 2), "z")], ["x", "y"])
    assert "= change:" not in shown([Edit("n.ipynb", Span(1, 1, 1, 2), "z")], ["x", "y"])


def test_long_changes_and_lines_are_cut() -> None:
    tall = shown([Edit("a.py", Span(1, 1, 1, 2), "z\n" * 50)], ["x"])
    assert tall.count("   | + z\n") == 19 and "... and 32 more lines\n" in tall
    wide = shown([Edit("a.py", Span(1, 1, 1, 2), "z" * 300)], ["x"], width=80)
    assert max(len(line) for line in wide.split("\n") if "| +" in line) == 80


def test_what_a_terminal_would_obey_is_escaped() -> None:
    assert "| + \\x1b[31m\n" in shown([Edit("a.py", Span(1, 1, 1, 2), "\x1b[31m")], ["x"])
