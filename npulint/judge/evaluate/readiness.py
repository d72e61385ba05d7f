"""The readiness checklist of a training program: passed, failed and undetermined items."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from npulint.facts.model import Fact
from npulint.judge.catalogue.check import UNUSED, Check, Failing, ItemDefinition
from npulint.judge.evaluate.match import Candidates, CompiledQuery
from npulint.judge.findings import SEVERITIES, ChecklistItem, Evidence
from npulint.recognizers.programs import Program

_KEPT = 8  # failing places kept; more do not change the report


class ReportedCheck(msgspec.Struct, frozen=True):
    """A check that reported, and the facts that it found; `elsewhere` is the check as it would have reported on other
    chips, if it is only a note because of the chip."""

    check: Check
    facts: list[Fact]
    elsewhere: Check | None = None


class CompiledItem:
    """A checklist item with compiled queries."""

    def __init__(self, item: ItemDefinition) -> None:
        self.item = item
        self.needs = None if item.needs is None else CompiledQuery(item.needs)
        self.passed = None if item.passed is None else CompiledQuery(item.passed)
        self.failed = None if item.failed is None else CompiledQuery(item.failed)
        self.unused = None if item.unused is None else CompiledQuery(item.unused)
        self.look = None if item.look is None else CompiledQuery(item.look)

    def queries(self) -> list[CompiledQuery]:
        queries = (self.needs, self.passed, self.failed, self.unused, self.look)
        return [query for query in queries if query is not None]


def checklist(
    items: Iterable[CompiledItem],
    program: Program,
    candidates: Candidates,
    reported: Sequence[ReportedCheck],
    lang: str,
) -> tuple[ChecklistItem, ...]:
    """The readiness checklist of a program with an entry script."""
    concerned = [item for item in items if item.needs is None or item.needs.true_of(candidates) is True]
    return tuple(_item(item, program, candidates, reported, lang) for item in concerned)


def _item(
    compiled: CompiledItem, program: Program, candidates: Candidates, reported: Sequence[ReportedCheck], lang: str
) -> ChecklistItem:
    """The item with its possible failures; `npulint.judge.postprocess.passes` decides its status, since findings may be
    suppressed."""
    item = compiled.item
    text = item.text.get(lang) or item.text["en"]
    asking = (("passed", compiled.passed), ("failed", compiled.failed), (item.otherwise, compiled.look))
    answers = ((status, _first(query, program.entry, candidates)) for status, query in asking)
    status, shown = next((answer for answer in answers if answer[1] is not None), (item.otherwise, None))
    if status == item.otherwise and compiled.unused is not None and compiled.unused.true_of(candidates) is True:
        status, shown = UNUSED, None
    if status == "passed" and any(
        _fails(item.fails, reported_check.elsewhere)
        for reported_check in reported
        if reported_check.elsewhere is not None
    ):
        status = "unknown"  # it fails on some chips
    return ChecklistItem(
        item=item.key,
        title=text.title,
        status=status,
        evidence=shown,
        look=text.look,
        failures=_failures(item.fails, program, reported),
    )


def _first(query: CompiledQuery | None, entry: str, candidates: Candidates) -> Evidence | None:
    """The place of the first matching fact, preferably in the entry script. A fact about the whole program counts as
    line 1 of the entry script."""
    facts = [] if query is None else query.find(candidates)
    if not facts:
        return None
    fact = min(facts, key=lambda candidate: _order(candidate, entry))
    return Evidence(fact.path or entry, fact.span)


def _failures(fails: Failing, program: Program, reported: Sequence[ReportedCheck]) -> tuple[Evidence, ...]:
    entry = program.entry
    failing = [
        (reported_check.check, _first_sure(fails, program, reported_check))
        for reported_check in reported
        if _fails(fails, reported_check.check)
    ]
    reasons = [(check, fact) for check, fact in failing if fact is not None]
    reasons.sort(key=lambda pair: (-SEVERITIES.index(pair[0].severity), *_order(pair[1], entry), pair[0].code))
    return tuple(Evidence(fact.path, fact.span, check.name, check.code) for check, fact in reasons[:_KEPT])


def _first_sure(fails: Failing, program: Program, reported: ReportedCheck) -> Fact | None:
    """The first fact of a check that the program surely reaches, preferably in the entry script; of a check that is
    about the program as a whole the first of all."""
    facts = sorted(reported.facts, key=lambda fact: _order(fact, program.entry))
    if reported.check.name in fails.checks or reported.check.name in fails.anywhere:
        return facts[0] if facts else None
    return next(filter(program.surely_runs, facts), None)


def _fails(fails: Failing, check: Check) -> bool:
    if check.name in fails.checks:
        return True
    severe = SEVERITIES.index(check.severity) >= SEVERITIES.index(fails.severity)
    return check.topic in fails.topics and severe and check.name not in fails.but


def _order(fact: Fact, entry: str) -> tuple[object, ...]:
    return fact.path != entry, fact.path, fact.span
