"""Labels that tell units apart whose code is the same: by what they call, what calls them and what they stand in."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from npulint.compare.features import Unit, digest
from npulint.compare.likeness import Likeness

_ROUNDS = 3


def labels(left: Sequence[Unit], right: Sequence[Unit], likeness: Likeness) -> list[tuple[list[int], list[int]]]:
    """A label for each unit of both sides, none of which depends on names: first by their code alone, then, level by
    level, by the labels that the units around them have on the level before. Equal labels mean the same on both sides."""
    numbers: dict[Hashable, int] = {}
    sides = [_Neighbours(units) for units in (left, right)]
    levels = [[[numbers.setdefault(_code(unit, likeness), len(numbers)) for unit in units] for units in (left, right)]]
    for _ in range(_ROUNDS):
        before = levels[-1]
        levels.append(
            [
                [numbers.setdefault(side.key(number, old), len(numbers)) for number in range(len(old))]
                for side, old in zip(sides, before, strict=True)
            ]
        )
    return [(ours, theirs) for ours, theirs in levels]


def _code(unit: Unit, likeness: Likeness) -> Hashable:
    if unit.kind == "class":
        return "class", tuple(sorted(likeness.frame(unit).items()))
    return unit.kind, digest(unit)


class _Neighbours:
    """What the units of one side call, hold, and are called by."""

    def __init__(self, units: Sequence[Unit]) -> None:
        spots = {unit.spot: unit.number for unit in units}
        self.units = units
        self.called = [[spots[c[3]] for c in unit.calls if c[3] in spots] for unit in units]
        self.callers: list[list[int]] = [[] for _ in units]
        self.inner: list[list[int]] = [[] for _ in units]
        for number, called in enumerate(self.called):
            for target in called:
                self.callers[target].append(number)
        for unit in units:
            if unit.parent >= 0 and units[unit.parent].kind != "module":
                self.inner[unit.parent].append(unit.number)

    def key(self, number: int, old: list[int]) -> Hashable:
        """What tells one unit from others, by the labels of the level before."""
        parent = self.units[number].parent
        around = old[parent] if parent >= 0 and self.units[parent].kind != "module" else -1
        called = tuple([old[target] for target in self.called[number]])
        callers = tuple(sorted([old[caller] for caller in self.callers[number]]))
        return old[number], around, called, callers, tuple(sorted([old[inner] for inner in self.inner[number]]))
