"""The tables of a recorded step in the text report."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from npulint.core.texts import count, say
from npulint.judge.summaries.step_summary import StepSummary
from npulint.report.document.model import Cell, CodeCell, Note, PlaceCell, Table
from npulint.report.step.tables import differences, tables
from npulint.report.terminal import Paint, cells, escape_control_chars, wrap
from npulint.report.view import ReportView

_MOST = 200  # rows


def blocks(step: StepSummary, view: ReportView) -> list[list[str]]:
    """The tables, what was not seen, and how the run ended."""
    lang = view.lang
    plain = msgspec.structs.replace(step, explained=False)
    found = [_lines(table, view) for table in tables(plain, lang, view.all_operators)]
    found += [_differences(step, view)] if step.explained else []
    found += [[say(lang, "live.note", text=escape_control_chars(note))] for note in step.notes]
    return [*found, *([[escape_control_chars(step.ended)]] if step.ended else [])]


def _lines(table: Table, view: ReportView) -> list[str]:
    rows = [[_text(cell) for cell in row] for row in table.rows[:_MOST]]
    lines = [Paint(view.color)("bold", escape_control_chars(table.title))]
    lines += aligned([_text(head) for head in table.heads], rows)
    if len(table.rows) > _MOST:
        lines.append(f"  {count(view.lang, 'live.more', len(table.rows) - _MOST)}")
    return [*lines, *([f"  {escape_control_chars(table.note)}"] if table.note else [])]


def _differences(step: StepSummary, view: ReportView) -> list[str]:
    """Both reasons are long: each has a line."""
    table = differences(step, view.lang)
    lines = [Paint(view.color)("bold", table.title)]
    for check, place, *reasons in table.rows[:_MOST]:
        lines.append(f"  {_text(place)}  {_text(check)}")
        for head, reason in zip(table.heads[-2:], reasons, strict=True):
            label = f"    {_text(head)}: "
            room = max(20, view.width - cells(label)) if view.width else 0
            first, *rest = wrap(_text(reason), room)
            lines += [label + first, *(" " * cells(label) + line for line in rest)]
    return lines


def aligned(heads: Sequence[str], body: Sequence[Sequence[str]]) -> list[str]:
    """Aligned rows below their heads."""
    if not body:
        return []
    rows = [heads, *body]
    widths = [max(cells(row[place]) for row in rows) for place in range(len(heads))]
    return [
        "  " + "  ".join(text + " " * (width - cells(text)) for text, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


def _text(cell: Cell) -> str:
    parts = [cell] if isinstance(cell, str) or not isinstance(cell, Sequence) else list(cell)
    return " ".join(filter(None, map(_word, parts)))


def _word(part: object) -> str:
    if isinstance(part, PlaceCell):
        return escape_control_chars(f"{part.path}:{part.span.line}")
    if isinstance(part, Note):  # remedies are with the findings
        return part.text if len(part.text) < 40 else ""
    text = part.text if isinstance(part, CodeCell) else getattr(part, "text", part)
    return escape_control_chars(str(text))
