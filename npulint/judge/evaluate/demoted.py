"""Findings in files that take no part in the training: one for each check and role of files, mostly a note."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from npulint.facts.model import Fact
from npulint.facts.roles import Role
from npulint.judge.catalogue.check import Check
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
    for one in demoted:
        groups.setdefault((one.check.code, one.role), []).append(one)
    return [_united(group) for group in groups.values()]


def _united(group: list[Demoted]) -> Finding:
    first = group[0].finding
    facts = {(fact.path, fact.span): fact for one in group for fact in one.facts}
    own = facts.pop((first.path, first.span), group[0].facts[0])
    if len(group) == 1 or not facts:
        return first
    places = [Related(one.path, one.span, one.name) for one in (own, *facts.values())]
    known = {(one.path, one.span) for one in places}
    listed = {(one.path, one.span): one for demoted in group for one in demoted.finding.related}
    more = tuple(one for place, one in listed.items() if place not in known)
    plain = msgspec.structs.replace(first, related=more, places=1, fix=Fix(first.fix.text))
    return covering(plain, places)
