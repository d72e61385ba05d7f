"""The places of grouped findings: splitting a finding by its places, and moving it to one of them.

A grouped finding covers several places: its own and the first related locations. A comment or the baseline may accept
some of them; what remains is a finding at the first of the others. The finding of a check without `once` has one place.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from re import Match

import msgspec

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.model import Span
from npulint.judge.catalogue.forms import PLURALS, plural
from npulint.judge.evaluate.applicability import applicability
from npulint.judge.findings import Finding, Fix, Related

_OPEN = lazy_compile(r"\{(count|files|name)(?::([a-z]+))?\}")

Place = tuple[str, Span]
"""The path and span of a place."""


def covered(finding: Finding) -> list[Related]:
    """All places that a finding covers, its own first; only its own where the order of the others is not known."""
    own = Related(finding.path, finding.span, finding.about)
    return [own, *finding.related[: finding.places - 1]] if finding.wording else [own]


def further(finding: Finding, shown: int) -> int:
    """How many places are left after the finding's own and its first `shown` related locations. Of a finding that
    covers several, those count that its message speaks of, not what is only shown to explain it."""
    number = finding.places - 1 if finding.places > 1 else len(finding.related)
    return max(0, number - shown)


def place_of(located: Related | Finding) -> Place:
    """The path and span of a finding or related location."""
    return located.path, located.span


def narrowed(finding: Finding, places: Collection[Place]) -> Finding:
    """The part of a finding that covers these places only, at the first of them, with their automatic fixes; the
    finding itself if it covers no others."""
    kept = [place for place in covered(finding) if place_of(place) in places]
    if len(kept) == len(covered(finding)) or not kept:
        return finding
    lines = {(place.path, place.span.line) for place in kept}
    changes = tuple(
        change for change in finding.fix.changes if any((step.path, step.span.line) in lines for step in change.steps)
    )
    fix = Fix(finding.fix.text, applicability(changes), changes=changes, because=finding.fix.because)
    return msgspec.structs.replace(covering(finding, kept), fix=fix)


def moved_to(finding: Finding, first: Place) -> Finding:
    """The finding at another one of its places."""
    places = covered(finding)
    return covering(finding, sorted(places, key=lambda place: place_of(place) != first))


def covering(finding: Finding, places: Sequence[Related]) -> Finding:
    """The finding at the first of these places, which covers all of them; other related locations stay."""
    first, *others = places
    return msgspec.structs.replace(
        finding,
        path=first.path,
        span=first.span,
        about=first.message,
        message=worded(finding.wording, places) or finding.message,
        related=(*others, *finding.related[finding.places - 1 :]),
        places=len(places),
    )


def worded(wording: str, places: Iterable[Related]) -> str:
    """A message in which what depends on places is left open (``{name}: {count:places} in {files:files}``), for these
    places: the name of what is at the first one, and their numbers."""
    every = {place_of(place): place.message for place in places}
    if not every:
        return wording
    numbers = {"count": len(every), "files": len({path for path, _ in every})}

    def value(match: Match[str]) -> str:
        name, form = match[1], match[2] or ""
        if name == "name":
            return next(iter(every.values()))
        return plural(numbers[name], form) if form in PLURALS else str(numbers[name])

    return _OPEN.sub(value, wording)
