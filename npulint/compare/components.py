"""Compares component lists of configurations (``{type: RandomFlip, prob: 0.5}``): components that only one side's list
has, and lists in a different order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from npulint.compare.difference import Difference, SideValue
from npulint.facts.recipe import TrainingSetting

_TYPE = ".type"


def of_components(reference: Sequence[TrainingSetting], migrated: Sequence[TrainingSetting]) -> Iterator[Difference]:
    """The differences between component lists that both sides have."""
    left, right = _lists(reference), _lists(migrated)
    for name, members in left.items():
        others = right.get(name)
        if others is None:
            continue
        for change, own, theirs in (("removed", members, others), ("added", others, members)):
            for what, one in own.items():
                if what not in theirs:
                    mark = _mark(one)
                    gone, new = (mark, None) if change == "removed" else (None, mark)
                    yield Difference(one.part, change, what, "", gone, new, named=True)
        yield from _reordered(members, others)


def _reordered(members: dict[str, TrainingSetting], others: dict[str, TrainingSetting]) -> Iterator[Difference]:
    first = [what for what in members if what in others]
    second = [what for what in others if what in members]
    if first != second and members[first[0]].part == "transform":
        at = next(i for i, what in enumerate(first) if what != second[i])
        one, other = members[first[at]], others[first[at]]
        yield Difference(one.part, "reordered", first[at], "", _mark(one), _mark(other), named=True)


def _lists(settings: Sequence[TrainingSetting]) -> dict[str, dict[str, TrainingSetting]]:
    """The members of each list by name; a list is identified by the name of the setting that holds it."""
    found: dict[str, dict[str, TrainingSetting]] = {}
    for one in settings:
        if one.what.endswith(_TYPE) and one.traced.known:
            name, _, member = one.what.removesuffix(_TYPE).rpartition(".")
            if member.partition("#")[0] == one.traced.value:
                found.setdefault(name, {})[member] = one
    return found


def _mark(one: TrainingSetting) -> SideValue:
    way = one.traced.provenance
    return SideValue(one.traced.text, way[0].path if way else one.path, way[0].span if way else one.span, way)
