"""Labels that tell units apart whose code is the same: by what they call, what calls them and what they stand in."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from npulint.compare.matching.features import Unit, digest
from npulint.compare.matching.similarity import Similarity

_DOWNWARDS = 2  # levels that look at what is called
_UPWARDS = 2  # levels that look at the callers as well

Labels = list[int]


def labels(left: Sequence[Unit], right: Sequence[Unit], likeness: Similarity) -> list[tuple[Labels, Labels]]:
    """A label for each unit of both sides, whatever its name. The first level looks at the code alone, each further one
    at the labels that the units around have on the level before: those that are called and held, later the callers
    and holders too. Equal labels of a level mean the same on both sides."""
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
    """What the units of one side call and hold, and what calls them."""

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
        """What tells each unit from others, by the labels of the level before."""
        found: list[Hashable] = []
        for number, label in enumerate(old):
            called = tuple([old[target] for target in self.called[number]])
            held = tuple(sorted([old[inner] for inner in self.held[number]]))
            around = self.around[number]
            callers = tuple(sorted([old[caller] for caller in self.callers[number]])) if upwards else ()
            found.append((label, called, held, callers, old[around] if upwards and around >= 0 else -1))
        return found
