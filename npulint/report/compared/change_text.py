"""A change on a terminal: what it does to the training configuration, before and after."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from npulint.core.texts import say
from npulint.judge.findings import ComparedChange, Comparison
from npulint.report.compared.change import ChangedItem, ChangedValue, change_document, value_name
from npulint.report.document.model import ValueCell
from npulint.report.document.text import ARROW, WIDTH, Line, fold, row_lines, widths
from npulint.report.terminal import Paint, escape_control_chars
from npulint.report.view import ReportView

_COLOR = {"differs": "red", "review": "yellow", "same": "green"}
_INDENT = 2
_TALL = 4  # lines of one value


def blocks(comparison: Comparison, change: ComparedChange, view: ReportView) -> list[list[str]]:
    """Blocks of lines: the verdict with the states, then the values by item."""
    document = change_document(comparison, change, view.lang)
    paint, width = Paint(view.color), view.width or WIDTH
    head = [paint(_COLOR[document.verdict], document.heading)]
    head += [f"  {part}" for line in document.lines for part in fold(escape_control_chars(line), width - _INDENT)]
    return [head, list(_table([*document.items, *document.others], view, width - _INDENT))]


def _table(items: Sequence[ChangedItem], view: ReportView, width: int) -> Iterable[str]:
    if not items:
        return
    paint = Paint(view.color)
    heads = [[Line(say(view.lang, f"change.head.{word}"), "dim")] for word in ("what", "before", "after")]
    rows = [[_cells(value, view.lang) for value in item.values] for item in items]
    columns = widths([heads, *(row for some in rows for row in some)], width)
    yield from (f"  {line}" for line in row_lines(heads, columns, paint))
    for item, some in zip(items, rows, strict=True):
        yield paint("bold", item.title)
        for row in some:
            yield from (f"  {line}" for line in row_lines(row, columns, paint, _TALL))


def _cells(value: ChangedValue, lang: str) -> list[list[Line]]:
    color = "" if value.answer == "differs" else "cyan"
    name = [Line(escape_control_chars(value_name(value, lang)).replace("`", ""), color)]
    name += [Line(escape_control_chars(entry), "dim") for entry in value.only]
    return [name, _side(value.before, lang), _side(value.after, lang)]


def _side(value: ValueCell | None, lang: str) -> list[Line]:
    if value is None:
        return [Line(say(lang, "compare.absent"), "dim")]
    lines = [Line(escape_control_chars(value.text))]
    if value.place is not None:
        steps = [f"{value.place.label}:{value.place.span.line}", *value.steps]
        lines.append(Line(escape_control_chars(f" {ARROW} ".join(steps)), "dim"))
    return lines
