"""Blank lines around deleted lines: only those on one side are kept."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from npulint.facts.model import Span
from npulint.judge.findings import Edit


def closed_up(text: str, edits: Sequence[Edit]) -> tuple[Edit, ...]:
    """The edits of a text, where deletions of adjacent lines also delete surplus blank lines after them. (Deletions of
    single lines have been handled already.)"""
    found = list(edits)
    lines = text.split("\n")
    for run in _runs(edits):
        last = run[-1]
        count = _surplus(lines, run[0].span.line - 1, last.span.end_line - 1)
        end = last.span.end_line + count
        free = all(edit in run or not last.span.end_line <= edit.span.line <= end for edit in edits)
        if count and free and end <= len(lines):
            span = Span(last.span.line, last.span.column, end, 1)
            found[found.index(last)] = Edit(last.path, span, "")
    return tuple(found)


def _runs(edits: Iterable[Edit]) -> list[list[Edit]]:
    """Groups of adjacent whole-line deletions."""
    runs: list[list[Edit]] = []
    for edit in sorted((one for one in edits if _takes_lines(one)), key=lambda one: one.span):
        if runs and runs[-1][-1].span.end_line == edit.span.line:
            runs[-1].append(edit)
        else:
            runs.append([edit])
    return [run for run in runs if len(run) > 1]


def _takes_lines(edit: Edit) -> bool:
    span = edit.span
    return not edit.text and span.column == span.end_column == 1 and span.end_line > span.line


def _surplus(lines: Sequence[str], first: int, last: int) -> int:
    """The number of blank lines after `last` that have counterparts before `first`."""
    above = 0
    while first - above > 0 and not lines[first - above - 1].strip():
        above += 1
    below = 0
    while below < above and last + below < len(lines) - 1 and not lines[last + below].strip():
        below += 1
    return below
