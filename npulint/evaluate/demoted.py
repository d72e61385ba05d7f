"""Findings in files that take no part in the training: notes, one for each check and role of files."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from npulint.assemble.file_role import Role
from npulint.catalogue.check import Check
from npulint.evaluate.captures import fill
from npulint.facts.model import Fact
from npulint.findings import Finding, Fix, Related


class Demoted(msgspec.Struct, frozen=True):
    """A finding of one program in files of a `role`, with the facts that it covers."""

    check: Check
    role: Role
    finding: Finding
    facts: list[Fact]


def grouped(demoted: Iterable[Demoted], lang: str) -> list[Finding]:
    """One finding for each check and role: the first one, with the places of the others as related locations, and
    without automatic fixes where there are others."""
    groups: dict[tuple[str, Role], list[Demoted]] = {}
    for one in demoted:
        groups.setdefault((one.check.code, one.role), []).append(one)
    return [_united(group, lang) for group in groups.values()]


def _united(group: list[Demoted], lang: str) -> Finding:
    places = {(fact.path, fact.span): fact for one in group for fact in one.facts}
    first = group[0].finding
    own = (first.path, first.span)
    others = tuple(Related(f.path, f.span, f.name) for place, f in places.items() if place != own)
    if len(group) == 1 or not others:
        return first
    check, fact = group[0].check, group[0].facts[0]
    text = check.text.get(lang) or check.text["en"]
    counts = {"count": str(len(places)), "files": str(len({path for path, _ in places}))} if check.once else {}
    return msgspec.structs.replace(
        first,
        message=fill(text.message, fact, counts),
        related=others,
        places=len(places),
        fix=Fix(first.fix.text),
    )
