"""Edits as blocks of removed and added lines. The file may have changed since it was read, so line numbers are
checked."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from npulint.core.texts import count, say
from npulint.judge.findings import Edit, Finding
from npulint.judge.source_lines import LineProvider
from npulint.report.terminal import Paint, cells, cut, escape_control_chars
from npulint.report.view import ReportView


class ChangedLines(msgspec.Struct, frozen=True):
    """Lines of `path` from `line` on: `old` ones are removed, `new` ones added. One of the two may be empty."""

    path: str
    line: int
    old: tuple[str, ...]
    new: tuple[str, ...]


def blocks(edits: Sequence[Edit], lines: LineProvider) -> list[ChangedLines]:
    """The changed lines of edits; adjacent edits form one block."""
    groups: list[list[Edit]] = []
    for edit in sorted(edits, key=lambda edit: (edit.path, edit.span)):
        last = groups[-1][-1] if groups else None
        if last is not None and last.path == edit.path and edit.span.line <= last.span.end_line:
            groups[-1].append(edit)
        else:
            groups.append([edit])
    return [block for group in groups if (block := _block(group, lines)) is not None]


def _block(group: Sequence[Edit], lines: LineProvider) -> ChangedLines | None:
    path, first, end = group[0].path, group[0].span.line, max(edit.span.end_line for edit in group)
    source = lines(path)
    if not 0 < first <= end <= max(len(source), 1) + 1:
        return None
    old = list(source[first - 1 : end])
    new = _edited([*old, *[""] * (end - first + 1 - len(old))], group, first)
    while old and new and old[-1] == new[-1]:
        old, new = old[:-1], new[:-1]
    same = 0
    while same < min(len(old), len(new)) and old[same] == new[same]:
        same += 1
    return ChangedLines(path, first + same, tuple(old[same:]), tuple(new[same:]))


def _edited(old: Sequence[str], group: Sequence[Edit], first: int) -> list[str]:
    starts = [0]
    for line in old:
        starts.append(starts[-1] + len(line) + 1)
    text = "\n".join(old)
    for edit in reversed(group):
        begin = starts[edit.span.line - first] + edit.span.column - 1
        end = starts[edit.span.end_line - first] + edit.span.end_column - 1
        text = text[:begin] + edit.text + text[max(begin, end) :]
    return text.split("\n")


# The fix of a finding as a small diff below its source.

_TALL = 20  # lines of a change that are shown
_WIDTH = 120  # cells of source if the terminal width is unknown
_TAB = "    "


def change(finding: Finding, view: ReportView, paint: Paint, gutter: int) -> list[str]:
    """The changed lines; none for notebooks, whose lines are JSON strings, or for changed files."""
    changed_lineses = blocks([edit for edit in finding.fix.edits if not edit.path.endswith(".ipynb")], view.lines)
    if not changed_lineses:
        return []
    label = say(view.lang, "heading", text=say(view.lang, "fixes.show"))
    lead = f"{' ' * gutter} {paint('blue', '=')} {paint('bold', label)}"
    rows = [row for block in changed_lineses for row in _rows(block, finding.path, view, paint, gutter)]
    if len(rows) > _TALL:
        more = count(view.lang, "fixes.show.more", len(rows) - _TALL)
        rows = [*rows[:_TALL], f"{' ' * gutter}   {more}"]
    return [lead, *rows]


def _rows(block: ChangedLines, here: str, view: ReportView, paint: Paint, gutter: int) -> list[str]:
    """The lines of a block; added ones have no line number."""
    room = max(20, (view.width or _WIDTH) - gutter - 5)
    rows = [] if block.path == here else [f"{' ' * gutter} {paint('blue', ':::')} {escape_control_chars(block.path)}"]
    for place, line in enumerate(block.old):
        rows.append(_row(str(block.line + place), paint("red", f"- {_fit(line, room)}".rstrip()), paint, gutter))
    for line in block.new:
        rows.append(_row("", paint("green", f"+ {_fit(line, room)}".rstrip()), paint, gutter))
    return rows


def _row(number: str, text: str, paint: Paint, gutter: int) -> str:
    return f"{paint('blue', f'{number:>{gutter}} |')} {text}"


def _fit(line: str, room: int) -> str:
    text = escape_control_chars(line.replace("\t", _TAB)[:4000])
    return text if cells(text) <= room else cut(text, room - 3) + "..."
