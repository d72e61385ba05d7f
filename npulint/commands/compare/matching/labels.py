"""Labels that distinguish units with equal code: by callees, callers and enclosing units (Weisfeiler-Lehman style)."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from npulint.commands.compare.matching.features import Unit, digest
from npulint.commands.compare.matching.similarity import Similarity

_DOWNWARDS = 2  # levels that use callees
_UPWARDS = 2  # levels that use callers as well

Labels = list[int]


def labels(left: Sequence[Unit], right: Sequence[Unit], likeness: Similarity) -> list[tuple[Labels, Labels]]:
    """A label per unit of both sides for each level, independent of names. The first level depends on the code alone,
    each further one on the previous labels of callees and nested units, later also of callers and enclosing units.
    Labels of one level are comparable across both sides."""
    numbers: dict[Hashable, int] = {}
    sides = (_Neighbours(left), _Neighbours(right))
    levels = [
        tuple([numbers.setdefault(_code(unit, likeness), len(numbers)) for unit in units] for units in (left, right))
    ]
    for level in range(_DOWNWARDS + _UPWARDS):
        upwards = level >= _DOWNWARDS
        keys = [side.keys(old, upwards) for side, old in zip(sides, levels[-1], strict=True)]
        levels.append(tuple([numbers.setdefault(key, len(numbers)) for key in found] for found in keys))
    return [(ours, theirs) for ours, theirs in levels]


def _code(unit: Unit, likeness: Similarity) -> Hashable:
    if unit.kind == "class":
        return "class", tuple(sorted(likeness.frame(unit).items()))
    return unit.kind, digest(unit)


class _Neighbours:
    """Callees, nested units and callers of each unit of one side."""

    def __init__(self, units: Sequence[Unit]) -> None:
        spots = {unit.spot: unit.number for unit in units}
        self.called = [[spots[call[3]] for call in unit.calls if call[3] in spots] for unit in units]
        self.callers: list[list[int]] = [[] for _ in units]
        self.held: list[list[int]] = [[] for _ in units]
        self.around = [-1 if unit.parent < 0 or units[unit.parent].kind == "module" else unit.parent for unit in units]
        for number, called in enumerate(self.called):
            for target in called:
                self.callers[target].append(number)
        for number, around in enumerate(self.around):
            if around >= 0:
                self.held[around].append(number)

    def keys(self, old: Labels, upwards: bool) -> list[Hashable]:
        """A key for each unit from the labels of the previous level."""
        found: list[Hashable] = []
        for number, label in enumerate(old):
            called = tuple([old[target] for target in self.called[number]])
            held = tuple(sorted([old[inner] for inner in self.held[number]]))
            around = self.around[number]
            callers = tuple(sorted([old[caller] for caller in self.callers[number]])) if upwards else ()
            found.append((label, called, held, callers, old[around] if upwards and around >= 0 else -1))
        return found
