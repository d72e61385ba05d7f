"""Differences as facts that checks query."""

from __future__ import annotations

from collections.abc import Iterable

from npulint.compare.difference import Difference, SideValue
from npulint.facts.model import Fact, GenericFact
from npulint.facts.recipe import ITEM_OF

NONE = "-"
"""The value of a side that lacks the thing."""


def difference_facts(found: Iterable[Difference]) -> list[Fact]:
    """One fact of the kind ``difference`` for each difference."""
    return [_difference(one) for one in found if one.change not in ("none", "unknown") and one.place is not None]


def _difference(one: Difference) -> Fact:
    place = one.place
    assert place is not None
    attrs = {
        "item": ITEM_OF[one.part],
        "change": one.change,
        "what": one.what,
        "argument": one.argument or NONE,
        "reference": _text(one.reference),
        "migrated": _text(one.migrated),
        "reference_place": _place(one.reference or (one.near if one.migrated is None else None)),
        "migrated_place": _place(one.migrated or one.near),
        "count": one.count,
        "certain": "yes" if one.certain else "no",
        "adapter": "yes" if one.adapter else "no",
        "function": one.function,
        "evaluates": "yes" if one.evaluates else "no",
        "told": one,
    }
    return GenericFact("difference", one.part, place.path, place.span, attrs)


def ingredient_facts(found: Iterable[Difference]) -> list[Fact]:
    """One fact of the kind ``ingredient`` for each side of each compared value."""
    facts: list[Fact] = []
    for one in found:
        for side, mark in (("reference", one.reference), ("migrated", one.migrated)):
            if mark is not None:
                attrs = {
                    "item": ITEM_OF[one.part],
                    "side": side,
                    "what": one.what,
                    "value": mark.text,
                    "known": "no" if one.change == "unknown" else "yes",
                    "same": {"none": "yes", "unknown": "unknown"}.get(one.change, "no"),
                }
                facts.append(GenericFact("ingredient", one.part, mark.path, mark.span, attrs))
    return facts


def _text(mark: SideValue | None) -> str:
    return NONE if mark is None or not mark.text else mark.text


def _place(mark: SideValue | None) -> str:
    return NONE if mark is None else f"{mark.path}:{mark.span.line}"
