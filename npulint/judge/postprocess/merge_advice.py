"""Merges advice that one change of habit answers: findings of one check all over a project with the same fix.

What decides whether the training runs, or what it computes, is told of each program: somebody has to act in each. A
note, or advice about speed or tidiness, is one decision for the whole project, however many places show it. A place
that a run or graph shows stays a finding of its own, with what was measured there.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import msgspec

from npulint.judge.catalogue.check import COMPARE, GRAPH, MACHINE, RUN, Catalogue
from npulint.judge.evaluate.applicability import applicability
from npulint.judge.evaluate.places import Place, covered, covering, place_of, worded
from npulint.judge.findings import Finding, Fix, FixEdit, ProgramSummary, Related
from npulint.judge.postprocess.merge_programs import change_key
from npulint.judge.priorities import PlaceOrder

_MERELY_ADVISED = frozenset(("performance", "hygiene"))
_OF_ONE_THING = frozenset((COMPARE, GRAPH, RUN, MACHINE))  # families whose findings are about one graph, run or pair


def merge_advice(
    findings: Sequence[Finding], catalogue: Catalogue, programs: Sequence[ProgramSummary] = ()
) -> list[Finding]:
    """The findings with advice merged that one check gives all over a project, if its fix reads the same: that whose
    place matters most to the `programs` stays, with the places, fixes and programs of all."""
    codes = catalogue.once(
        "advice", lambda: frozenset(c.code for c in catalogue.checks if c.family not in _OF_ONE_THING)
    )
    places = PlaceOrder(programs)
    groups: dict[tuple[str, ...], list[Finding]] = {}
    for finding in findings:
        if _is_advice(finding, codes):
            groups.setdefault(_change(finding), []).append(finding)
    merged = {}
    for group in groups.values():
        if len(group) > 1:
            group.sort(key=lambda finding: (*places.key(finding), place_of(finding)))
            merged[id(group[0])] = _merged(group)
    gone = {id(finding) for group in groups.values() for finding in group[1:]}
    return [merged.get(id(finding), finding) for finding in findings if id(finding) not in gone]


def _is_advice(finding: Finding, codes: Collection[str]) -> bool:
    """Whether a finding does not decide whether a program trains, and what it computes."""
    if finding.code not in codes or not finding.project or finding.artifact_location is not None:
        return False
    if not finding.wording:  # a run or graph says something of this very place, which holds of no other
        return False
    return finding.severity == "note" or (finding.severity == "warning" and finding.category in _MERELY_ADVISED)


def _change(finding: Finding) -> tuple[str, ...]:
    """What findings have in common that ask for one change."""
    return finding.project, finding.code, finding.severity, finding.confidence, finding.fix.text


def _merged(group: Sequence[Finding]) -> Finding:
    first = group[0]
    places: dict[Place, Related] = {}
    for place in (place for finding in group for place in covered(finding)):
        places.setdefault(place_of(place), place)
    more = {place_of(place): place for finding in group for place in finding.related[finding.places - 1 :]}
    related = tuple(place for key, place in more.items() if key not in places)
    programs = {program for finding in group for program in (finding.program, *finding.programs)} - {first.program}
    plain = msgspec.structs.replace(
        first,
        related=related,
        places=1,
        wording=_wording(first),
        fix=_fix(group),
        programs=tuple(sorted(programs)),
    )
    return covering(plain, list(places.values()))


def _wording(finding: Finding) -> str:
    """The message with what depends on places left open; the message itself where something was added to it."""
    return finding.wording if worded(finding.wording, covered(finding)) == finding.message else finding.message


def _fix(group: Sequence[Finding]) -> Fix:
    """The fixes of all places, but for those that one of the programs lacks, because they would break it."""
    text, because = group[0].fix.text, next((finding.fix.because for finding in group if finding.fix.because), "")
    offered = [(finding, {change_key(change): change for change in finding.fix.changes}) for finding in group]
    at = [({place_of(place) for place in covered(finding)}, changes) for finding, changes in offered]
    kept: dict[tuple[object, ...], FixEdit] = {}
    for changes in (changes for _, changes in offered):
        for key, change in changes.items():
            places = {(step.path, step.span) for step in change.steps}
            if all(key in others for about, others in at if not places.isdisjoint(about)):
                kept[key] = change
    changes_of_all = tuple(kept.values())
    return Fix(text, applicability(changes_of_all), changes=changes_of_all, because="" if kept else because)
