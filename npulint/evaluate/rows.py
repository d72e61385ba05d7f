"""What was compared, as the rows of the pre-tuning checklist."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence

from npulint.compare.difference import Difference, Mark
from npulint.facts.model import Span
from npulint.facts.recipe import ITEM_OF
from npulint.findings import ChecklistItem, ComparedItem, ComparedRow, ComparedSide, Finding, Related

STATUSES = {"passed": "consistent", "failed": "differs", "unknown": "unknown"}
_COUNTED = frozenset(("layer", "operation", "transform", "arithmetic", "setting", "initialisation"))
_NOTED = "note"

Spot = tuple[str, Span]
"""Where a finding stands: path and span."""


def items_of(
    answers: Sequence[ChecklistItem], found: Sequence[Difference], findings: Sequence[Finding]
) -> tuple[ComparedItem, ...]:
    """The items with their rows. A difference that none of the `findings` speaks of (they may be silenced) is no
    difference to people, and fails nothing."""
    by_place: dict[Spot, list[Finding]] = {}
    for one in findings:
        by_place.setdefault((one.path, one.span), []).append(one)
    rows: dict[str, list[ComparedRow]] = {}
    same: dict[str, int] = {}
    for difference in found:
        item = ITEM_OF[difference.part]
        if difference.change == "none":
            same[item] = same.get(item, 0) + 1
        row = _row(difference, by_place)
        if row is not None:
            rows.setdefault(item, []).append(row)
    live = {(one.code, one.path, one.span) for one in findings}
    return tuple(_item(answer, rows.get(answer.item, []), same.get(answer.item, 0), live) for answer in answers)


def _item(
    answer: ChecklistItem, rows: list[ComparedRow], same: int, live: Container[tuple[str, str, Span]]
) -> ComparedItem:
    failures = tuple(one for one in answer.failures if (one.code, one.path, one.span) in live)
    differs = failures or any(row.answer == "differs" for row in rows)
    status = "differs" if differs else STATUSES[answer.status]
    look = answer.look if status == "unknown" else ""
    return ComparedItem(answer.item, answer.title, status, tuple(rows), look, failures, same)


def _row(one: Difference, findings: Mapping[Spot, Iterable[Finding]]) -> ComparedRow | None:
    what = f"{one.what}({one.argument})" if one.argument else one.what
    sides = (_side(one.reference), _side(one.migrated))
    if one.change == "none":
        return None if one.part in _COUNTED else ComparedRow(one.part, what, "same", *sides)
    place = one.place
    spoken = list(findings.get((place.path, place.span), ())) if place is not None else []
    if not spoken:
        return None
    grave = [finding for finding in spoken if finding.severity != _NOTED]
    first = (grave or spoken)[0]
    return ComparedRow(one.part, what, "differs" if grave else _NOTED, *sides, first.code)


def _side(mark: Mark | None) -> ComparedSide | None:
    if mark is None:
        return None
    way = tuple(Related(station.path, station.span, station.name) for station in mark.stations)
    return ComparedSide(mark.text, mark.path, mark.span, way)
