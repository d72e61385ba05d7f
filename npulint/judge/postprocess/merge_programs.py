"""Merges findings of several programs about the same places: a cause in modules that many entry scripts share."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import msgspec

from npulint.judge.evaluate.applicability import applicability
from npulint.judge.evaluate.places import covered, covering, place_of
from npulint.judge.findings import Finding, Fix, FixEdit, ProgramSummary, Related
from npulint.judge.priorities import PlaceOrder


def merge_programs(
    findings: Sequence[Finding], codes: Collection[str], programs: Sequence[ProgramSummary] = ()
) -> list[Finding]:
    """The findings with those of `codes` merged that one check has about several programs, if they share a place: that
    whose place matters most to the `programs` stays, with the places, fixes and programs of all."""
    several = [finding for finding in findings if finding.code in codes and finding.wording]
    groups = _connected(sorted(several, key=PlaceOrder(programs).key))
    firsts = {id(group[0]): group for group in groups if len(group) > 1}
    gone = {id(finding) for group in firsts.values() for finding in group[1:]}
    return [
        _merged(firsts[id(finding)]) if id(finding) in firsts else finding
        for finding in findings
        if id(finding) not in gone
    ]


def merge_project(findings: Sequence[Finding], codes: Collection[str]) -> list[Finding]:
    """The findings of one project with those of `codes` merged that one check has about the same name, at the place
    that matters most."""
    groups: dict[tuple[str, ...], list[Finding]] = {}
    for finding in findings:
        if finding.code in codes and finding.wording:
            groups.setdefault((finding.code, finding.severity, finding.confidence, finding.about), []).append(finding)
    firsts = {
        id(group[0]): sorted(group, key=lambda finding: (finding.distance, *place_of(finding)))
        for group in groups.values()
        if len(group) > 1
    }
    gone = {id(finding) for group in groups.values() for finding in group[1:]}
    return [
        _merged(firsts[id(finding)]) if id(finding) in firsts else finding
        for finding in findings
        if id(finding) not in gone
    ]


def _connected(findings: Sequence[Finding]) -> list[list[Finding]]:
    """The findings in groups that share places, directly or through others."""
    group_of: dict[tuple[object, ...], int] = {}  # by check and place
    parent = list(range(len(findings)))

    def root(group: int) -> int:
        while parent[group] != group:
            parent[group] = group = parent[parent[group]]
        return group

    for number, finding in enumerate(findings):
        for place in covered(finding):
            group = root(
                group_of.setdefault((finding.code, finding.severity, finding.confidence, *place_of(place)), number)
            )
            first, last = sorted((group, root(number)))
            parent[last] = first
    groups: dict[int, list[Finding]] = {}
    for number, finding in enumerate(findings):
        groups.setdefault(root(number), []).append(finding)
    return list(groups.values())


def _merged(group: Sequence[Finding]) -> Finding:
    first = group[0]
    places: dict[tuple[object, ...], Related] = {}
    for place in (place for finding in group for place in covered(finding)):
        places.setdefault(place_of(place), place)
    more = {place_of(place): place for finding in group for place in finding.related[finding.places - 1 :]}
    related = tuple(place for key, place in more.items() if key not in places)
    programs = tuple(sorted({finding.program for finding in group} - {first.program}))
    plain = msgspec.structs.replace(first, related=related, places=1, fix=_fix(group), programs=programs)
    return covering(plain, list(places.values()))


def _fix(group: Sequence[Finding]) -> Fix:
    """The fixes of all findings; none if a program lacks them, because they would break it."""
    text = group[0].fix.text
    because = next((finding.fix.because for finding in group if finding.fix.because), "")
    if not all(finding.fix.changes for finding in group):
        return Fix(text, because=because)
    changes = {change_key(change): change for finding in group for change in finding.fix.changes}
    return Fix(text, applicability(tuple(changes.values())), changes=tuple(changes.values()), because=because)


def change_key(change: FixEdit) -> tuple[object, ...]:
    """What is equal for equal changes."""
    steps = ((step.verb, step.path, step.span, *sorted(step.words.items())) for step in change.steps)
    return change.applicability, *steps
