"""Findings in groups for reports to people: one group for each check, most important first."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import msgspec

from npulint.judge.evaluate.places import covered, worded
from npulint.judge.findings import CONFIDENCES, Finding
from npulint.judge.settings import RANK

CATEGORIES = ("functional", "precision", "performance", "hygiene")


class Group(msgspec.Struct, frozen=True):
    """The findings of one check with one severity, in the order of the report."""

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


def grouped(findings: Sequence[Finding]) -> list[Group]:
    """The findings in groups by severity, category (functional, precision, performance), cost in the run, confidence,
    and number of places. Files that cannot be parsed come last within their severity."""
    groups: dict[tuple[str, str], list[Finding]] = defaultdict(list)
    for finding in findings:
        groups[finding.code, finding.severity].append(finding)

    def order(group: list[Finding]) -> tuple[object, ...]:
        one = group[0]
        rank, sure = -RANK[one.severity], -CONFIDENCES.index(one.confidence)
        cost = -max(finding.cost for finding in group)
        places = -sum(len(covered(finding)) for finding in group)
        return rank, one.topic == "parse", CATEGORIES.index(one.category), cost, sure, places, one.code

    return [Group(group) for group in sorted(groups.values(), key=order)]
