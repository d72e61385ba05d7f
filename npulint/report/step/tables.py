"""A recorded step as tables of a report document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from npulint.core.texts import count, say
from npulint.facts.model import Span
from npulint.judge.summaries.step_summary import StepOperator, StepShape, StepSummary, StepWait
from npulint.report.document.model import Cell, CodeCell, Note, PlaceCell, Prose, Status, Table
from npulint.report.step import words

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


def _place(one: StepOperator | StepWait | StepShape) -> Cell:
    return PlaceCell(one.path, Span.at(one.line)) if one.path else ""
