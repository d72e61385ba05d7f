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
    if any(one.status != "open" for one in step.static):
        yield static(step, lang)
    if step.explained:
        yield differences(step, lang)


def operators(step: StepSummary, lang: str, everything: bool = False) -> Table:
    """The operators that leave the NPU, or all."""
    shown = [one for one in step.operators if everything or not one.fine]
    rows = [
        (
            CodeCell(one.name),
            words.verdict(one.verdict, lang),
            words.word("live.phase", one.phase, lang),
            str(one.count),
            _place(one),
            one.inside,
            one.via,
        )
        for one in shown
    ]
    heads = "operator verdict phase times place inside via"
    return _table(say(lang, "live.operators", list=words.totals(step, lang)), heads, rows, lang)


def waits(step: StepSummary, lang: str) -> Table:
    """The places where the host waits."""
    rows: list[Sequence[Cell]] = [
        (
            words.word("step.cause", one.cause or one.name, lang),
            words.rate(one.count, step.steps),
            _place(one),
            (one.inside, Note(one.remedy)) if one.remedy else one.inside,
        )
        for one in step.waits
    ]
    return _table(words.waits(step, lang), "cause per-step place inside", rows, lang)


def shapes(step: StepSummary, lang: str) -> Table:
    """The shapes that changed between steps."""
    rows: list[Sequence[Cell]] = [
        (
            (CodeCell(one.name), Note(count(lang, "step.others", one.others) if one.others else "")),
            words.shapes(one.shapes),
            _place(one),
            one.inside,
        )
        for one in step.shapes
    ]
    return _table(
        say(lang, "step.shapes"), "operator shapes place inside", rows, lang, note=say(lang, "step.shapes.why")
    )


def memory(step: StepSummary, lang: str) -> Table:
    """The bytes of each class at the peak."""
    assert step.memory is not None
    found = step.memory
    rows: list[Sequence[Cell]] = [
        (say(lang, f"step.memory.{name}"), words.size(number)) for name, number in found.classes().items()
    ]
    if found.kept > found.activations:
        rows.append((say(lang, "step.memory.kept"), words.size(found.kept)))
    rows.append((say(lang, "step.memory.peak"), words.size(found.peak)))
    return _table(say(lang, "step.memory"), "class bytes", rows, lang, note=words.fits(found, lang))


def static(step: StepSummary, lang: str) -> Table:
    """The findings of the source check in code that ran."""
    rows: list[Sequence[Cell]] = [
        (
            (CodeCell(one.name), one.code),
            say(lang, f"severity.{one.severity}"),
            PlaceCell(one.path, Span.at(one.line)),
            Status(_STATUS[one.status], say(lang, f"try.static.{one.status}")),
        )
        for one in step.static
        if one.status != "open"
    ]
    return _table(say(lang, "try.static"), "check severity place run", rows, lang)


def differences(step: StepSummary, lang: str) -> Table:
    """What source check and run disagree about, with both reasons."""
    rows: list[Sequence[Cell]] = [
        (
            (CodeCell(one.name), one.code),
            PlaceCell(one.path, Span.at(one.line)) if one.path else "",
            Prose(one.static),
            Prose(one.run),
        )
        for one in step.differences
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
