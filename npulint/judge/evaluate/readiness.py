"""The readiness checklist of a training program: passed, failed and undetermined items."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from npulint.core.texts import say
from npulint.facts.model import Fact, Span
from npulint.judge.catalogue.check import UNUSED, Check, Failing, ItemDefinition
from npulint.judge.evaluate.distance import distance
from npulint.judge.evaluate.match import Candidates, CompiledQuery
from npulint.judge.findings import SEVERITIES, ChecklistItem, Evidence, OpenRelease
from npulint.model.running.reach import HowReached
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
        self.unused = None if item.unused is None else CompiledQuery(item.unused)
        self.look = None if item.look is None else CompiledQuery(item.look)

    def queries(self) -> list[CompiledQuery]:
        queries = (self.needs, self.passed, self.unused, self.look)
        return [query for query in queries if query is not None]


def checklist(
    items: Iterable[CompiledItem],
    program: Program,
    candidates: Candidates,
    reported: Sequence[ReportedCheck],
    opened: Sequence[tuple[Check, OpenRelease]],
    lang: str,
) -> tuple[ChecklistItem, ...]:
    """The readiness checklist of a program with an entry script. `opened` are checks that would find something with
    some releases: what they are about is not known to be right."""
    concerned = [item for item in items if item.needs is None or item.needs.true_of(candidates) is True]
    answers = ((item.item, _item(item, program, candidates, reported, lang)) for item in concerned)
    return tuple(_with_release(definition.fails, answer, opened, lang) for definition, answer in answers)


def _with_release(
    fails: Failing, answer: ChecklistItem, opened: Sequence[tuple[Check, OpenRelease]], lang: str
) -> ChecklistItem:
    """An item that nothing fails, undetermined where a release that is not known decides."""
    release = next((release for check, release in opened if _fails(fails, check)), None)
    if release is None or answer.status != "passed":
        return answer
    place = Evidence(release.path, Span.at(release.line))
    look = say(lang, "readiness.release", name=release.key)
    return msgspec.structs.replace(answer, status="unknown", evidence=place, look=look)


def _item(
    compiled: CompiledItem, program: Program, candidates: Candidates, reported: Sequence[ReportedCheck], lang: str
) -> ChecklistItem:
    """The item with its possible failures and doubts; `npulint.judge.postprocess.passes` decides its status, since
    findings may be suppressed."""
    item = compiled.item
    text = item.text.get(lang) or item.text["en"]
    status, shown = _answer(compiled, program, candidates)
    look = text.look
    if status == "maybe":
        status, look = "unknown", say(lang, "readiness.maybe")
    if status == item.otherwise and compiled.unused is not None and compiled.unused.true_of(candidates) is True:
        status, shown = UNUSED, None
    failing = [reported_check for reported_check in reported if _fails(item.fails, reported_check.check)]
    doubting = [each for each in reported if not _fails(item.fails, each.check) and _doubts(item, each)]
    doubts = [_first_at(item.fails, program, each, ("maybe",)) for each in failing]
    doubts += [_first_at(item.fails, program, each, ("surely", "maybe")) for each in doubting]
    return ChecklistItem(
        item=item.key,
        title=text.title,
        status=status,
        evidence=shown,
        look=look,
        failures=_places(program, [_first_at(item.fails, program, each, ("surely",)) for each in failing]),
        doubts=_places(program, doubts),
        compared=item.compared,
    )


def _answer(compiled: CompiledItem, program: Program, candidates: Candidates) -> tuple[str, Evidence | None]:
    """The status where no finding fails the item, and the place that shows it: passed for a fact that the program
    surely reaches, maybe for one that it may reach, else `otherwise`."""
    item = compiled.item
    passing = [] if compiled.passed is None else compiled.passed.find(candidates)
    for reach, status in (("surely", "passed"), ("maybe", "maybe")):
        reached = [fact for fact in passing if program.how_runs(fact) == reach]
        if reached:
            return status, _first(reached, program.entry)
    looked = [] if compiled.look is None else compiled.look.find(candidates)
    return item.otherwise, _first(looked, program.entry)


def _first(facts: Sequence[Fact], entry: str) -> Evidence | None:
    """The place of the first of some facts, preferably in the entry script. A fact about the whole program counts as
    line 1 of the entry script."""
    if not facts:
        return None
    fact = min(facts, key=lambda candidate: _order(candidate, entry))
    return Evidence(fact.path or entry, fact.span)


def _places(program: Program, found: Sequence[tuple[Check, Fact | None]]) -> tuple[Evidence, ...]:
    """The places that checks found, the most severe first, then those that matter most."""
    reasons = [(check, fact) for check, fact in found if fact is not None]
    reasons.sort(key=lambda pair: (-SEVERITIES.index(pair[0].severity), *_far(pair[1], program), pair[0].code))
    return tuple(
        Evidence(fact.path, fact.span, check.name, check.code, program.surely_runs(fact))
        for check, fact in reasons[:_KEPT]
    )


def _first_at(
    fails: Failing, program: Program, reported: ReportedCheck, ways: Sequence[HowReached]
) -> tuple[Check, Fact | None]:
    """The fact of a check that matters most of those that the program reaches in one of these ways: that at which its
    finding begins. A check that is about the program as a whole says what is nowhere in it: all that may run of it
    counts as surely reached."""
    facts = sorted(reported.facts, key=lambda fact: _far(fact, program))
    whole = reported.check.name in fails.anywhere
    for fact in facts:
        reached = program.how_runs(fact)
        if ("surely" if whole and reached == "maybe" else reached) in ways:
            return reported.check, fact
    return reported.check, None


def _fails(fails: Failing, check: Check) -> bool:
    if check.name in (*fails.checks, *fails.anywhere):
        return True
    severe = SEVERITIES.index(check.severity) >= SEVERITIES.index(fails.severity)
    return check.topic in fails.topics and severe and check.name not in fails.but


def _doubts(item: ItemDefinition, reported: ReportedCheck) -> bool:
    """Whether what a check says may be true or not for the item: it would fail it on other chips, or is of its matter
    without failing it."""
    on_some_chips = reported.elsewhere is not None and _fails(item.fails, reported.elsewhere)
    return on_some_chips or _fails(item.doubted, reported.check)


def _order(fact: Fact, entry: str) -> tuple[object, ...]:
    return fact.path != entry, fact.path, fact.span


def _far(fact: Fact, program: Program) -> tuple[object, ...]:
    return distance(fact, program), fact.path, fact.span
