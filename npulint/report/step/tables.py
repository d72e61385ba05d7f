"""A recorded step as tables of a report document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from npulint.core.texts import count, say
from npulint.facts.model import Span
from npulint.judge.summaries.step_summary import StepOperator, StepShape, StepSummary, StepWait
from npulint.report.document.model import Cell, CodeCell, Note, PlaceCell, Prose, Status, Table
from npulint.report.step import words
from npulint.report.terminal import Paint, cells, escape_control_chars, wrap
from npulint.report.view import ReportView

_STATUS = {"confirmed": "failed", "contradicted": "unknown", "missed": "unknown"}


def tables(step: StepSummary, lang: str, everything: bool = False) -> Iterator[Table]:
    """All tables: operators that leave the NPU (or `everything`), waits, shapes, memory, findings of the source check,
    differences."""
    if step.operators:
        yield operators(step, lang, everything)
    if step.waits:
        yield waits(step, lang)
    if step.shapes:
        yield shapes(step, lang)
    if step.memory is not None:
        yield memory(step, lang)
    if any(step_finding.status != "open" for step_finding in step.static):
        yield static(step, lang)
    if step.explained:
        yield differences(step, lang)


def operators(step: StepSummary, lang: str, everything: bool = False) -> Table:
    """The operators that leave the NPU, or all."""
    shown = [operator for operator in step.operators if everything or not operator.fine]
    rows = [
        (
            CodeCell(step_operator.name),
            words.verdict(step_operator.verdict, lang),
            words.word("live.phase", step_operator.phase, lang),
            str(step_operator.count),
            _place(step_operator),
            step_operator.inside,
            step_operator.via,
        )
        for step_operator in shown
    ]
    heads = "operator verdict phase times place inside via"
    return _table(say(lang, "live.operators", list=words.totals(step, lang)), heads, rows, lang)


def waits(step: StepSummary, lang: str) -> Table:
    """The places where the host waits."""
    rows: list[Sequence[Cell]] = [
        (
            words.word("step.cause", wait.cause or wait.name, lang),
            words.rate(wait.count, step.steps),
            _place(wait),
            (wait.inside, Note(wait.remedy)) if wait.remedy else wait.inside,
        )
        for wait in step.waits
    ]
    return _table(words.waits(step, lang), "cause per-step place inside", rows, lang)


def shapes(step: StepSummary, lang: str) -> Table:
    """The shapes that changed between steps."""
    rows: list[Sequence[Cell]] = [
        (
            (CodeCell(shape.name), Note(count(lang, "step.others", shape.others) if shape.others else "")),
            words.shapes(shape.shapes),
            _place(shape),
            shape.inside,
        )
        for shape in step.shapes
    ]
    return _table(
        say(lang, "step.shapes"), "operator shapes place inside", rows, lang, note=say(lang, "step.shapes.why")
    )


def memory(step: StepSummary, lang: str) -> Table:
    """The bytes of each class at the peak."""
    assert step.memory is not None
    step_memory = step.memory
    rows: list[Sequence[Cell]] = [
        (say(lang, f"step.memory.{name}"), words.size(number)) for name, number in step_memory.classes().items()
    ]
    if step_memory.kept > step_memory.activations:
        rows.append((say(lang, "step.memory.kept"), words.size(step_memory.kept)))
    rows.append((say(lang, "step.memory.peak"), words.size(step_memory.peak)))
    return _table(say(lang, "step.memory"), "class bytes", rows, lang, note=words.fits(step_memory, lang))


def static(step: StepSummary, lang: str) -> Table:
    """The findings of the source check in code that ran."""
    rows: list[Sequence[Cell]] = [
        (
            (CodeCell(step_finding.name), step_finding.code),
            say(lang, f"severity.{step_finding.severity}"),
            PlaceCell(step_finding.path, Span.at(step_finding.line)),
            Status(_STATUS[step_finding.status], say(lang, f"try.static.{step_finding.status}")),
        )
        for step_finding in step.static
        if step_finding.status != "open"
    ]
    return _table(say(lang, "try.static"), "check severity place run", rows, lang)


def differences(step: StepSummary, lang: str) -> Table:
    """What source check and run disagree about, with both reasons."""
    rows: list[Sequence[Cell]] = [
        (
            (CodeCell(difference.name), difference.code),
            PlaceCell(difference.path, Span.at(difference.line)) if difference.path else "",
            Prose(difference.static),
            Prose(difference.run),
        )
        for difference in step.differences
    ]
    key = "step.differences" if rows else "step.differences.none"
    return _table(say(lang, key), "check place source run", rows, lang)


def _table(title: str, heads: str, rows: Sequence[Sequence[Cell]], lang: str, note: str = "") -> Table:
    """A table without its empty columns."""
    keys = heads.split()
    used = [place for place in range(len(keys)) if any(row[place] for row in rows)]
    shown = [[row[place] for place in used] for row in rows]
    texts: list[Cell] = [say(lang, f"live.column.{keys[place]}") for place in used]
    return Table(title, texts, shown, "list step", more="live.more", titled=True, note=note, wide=True)


def _place(recorded: StepOperator | StepWait | StepShape) -> Cell:
    return PlaceCell(recorded.path, Span.at(recorded.line)) if recorded.path else ""


# The tables of a recorded step in the text report.

_MOST = 200  # rows


def blocks(step: StepSummary, view: ReportView) -> list[list[str]]:
    """The tables, what was not seen, and how the run ended."""
    lang = view.lang
    plain = msgspec.structs.replace(step, explained=False)
    parts = [_lines(table, view) for table in tables(plain, lang, view.all_operators)]
    parts += [_differences(step, view)] if step.explained else []
    parts += [[say(lang, "live.note", text=escape_control_chars(note))] for note in step.notes]
    return [*parts, *([[escape_control_chars(step.ended)]] if step.ended else [])]


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
