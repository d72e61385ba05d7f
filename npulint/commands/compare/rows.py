"""Compared values as rows of the pre-tuning checklist."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence

from npulint.commands.compare.evidence import PartEvidence
from npulint.facts.comparison.difference import Difference, SideValue
from npulint.facts.model import Span
from npulint.facts.recipe import ITEM_OF
from npulint.judge.findings import (
    ChecklistItem,
    ComparedItem,
    ComparedPart,
    ComparedRow,
    ComparedSide,
    Finding,
    Related,
)

STATUSES = {"passed": "consistent", "failed": "differs", "unknown": "unknown", "unused": "unused"}
"""Item statuses, and what they are called in a comparison."""
_COUNTED = frozenset(("layer", "operation", "transform", "arithmetic", "setting", "initialisation"))
_NOTED = "note"

FindingPlace = tuple[str, Span]
"""The place of a finding: path and span."""


def items_of(
    answers: Sequence[ChecklistItem],
    differences: Sequence[Difference],
    findings: Sequence[Finding],
    parts: Sequence[PartEvidence] = (),
) -> tuple[ComparedItem, ...]:
    """The checklist items with their rows. A difference without a finding (it may be suppressed) does not count as a
    difference."""
    by_place: dict[FindingPlace, list[Finding]] = {}
    for finding in findings:
        by_place.setdefault((finding.path, finding.span), []).append(finding)
    rows: dict[str, list[ComparedRow]] = {}
    same: dict[str, int] = {}
    items = {failure.code: answer.item for answer in answers for failure in answer.failures}
    for difference in differences:
        item: str = ITEM_OF[difference.part]
        if difference.change == "none":
            row = _equal(difference)
            same[item] = same.get(item, 0) + 1
        else:
            item, row = _differing(difference, by_place, items)
        if row is not None:
            rows.setdefault(item, []).append(row)
    live = {(one.code, one.path, one.span) for one in findings}
    seen: dict[str, list[ComparedPart]] = {}
    for part in parts:
        own = seen.setdefault(part.item, [])
        own.append(ComparedPart(part.part, part.answer, _side(part.reference), _side(part.migrated)))
    return tuple(
        _item(answer, rows.get(answer.item, []), same.get(answer.item, 0), live, tuple(seen.get(answer.item, ())))
        for answer in answers
    )


def _item(
    answer: ChecklistItem,
    rows: list[ComparedRow],
    same: int,
    live: Container[tuple[str, str, Span]],
    parts: tuple[ComparedPart, ...],
) -> ComparedItem:
    failures = tuple(failure for failure in answer.failures if (failure.code, failure.path, failure.span) in live)
    differs = failures or any(row.answer == "differs" for row in rows)
    status = "differs" if differs else STATUSES[answer.status]
    look = answer.look if status == "unknown" else ""
    return ComparedItem(answer.item, answer.title, status, tuple(rows), look, failures, same, parts)


def _equal(difference: Difference) -> ComparedRow | None:
    return (
        None
        if difference.part in _COUNTED
        else ComparedRow(difference.part, _what(difference), "same", *_sides(difference))
    )


def _differing(
    difference: Difference, findings: Mapping[FindingPlace, Iterable[Finding]], items: Mapping[str, str]
) -> tuple[str, ComparedRow | None]:
    """The row of a reported difference and the name of its item; None for one without a finding."""
    item = ITEM_OF[difference.part]
    place = difference.place
    reported = list(findings.get((place.path, place.span), ())) if place is not None else []
    finding = _reporting_finding(difference, reported, items)
    if finding is None:
        return item, None
    answer = _NOTED if finding.severity == _NOTED else "differs"
    near = _side(difference.near) if difference.migrated is None else None
    also = tuple((_side(left), _side(right)) for left, right in difference.also)
    row = ComparedRow(
        difference.part, _what(difference), answer, *_sides(difference), finding.code, near, difference.effect, also
    )
    return items.get(finding.code, item) if answer == "differs" else item, row


def _reporting_finding(difference: Difference, reported: Sequence[Finding], items: Mapping[str, str]) -> Finding | None:
    """The finding that reports a difference: one that names it, else one that makes its item differ, else a note."""
    important = [finding for finding in reported if finding.severity != _NOTED]
    named = [finding for finding in important if f"`{_what(difference)}`" in finding.message]
    own = [finding for finding in important if items.get(finding.code) == ITEM_OF[difference.part]]
    notes = [finding for finding in reported if finding.severity == _NOTED]
    both = [finding for finding in named if finding in own]
    return next(iter((*both, *named, *own, *notes)), None)


def _what(difference: Difference) -> str:
    return f"{difference.what}({difference.argument})" if difference.argument else difference.what


def _sides(difference: Difference) -> tuple[ComparedSide | None, ComparedSide | None]:
    return _side(difference.reference), _side(difference.migrated)


def _side(mark: SideValue | None) -> ComparedSide | None:
    if mark is None:
        return None
    way = tuple(Related(step.path, step.span, step.name) for step in mark.provenance)
    return ComparedSide(mark.text, mark.path, mark.span, way)
