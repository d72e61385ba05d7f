"""The readiness checklist of a training program: passed, failed and undetermined items."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from npulint.assemble.programs import Program
from npulint.catalogue.check import Check, Failing, Item
from npulint.evaluate.match import Candidates, CompiledQuery
from npulint.facts.model import Fact
from npulint.findings import SEVERITIES, ChecklistItem, Evidence

_KEPT = 8  # failing places kept; more do not change the report


class ReportedCheck(msgspec.Struct, frozen=True):
    """A check that reported, and the facts that it found."""

    check: Check
    facts: list[Fact]


class CompiledItem:
    """A checklist item with compiled queries."""

    def __init__(self, item: Item) -> None:
        self.item = item
        self.needs = None if item.needs is None else CompiledQuery(item.needs)
        self.passed = None if item.passed is None else CompiledQuery(item.passed)
        self.failed = None if item.failed is None else CompiledQuery(item.failed)
        self.look = None if item.look is None else CompiledQuery(item.look)

    def questions(self) -> list[CompiledQuery]:
        return [question for question in (self.needs, self.passed, self.failed, self.look) if question is not None]


def checklist(
    items: Iterable[CompiledItem], program: Program, candidates: Candidates, reported: Sequence[ReportedCheck], lang: str
) -> tuple[ChecklistItem, ...]:
    """The readiness checklist of a program with an entry script."""
    concerned = [asked for asked in items if asked.needs is None or asked.needs.true_of(candidates) is True]
    return tuple(_item(asked, program, candidates, reported, lang) for asked in concerned)


def _item(
    asked: CompiledItem, program: Program, candidates: Candidates, reported: Sequence[ReportedCheck], lang: str
) -> ChecklistItem:
    """The item with its possible failures; `npulint.postprocess.readiness` decides its status, since findings may be
    suppressed."""
    item = asked.item
    text = item.text.get(lang) or item.text["en"]
    asking = (("passed", asked.passed), ("failed", asked.failed), (item.otherwise, asked.look))
    answers = ((status, _first(question, program.entry, candidates)) for status, question in asking)
    status, shown = next((answer for answer in answers if answer[1] is not None), (item.otherwise, None))
    return ChecklistItem(
        item=item.key,
        title=text.title,
        status=status,
        evidence=shown,
        look=text.look,
        failures=_failures(item.fails, program, reported),
    )


def _first(question: CompiledQuery | None, entry: str, candidates: Candidates) -> Evidence | None:
    """The place of the first matching fact, preferably in the entry script. A fact about the whole program counts as
    line 1 of the entry script."""
    facts = [] if question is None else question.find(candidates)
    if not facts:
        return None
    fact = min(facts, key=lambda one: _order(one, entry))
    return Evidence(fact.path or entry, fact.span)


def _failures(fails: Failing, program: Program, reported: Sequence[ReportedCheck]) -> tuple[Evidence, ...]:
    entry = program.entry
    failing = [(said.check, _sure(fails, program, said)) for said in reported if _fails(fails, said)]
    found = [(check, min(facts, key=lambda fact: _order(fact, entry))) for check, facts in failing if facts]
    found.sort(key=lambda pair: (-SEVERITIES.index(pair[0].severity), *_order(pair[1], entry), pair[0].code))
    return tuple(Evidence(fact.path, fact.span, check.name, check.code) for check, fact in found[:_KEPT])


def _sure(fails: Failing, program: Program, said: ReportedCheck) -> list[Fact]:
    """The facts of a check that the program surely comes to; all of a check that is about the program as a whole."""
    if said.check.name in fails.checks or said.check.name in fails.anywhere:
        return said.facts
    return [fact for fact in said.facts if program.surely_runs(fact)]


def _fails(fails: Failing, said: ReportedCheck) -> bool:
    check = said.check
    if check.name in fails.checks:
        return True
    grave = SEVERITIES.index(check.severity) >= SEVERITIES.index(fails.severity)
    return check.topic in fails.topics and grave and check.name not in fails.but


def _order(fact: Fact, entry: str) -> tuple[object, ...]:
    return fact.path != entry, fact.path, fact.span
