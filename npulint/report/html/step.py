"""A recorded step: a picture of its operators and of its memory, and the tables."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from npulint.core.texts import say
from npulint.judge.summaries.step_summary import StepSummary
from npulint.report.document.model import Cell, PlaceCell, Table
from npulint.report.html.document import markup
from npulint.report.html.markup import escape_html, section
from npulint.report.html.page import Page
from npulint.report.html.stepped import memory_curve, order
from npulint.report.step.tables import tables

_Lines = dict[tuple[str, int], PlaceCell]


def step(page: Page, step_summary: StepSummary) -> str:
    """The section about the recorded step."""
    lang, lines = page.lang, findings_by_line(page)
    drawn = []
    if step_summary.picture is not None:
        drawn = [order(page, step_summary.picture, lines)]
        if step_summary.picture.memory:
            drawn.append(memory_curve(step_summary.picture, lang))
    panels = "".join(f'<div class="panel">{one}</div>' for one in drawn)
    parts = [
        f'<div class="panels stepped">{panels}</div>' if panels else "",
        *(f'<div class="panel tabled">{_table(page, table, lines)}</div>' for table in tables(step_summary, lang)),
        *(f"<p>{escape_html(say(lang, 'live.note', text=note))}</p>" for note in step_summary.notes),
        f"<p>{escape_html(step_summary.ended)}</p>" if step_summary.ended else "",
    ]
    return section("step", say(lang, "step.title"), "\n".join(filter(None, parts)))


def findings_by_line(page: Page) -> _Lines:
    """The places of displayed findings by line, so that other places there can be linked to them."""
    line: _Lines = {}
    for _, finding in page.numbered():
        line.setdefault((finding.path, finding.span.line), PlaceCell(finding.path, finding.span, code=finding.code))
    return line


def _table(page: Page, table: Table, lines: _Lines) -> str:
    rows = [[_linked(cell, lines) for cell in row] for row in table.rows]
    if not rows:
        note = f' <span class="muted">{escape_html(table.note)}</span>' if table.note else ""
        return f"<p>{escape_html(table.title)}{note}</p>"
    return markup(page, msgspec.structs.replace(table, rows=rows))


def _linked(cell: Cell, lines: _Lines) -> Cell:
    if isinstance(cell, PlaceCell):
        return lines.get((cell.path, cell.span.line), cell)
    if isinstance(cell, Sequence) and not isinstance(cell, str):
        return [
            lines.get((place_cell.path, place_cell.span.line), place_cell)
            if isinstance(place_cell, PlaceCell)
            else place_cell
            for place_cell in cell
        ]
    return cell
