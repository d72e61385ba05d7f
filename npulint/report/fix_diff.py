"""The fix of a finding as a small diff below its source."""

from __future__ import annotations

from npulint.core.texts import count, say
from npulint.judge.findings import Finding
from npulint.report.changed import ChangedLines, blocks
from npulint.report.terminal import Paint, cells, cut, escape_control_chars
from npulint.report.view import ReportView

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
