"""Helpers for comparison reports: counts of statuses, places of values, short paths."""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Iterable, Sequence

import msgspec

from npulint.core.texts import count, say
from npulint.judge.findings import (
    ComparedPair,
    ComparedRow,
    ComparedSide,
    Comparison,
    Finding,
    Related,
)
from npulint.report.terminal import leading

SIDES = ("reference", "migrated")
STATUSES = ("consistent", "differs", "unused", "unknown")
ANSWERS = ("differs", "note", "unknown", "same")
_NAMED = 5  # programs without a counterpart that are listed


class ShortSidePaths:
    """Shortens the paths of each side by their common folder, because rows are narrow: the folder of all entry scripts
    or, for a `pair`, of all paths in it."""

    def __init__(self, comparison: Comparison, pair: ComparedPair | None = None) -> None:
        self._folders = {}
        for side in SIDES:
            entries = [getattr(compared_pair, side) for compared_pair in comparison.pairs]
            within = [*entries, *getattr(comparison, f"only_{side}")] if pair is None else _paths_of(pair, side)
            self._folders[side] = _shared(_folder(getattr(comparison, side), entries), within)

    def short(self, path: str, side: str) -> str:
        """The path relative to the common folder of its `side` (reference or migrated); unchanged when outside."""
        root = self._folders[side]
        return leading(path.removeprefix(f"{root}/") if root else path)


def _folder(root: str, entries: Sequence[str]) -> str:
    """The folder of a side, also when its root is an entry script."""
    plain = posixpath.normpath(root.replace("\\", "/")) if root else ""
    if plain in entries:
        plain = posixpath.dirname(plain)
    return "" if plain == "." else plain.rstrip("/")


def _paths_of(pair: ComparedPair, side: str) -> list[str]:
    """The paths of one side in a pair."""
    rows = [getattr(row, side) for item in pair.items for row in item.rows]
    of_rows = [place.path for row in rows if row is not None for place in places_of(row)]
    return [path for path in (getattr(pair, side), getattr(pair, f"{side}_launcher"), *of_rows) if path]


def _shared(root: str, within: Sequence[str]) -> str:
    """The deepest folder below `root` that contains all paths of `within` below it."""
    below = (
        [path for path in within if path.startswith(f"{root}/")] if root else [p for p in within if p[:1] not in "/."]
    )
    folders = [path.split("/")[:-1] for path in below]
    if not folders:
        return root
    shared = posixpath.commonprefix([min(folders), max(folders)])
    return "/".join(shared)


def items_of(pairs: Iterable[ComparedPair]) -> Counter[str]:
    """The number of items by status."""
    return Counter(item.status for pair in pairs for item in pair.items)


def differing_first(pairs: Iterable[ComparedPair]) -> list[ComparedPair]:
    """The pairs, those with launchers first, then by the number of differing items, stable."""
    return sorted(pairs, key=lambda pair: (not pair.migrated_launcher, -items_of([pair])["differs"]))


def tally(pair: ComparedPair, lang: str) -> str:
    """How many items are consistent, differ, are not used, or are undetermined."""
    statuses = items_of([pair])
    key = "compare.counts.unused" if statuses["unused"] else "compare.counts"
    return say(lang, key, **{status: statuses[status] for status in STATUSES if statuses[status] or status != "unused"})


def places_of(side: ComparedSide) -> list[Related]:
    """The places through which a value is passed, beginning with where it is written."""
    stations = list(side.stations)
    if side.path and not (stations and (stations[0].path, stations[0].span.line) == (side.path, side.span.line)):
        stations.insert(0, Related(side.path, side.span, ""))
    return stations


def paths(comparison: Comparison) -> set[str]:
    """All paths in a comparison."""
    rows = [row for pair in comparison.pairs for item in pair.items for row in item.rows]
    ways = [way for row in rows for way in ((row.reference, row.migrated), *row.also)]
    sides = [side for way in ways for side in way if side is not None]
    mentioned = {place.path for side in sides for place in places_of(side)}
    mentioned |= {failure.path for pair in comparison.pairs for item in pair.items for failure in item.failures}
    return mentioned | {entry for pair in comparison.pairs for entry in (pair.reference, pair.migrated)}


def alone(comparison: Comparison, lang: str) -> list[str]:
    """A sentence about the training programs of each side without a counterpart."""
    roots = ShortSidePaths(comparison)
    sentences = []
    for side, entries in (("reference", comparison.only_reference), ("migrated", comparison.only_migrated)):
        if entries:
            names = [roots.short(entry, side) for entry in entries[:_NAMED]]
            if len(entries) > _NAMED:
                names.append(count(lang, "compare.only.more", len(entries) - _NAMED))
            listed = say(lang, "list.and").join(names)
            sentences.append(count(lang, f"compare.only.{side}", len(entries), list=listed))
    return sentences


def headline(comparison: Comparison, read: int, lang: str) -> str:
    """The last line of a comparison without findings."""
    if of_runs_alone(comparison) and comparison.runs is not None:
        from npulint.report.compared.runs import headline as of_runs  # most comparisons have none

        return of_runs(comparison.runs, lang)
    if comparison.change is not None and not comparison.pairs:
        return say(lang, "change.alone.same")
    if not comparison.pairs:
        return say(lang, "compare.pairs.none")
    statuses = items_of(comparison.pairs)
    if statuses["differs"]:
        return count(lang, "compare.clean.items", statuses["differs"])
    asides = [count(lang, "compare.clean.unknown", statuses["unknown"])] if statuses["unknown"] else []
    return say(lang, "list.clause").join([count(lang, "compare.clean", read), *asides])


def consistent(comparison: Comparison) -> bool:
    """Whether something was compared and nothing differs."""
    if comparison.runs is not None and (comparison.runs.differs or not comparison.runs.curves):
        return False
    something = comparison.pairs or comparison.change or comparison.runs
    return bool(something) and not items_of(comparison.pairs)["differs"]


def of_runs_alone(comparison: Comparison) -> bool:
    """Whether two runs were compared without code."""
    runs = comparison.runs
    return runs is not None and not comparison.pairs and comparison.reference == runs.reference


def with_other_sides(findings: Sequence[Finding], comparison: Comparison) -> list[Finding]:
    """The findings; those about a compared row get the other side and the places of its value as related locations."""
    rows: dict[tuple[str, str, int], list[ComparedRow]] = {}
    for row in (row for pair in comparison.pairs for item in pair.items for row in item.rows if row.code):
        for side in (row.reference, row.migrated):
            for place in places_of(side)[:1] if side is not None else ():
                rows.setdefault((row.code, place.path, place.span.line), []).append(row)
    return [_related(finding, rows.get((finding.code, finding.path, finding.span.line), ())) for finding in findings]


def _related(finding: Finding, rows: Sequence[ComparedRow]) -> Finding:
    known_places = {(finding.path, finding.span.line), *((place.path, place.span.line) for place in finding.related)}
    more: list[Related] = []
    for row in rows:
        for side in (row.reference, row.migrated):
            for place in places_of(side) if side is not None else ():
                if (place.path, place.span.line) not in known_places:
                    known_places.add((place.path, place.span.line))
                    text = place.message or f"{row.what} {side.text if side is not None else ''}".strip()
                    more.append(Related(place.path, place.span, text))
    return msgspec.structs.replace(finding, related=(*finding.related, *more)) if more else finding
