"""Findings in files that take no part in the training: one for each check and role of files, mostly a note."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from npulint.facts.model import Fact
from npulint.facts.roles import Role
from npulint.judge.catalogue.check import Check
from npulint.judge.evaluate.distance import APART
from npulint.judge.evaluate.places import covering
from npulint.judge.findings import Finding, Fix, Related


class Demoted(msgspec.Struct, frozen=True):
    """A finding of one program in files of a `role`, with the facts that it covers."""

    check: Check
    role: Role
    finding: Finding
    facts: list[Fact]


def grouped(demoted: Iterable[Demoted]) -> list[Finding]:
    """One finding for each check and role: the first one, with the places of the others as related locations, and
    without automatic fixes where there are others."""
    groups: dict[tuple[str, Role], list[Demoted]] = {}
    for demotion in demoted:
        groups.setdefault((demotion.check.code, demotion.role), []).append(demotion)
    return [_united(group) for group in groups.values()]


def _united(group: list[Demoted]) -> Finding:
    first = msgspec.structs.replace(group[0].finding, distance=group[0].finding.distance | APART)
    facts = {(fact.path, fact.span): fact for demoted in group for fact in demoted.facts}
    own = facts.pop((first.path, first.span), group[0].facts[0])
    if len(group) == 1 or not facts:
        return first
    places = [Related(fact.path, fact.span, fact.name) for fact in (own, *facts.values())]
    covered = {(place.path, place.span) for place in places}
    listed = {(related.path, related.span): related for demoted in group for related in demoted.finding.related}
    more = tuple(related for place, related in listed.items() if place not in covered)
    plain = msgspec.structs.replace(first, related=more, places=1, fix=Fix(first.fix.text))
    return covering(plain, places)
