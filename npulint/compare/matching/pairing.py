"""The pairs of units that have been found so far, and what they say about others."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence

from npulint.compare.matching.features import Unit
from npulint.compare.matching.file_overlap import FileOverlap
from npulint.compare.matching.similarity import Similarity

_SMALL = 3  # frame tokens; so little may stand anywhere
_SAME_FILE = 0.3  # likeness of two files that surely belong together
_NAMESAKE = 0.3  # likeness of two functions that have more than the name in common

Edge = tuple[float, int, int]
"""How much speaks for a pair, and the numbers of its units."""


class Pairing:
    """Units of two sides in pairs, each in one at most: `to` leads from left numbers to right ones, `back` back."""

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
        """The units of the left side that have no counterpart yet."""
        return [unit for unit in self.left if unit.kind == kind and unit.number not in self.to]

    def free_right(self, kind: str) -> list[Unit]:
        """The units of the right side that have no counterpart yet."""
        return [unit for unit in self.right if unit.kind == kind and unit.number not in self.back]

    def pair(self, one: Unit, other: Unit) -> None:
        """Note a pair."""
        self.to[one.number] = other.number
        self.back[other.number] = one.number

    def take(self, edges: Iterable[Edge]) -> None:
        """Pair what is still free, what most speaks for first."""
        for _, one, other in sorted(edges, key=lambda edge: (-edge[0], edge[1], edge[2])):
            if one not in self.to and other not in self.back:
                self.to[one] = other
                self.back[other] = one

    def edge(self, one: Unit, other: Unit) -> Edge:
        """How much speaks for a pair: the likeness, then the name, the surroundings, and the place in the file."""
        name = 0.5 * (one.simple == other.simple) + 0.5 * (one.name == other.name)
        far = abs(one.number - other.number) / (len(self.left) + len(self.right) + 1)
        alike = self.likeness.of(one, other) + 0.2 * self.likeness.wording(one, other)
        return alike + 0.3 * name + 0.5 * self.nearness(one, other) - 0.01 * far, one.number, other.number

    def is_small(self, unit: Unit) -> bool:
        """Whether a unit is so small that its code alone says nothing."""
        return self.likeness.size(unit) <= _SMALL

    def nearness(self, one: Unit, other: Unit) -> float:
        """From 0 to 1: whether the surroundings of two units belong together."""
        around, theirs = surroundings(one, self.left), surroundings(other, self.right)
        if around is not None and theirs is not None and around.number in self.to:
            return 1.0 if self.to[around.number] == theirs.number else 0.0
        bonus = 0.25 if (around is None) == (theirs is None) else 0.0
        if self.homes.partners.get(one.path) == other.path:
            return 1.0 if around is None and theirs is None else 0.5 + bonus
        return 0.5 * self.homes.of(one.path, other.path) + bonus

    def together(self, one: Unit, other: Unit) -> bool:
        """Whether two units of one name stand in surroundings that are counterparts."""
        around, theirs = surroundings(one, self.left), surroundings(other, self.right)
        if around is not None and around.number in self.to:
            return theirs is not None and self.to[around.number] == theirs.number
        return one.name == other.name and self.homes.partners.get(one.path) == other.path

    def doubt(self, one: Unit, other: Unit) -> float:
        """How alike two units of one name must be at least, by how sure it is that they stand in the same file."""
        inside = surroundings(one, self.left) is not None
        return 0.0 if inside or self.homes.of(one.path, other.path) >= _SAME_FILE else _NAMESAKE


def surroundings(unit: Unit, units: Sequence[Unit]) -> Unit | None:
    """The class or function around a unit."""
    around = units[unit.parent] if unit.parent >= 0 else None
    return around if around is not None and around.kind != "module" else None


def grouped(units: Iterable[Unit], key: Callable[[Unit], Hashable]) -> dict[Hashable, list[Unit]]:
    """Units by a key."""
    found: dict[Hashable, list[Unit]] = {}
    for unit in units:
        found.setdefault(key(unit), []).append(unit)
    return found
