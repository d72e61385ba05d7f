"""Two training runs on a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from npulint.core.texts import say
from npulint.judge.findings import Comparison
from npulint.judge.summaries.run_comparison import ComparedCurve, RunComparison
from npulint.report.compared.rows import of_runs_alone
from npulint.report.compared.runs import headline, symptoms, table
from npulint.report.document.model import Cell, CodeCell, Note, Status
from npulint.report.document.text import WIDTH, Line, fold, row_lines, widths
from npulint.report.runs.text import spark
from npulint.report.terminal import Paint, escape_control_chars
from npulint.report.view import ReportView

_COLOR = {"differs": "red", "consistent": "green"}
_SPARK = 24  # cells of a curve
_CAUSES = 4  # of a symptom


def blocks(comparison: Comparison, runs: RunComparison, view: ReportView) -> list[list[str]]:
    """Blocks of lines: the table of quantities, and what they show."""
    paint, width = Paint(view.color), view.width or WIDTH
    head = [paint("bold", say(view.lang, "pair.title"))]
    head += [] if of_runs_alone(comparison) else [f"  {headline(runs, view.lang)}"]  # it is the last line of these
    names = [
        [[Line(say(view.lang, f"compare.{side}"))], [Line(escape_control_chars(path), "bold")]]
        for side, path in (("reference", runs.reference), ("migrated", runs.migrated))
    ]
    head += [f"  {line}" for row in names for line in row_lines(row, widths(names, width - 2), paint)]
    if not runs.curves:
        return [head]
    quantities = table(runs, view.lang)
    rows = [[[Line(str(cell), "dim")] for cell in quantities.heads]]
    for row, curve in zip(quantities.rows, runs.curves, strict=True):
        cells = [_lines(cell) for cell in row]
        for cell, points in zip(cells[1:3], (curve.points, curve.migrated_points), strict=True):
            cell += [Line(_spark(curve, points, view.plain), "blue")] if len(points) > 1 else []
        rows.append(cells)
    columns = widths(rows, width - 2)
    lines = [f"  {line}" for row in rows for line in row_lines(row, columns, paint)]
    return [[*head, "", *lines], list(_symptoms(comparison, runs, view, width))]


def _spark(curve: ComparedCurve, points: Sequence[tuple[float, float | None]], plain: bool) -> str:
    return spark([value for _, value in points], _SPARK, plain)


def _lines(cell: Cell) -> list[Line]:
    parts = cell if isinstance(cell, Sequence) and not isinstance(cell, str) else (cell,)
    lines = []
    for part in parts:
        match part:
            case Status(word, text):
                lines.append(Line(text, _COLOR.get(word, "")))
            case CodeCell(text) | Note(text) if text:
                lines.append(Line(escape_control_chars(text), "dim"))
            case str(text):
                lines.append(Line(escape_control_chars(text)))
    return lines


def _symptoms(comparison: Comparison, runs: RunComparison, view: ReportView, width: int) -> Iterator[str]:
    paint = Paint(view.color)
    for symptom in symptoms(comparison, runs, view.lang):
        yield paint("bold", symptom.text)
        yield f"  {say(view.lang, 'heading', text=symptom.intro)}"
        for what, at, reason in symptom.causes if view.verbose else symptom.causes[:_CAUSES]:
            aside = say(view.lang, "aside", text=at) if at else ""
            text = escape_control_chars(f"{what.replace('`', '')}{aside}")
            yield from _hanging(text, "- ", width)
            yield from (paint("dim", line) for line in _hanging(reason, "  ", width))


def _hanging(text: str, sign: str, width: int) -> Iterator[str]:
    first, *others = fold(text, width - 6)
    yield f"    {sign}{first}"
    yield from (f"      {line}" for line in others)
