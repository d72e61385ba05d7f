"""The pairs of units found so far, and the evidence they provide for others."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence

from npulint.commands.compare.matching.features import Unit
from npulint.commands.compare.matching.file_overlap import FileOverlap
from npulint.commands.compare.matching.similarity import Similarity

_SMALL = 3  # frame tokens; so little code may occur anywhere
_SAME_FILE = 0.3  # similarity of files that certainly belong together
_NAMESAKE = 0.3  # similarity of two functions that share more than the name

Edge = tuple[float, int, int]
"""The evidence for a pair, and the numbers of its units."""


class Pairing:
    """One-to-one pairs of units of two sides: `to` maps left numbers to right ones, `back` the reverse."""

    def __init__(self, left: Sequence[Unit], right: Sequence[Unit], likeness: Similarity, homes: FileOverlap) -> None:
        self.left = left
        self.right = right
        self.likeness = likeness
        self.homes = homes
        self.to: dict[int, int] = {}
        self.back: dict[int, int] = {}

    def pairs(self) -> Iterator[tuple[Unit, Unit]]:
        """The pairs in the order of the left side."""
        return ((self.left[one], self.right[self.to[one]]) for one in sorted(self.to))

    def free_left(self, kind: str) -> list[Unit]:
        """The unpaired units of the left side."""
        return [unit for unit in self.left if unit.kind == kind and unit.number not in self.to]

    def free_right(self, kind: str) -> list[Unit]:
        """The unpaired units of the right side."""
        return [unit for unit in self.right if unit.kind == kind and unit.number not in self.back]

    def pair(self, unit: Unit, other: Unit) -> None:
        self.to[unit.number] = other.number
        self.back[other.number] = unit.number

    def take(self, edges: Iterable[Edge]) -> None:
        """Pair units that are still free, strongest evidence first."""
        for _, one, other in sorted(edges, key=lambda edge: (-edge[0], edge[1], edge[2])):
            if one not in self.to and other not in self.back:
                self.to[one] = other
                self.back[other] = one

    def edge(self, unit: Unit, other: Unit) -> Edge:
        """The evidence for a pair: similarity, then name, enclosing units, and position in the file."""
        name = 0.5 * (unit.simple == other.simple) + 0.5 * (unit.name == other.name)
        far = abs(unit.number - other.number) / (len(self.left) + len(self.right) + 1)
        alike = self.likeness.of(unit, other) + 0.2 * self.likeness.wording(unit, other)
        return alike + 0.3 * name + 0.5 * self.nearness(unit, other) - 0.01 * far, unit.number, other.number

    def is_small(self, unit: Unit) -> bool:
        """Whether a unit is too small to be identified by its code."""
        return self.likeness.size(unit) <= _SMALL

    def nearness(self, unit: Unit, other: Unit) -> float:
        """From 0 to 1: how well the enclosing units and files of two units correspond."""
        around, theirs = surroundings(unit, self.left), surroundings(other, self.right)
        if around is not None and theirs is not None and around.number in self.to:
            return 1.0 if self.to[around.number] == theirs.number else 0.0
        bonus = 0.25 if (around is None) == (theirs is None) else 0.0
        if self.homes.partners.get(unit.path) == other.path:
            return 1.0 if around is None and theirs is None else 0.5 + bonus
        return 0.5 * self.homes.of(unit.path, other.path) + bonus

    def together(self, unit: Unit, other: Unit) -> bool:
        """Whether the enclosing units of two units of the same name are paired."""
        around, theirs = surroundings(unit, self.left), surroundings(other, self.right)
        if around is not None and around.number in self.to:
            return theirs is not None and self.to[around.number] == theirs.number
        return unit.name == other.name and self.homes.partners.get(unit.path) == other.path

    def doubt(self, unit: Unit, other: Unit) -> float:
        """The minimum similarity required of two units of the same name; lower the more certain it is that their files
        match."""
        inside = surroundings(unit, self.left) is not None
        return 0.0 if inside or self.homes.of(unit.path, other.path) >= _SAME_FILE else _NAMESAKE


def surroundings(unit: Unit, units: Sequence[Unit]) -> Unit | None:
    """The enclosing class or function of a unit."""
    around = units[unit.parent] if unit.parent >= 0 else None
    return around if around is not None and around.kind != "module" else None


def grouped(units: Iterable[Unit], key: Callable[[Unit], Hashable]) -> dict[Hashable, list[Unit]]:
    found: dict[Hashable, list[Unit]] = {}
    for unit in units:
        found.setdefault(key(unit), []).append(unit)
    return found
