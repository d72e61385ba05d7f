"""What comes first: the place of a check that matters most, the findings of checks in groups, and what to do first."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import msgspec

from npulint.judge.evaluate.distance import APART
from npulint.judge.evaluate.places import covered, worded
from npulint.judge.findings import CONFIDENCES, Finding, ProgramSummary, RunResult
from npulint.judge.settings import RANK
from npulint.judge.verdict import keeping_from_npu, meaning

CATEGORIES = ("functional", "precision", "performance", "hygiene")
FIRST_STEPS = 3  # that reports name


class PlaceOrder:
    """The order of findings of one check by how much their places matter to `programs`, the main one first: what
    takes part in a training before the rest, then what is about the first programs, then the nearest (see
    `npulint.judge.evaluate.distance`)."""

    def __init__(self, programs: Sequence[ProgramSummary]) -> None:
        self._last = len(programs)
        self._by_entry = {program.entry: number for number, program in enumerate(programs)}
        self._by_path: dict[str, int] = {}
        for number, program in enumerate(programs):
            for path in (program.entry, *program.paths):
                self._by_path.setdefault(path, number)

    def program(self, finding: Finding) -> int:
        """The number of the first program that a finding is about, or that reaches its place."""
        named = (self._by_entry.get(entry, self._last) for entry in (finding.program, *finding.programs))
        return min(*named, self._by_path.get(finding.path, self._last))

    def key(self, finding: Finding) -> tuple[object, ...]:
        """The sort key of a finding."""
        return finding.distance >= APART, self.program(finding), finding.distance


class Group(msgspec.Struct, frozen=True):
    """The findings of one check with one severity, in the order of the report; the first is where to begin."""

    findings: list[Finding]

    @property
    def first(self) -> Finding:
        """The finding that stands for the group."""
        return self.findings[0]

    @property
    def message(self) -> str:
        """The message of the first finding, with the counts of all if the others say the same."""
        wording = self.first.wording
        if "{files" in wording and all(finding.wording == wording for finding in self.findings):
            return worded(wording, (place for finding in self.findings for place in covered(finding)))
        return self.first.message

    @property
    def places(self) -> int:
        """How many places the findings cover."""
        return sum(len(covered(finding)) for finding in self.findings)


def grouped(findings: Sequence[Finding], programs: Sequence[ProgramSummary] = ()) -> list[Group]:
    """The findings in groups by severity, category (functional, precision, performance), cost in the run, confidence,
    and number of places. Files that cannot be parsed come last within their severity. A group begins with the finding
    whose place matters most to the `programs`."""
    groups: dict[tuple[str, str], list[Finding]] = defaultdict(list)
    for finding in findings:
        groups[finding.code, finding.severity].append(finding)

    def order(group: Group) -> tuple[object, ...]:
        first = group.first
        rank, sure = -RANK[first.severity], -CONFIDENCES.index(first.confidence)
        cost = -max(finding.cost for finding in group.findings)
        return rank, first.topic == "parse", CATEGORIES.index(first.category), cost, sure, -group.places, first.code

    places = PlaceOrder(programs)
    return sorted((_begun(group, places) for group in groups.values()), key=order)


def _begun(group: list[Finding], places: PlaceOrder) -> Group:
    first = min(range(len(group)), key=lambda number: places.key(group[number]))
    return Group([group[first], *group[:first], *group[first + 1 :]])


def by_priority(findings: Sequence[Finding], programs: Sequence[ProgramSummary] = ()) -> list[Group]:
    """The groups in the order in which an engineer works: what keeps the `programs` from the NPU, then what stops
    them, then what makes results wrong, then speed and the rest; notes and what takes part in no training last. Of
    equals, what is about the main program comes first."""
    keeping = keeping_from_npu(programs, findings)
    places = PlaceOrder(programs)

    def order(group: Group) -> tuple[object, ...]:
        first = group.first
        later = meaning(first) in ("slows", "none")
        note, unread = first.severity == "note", first.topic == "parse"
        apart = first.distance >= APART or (unread and first.severity != "error")  # nothing is known to need the file
        rank = -RANK[first.severity]
        return first.code not in keeping, note or apart, later, rank, unread, places.program(first)

    return sorted(grouped(findings, programs), key=order)


def first_steps(
    findings: Sequence[Finding], limit: int = FIRST_STEPS, programs: Sequence[ProgramSummary] = ()
) -> list[Group]:
    """What to do first, one group of findings for each check."""
    steps: dict[str, Group] = {}
    for group in by_priority(findings, programs):
        steps.setdefault(group.first.code, group)
    return list(steps.values())[:limit]


def to_do(result: RunResult, shown: Sequence[Finding]) -> list[Finding]:
    """The findings that there is something to do about first: those that a report shows, and those that keep a program
    from the NPU even if it hides them."""
    keeping = keeping_from_npu(result.programs, result.findings)
    hidden = set(map(id, result.findings)) - set(map(id, shown))
    return [*shown, *(finding for finding in result.findings if id(finding) in hidden and finding.code in keeping)]
