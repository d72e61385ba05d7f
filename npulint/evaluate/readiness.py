"""The readiness list of a training program: what passed, what failed, what the code alone cannot tell."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from npulint.catalogue.check import Check, Failing, Item
from npulint.evaluate.match import Candidates, CompiledQuery
from npulint.facts.model import Fact
from npulint.findings import SEVERITIES, ChecklistItem, Evidence

_KEPT = 8  # failing places that are told of; more would not change what is said


class Spoken(msgspec.Struct, frozen=True):
    """A check that spoke about the program, and the facts that it found."""

    check: Check
    facts: list[Fact]


class AskedItem:
    """An item with its questions made ready."""

    def __init__(self, item: Item) -> None:
        self.item = item
        self.needs = None if item.needs is None else CompiledQuery(item.needs)
        self.passed = None if item.passed is None else CompiledQuery(item.passed)
        self.failed = None if item.failed is None else CompiledQuery(item.failed)
        self.look = None if item.look is None else CompiledQuery(item.look)

    def questions(self) -> list[CompiledQuery]:
        """The questions that the item asks."""
        return [question for question in (self.needs, self.passed, self.failed, self.look) if question is not None]


def checklist(
    items: Iterable[AskedItem], entry: str, candidates: Candidates, spoken: Sequence[Spoken], lang: str
) -> tuple[ChecklistItem, ...]:
    """The readiness list of the program that starts at `entry`."""
    concerned = [asked for asked in items if asked.needs is None or asked.needs.true_of(candidates) is True]
    return tuple(_judged(asked, entry, candidates, spoken, lang) for asked in concerned)


def _judged(asked: AskedItem, entry: str, candidates: Candidates, spoken: Sequence[Spoken], lang: str) -> ChecklistItem:
    """The item as it stands apart from what fails it; `settle` decides, as findings may be silenced."""
    item = asked.item
    text = item.text.get(lang) or item.text["en"]
    asking = (("passed", asked.passed), ("failed", asked.failed), (item.otherwise, asked.look))
    answers = ((status, _first(question, entry, candidates)) for status, question in asking)
    status, shown = next((answer for answer in answers if answer[1] is not None), (item.otherwise, None))
    return ChecklistItem(
        item=item.key,
        title=text.title,
        status=status,
        evidence=shown,
        look=text.look,
        failures=_failures(item.fails, entry, spoken),
    )


def _first(question: CompiledQuery | None, entry: str, candidates: Candidates) -> Evidence | None:
    """The place of the first fact that answers, those of the entry script before others. A fact about the
    program as a whole has no place: then it is the first line of the entry script."""
    facts = [] if question is None else question.find(candidates)
    if not facts:
        return None
    fact = min(facts, key=lambda one: _order(one, entry))
    return Evidence(fact.path or entry, fact.span)


def _failures(fails: Failing, entry: str, spoken: Sequence[Spoken]) -> tuple[Evidence, ...]:
    found = [(said.check, min(said.facts, key=lambda f: _order(f, entry))) for said in spoken if _fails(fails, said)]
    found.sort(key=lambda pair: (-SEVERITIES.index(pair[0].severity), *_order(pair[1], entry), pair[0].code))
    return tuple(Evidence(fact.path, fact.span, check.name, check.code) for check, fact in found[:_KEPT])


def _fails(fails: Failing, said: Spoken) -> bool:
    check = said.check
    if check.name in fails.checks:
        return True
    grave = SEVERITIES.index(check.severity) >= SEVERITIES.index(fails.severity)
    return check.topic in fails.topics and grave and check.name not in fails.but


def _order(fact: Fact, entry: str) -> tuple[object, ...]:
    return fact.path != entry, fact.path, fact.span
