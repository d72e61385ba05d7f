"""Matches classes and functions: the most certain pairs first, then those that follow from them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import cached_property

from npulint.commands.compare.matching.features import Unit, digest
from npulint.commands.compare.matching.pairing import Edge, Pairing, Similarity, grouped, surroundings

# Labels that distinguish units with equal code: by callees, callers and enclosing units (Weisfeiler-Lehman style).

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
        levels.append(tuple([numbers.setdefault(key, len(numbers)) for key in side_keys] for side_keys in keys))
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
        keys: list[Hashable] = []
        for number, label in enumerate(old):
            called = tuple([old[target] for target in self.called[number]])
            held = tuple(sorted([old[inner] for inner in self.held[number]]))
            around = self.around[number]
            callers = tuple(sorted([old[caller] for caller in self.callers[number]])) if upwards else ()
            keys.append((label, called, held, callers, old[around] if upwards and around >= 0 else -1))
        return keys


_SURE = 0.6  # similarity of same-named units with paired enclosing units at which the search stops
_KEPT_NAME = 0.1  # minimum similarity of these
_MOVED = 0.3  # of a name that occurs once on each side
_RENAMED = 0.55  # of any units
_RENAMED_NEAR = 0.42  # of units whose enclosing units are paired
_CANDIDATES = 5
_COPIES = 12  # units with the same key that are compared with each other


class Matching:
    """Finds pairs in several passes."""

    def __init__(self, pairing: Pairing) -> None:
        self.found = pairing
        self._ours = grouped(pairing.left, _kind_and_name)
        self._theirs = grouped(pairing.right, _kind_and_name)

    def match(self) -> None:
        """Pair classes, then functions."""
        for kind in ("class", "function"):
            self._same_text(kind)
            self._same_name(kind, _SURE)
        for kind in ("class", "function"):
            self._same_labels(kind)
            self._alike(kind)
            self._same_name(kind, _KEPT_NAME)
        self._left_over_within()

    def match_namesakes(self) -> None:
        """Pair units of the same name in the same enclosing unit, however much they changed."""
        for kind in ("class", "function"):
            self._same_name(kind, 0.0)

    def _same_text(self, kind: str) -> None:
        """Pair units of equal code and name; among several, the one with the closest enclosing unit."""
        similarity = self.found.likeness
        texts = {
            "class": lambda unit: (
                tuple(sorted(similarity.frame(unit).items())),
                tuple(sorted(similarity.words(unit).items())),
            ),
            "function": lambda unit: (digest(unit), tuple(unit.words)),
        }
        text: Callable[[Unit], Hashable] = texts[kind]
        self._groups(self.found.free_left(kind), self.found.free_right(kind), lambda unit: (unit.name, text(unit)))
        ours = [unit for unit in self.found.free_left(kind) if not self.found.is_small(unit)]
        self._groups(ours, self.found.free_right(kind), lambda unit: (unit.simple, text(unit)))

    def _groups(self, ours: Iterable[Unit], theirs: Iterable[Unit], key: Callable[[Unit], Hashable]) -> None:
        """Pair units with the same key; of several those with equal labels, else with the strongest evidence."""
        others = grouped(theirs, key)
        crowds: list[tuple[list[Unit], list[Unit]]] = []
        for label, group in grouped(ours, key).items():
            rest = others.get(label, [])
            if len(group) == 1 == len(rest):
                self.found.pair(group[0], rest[0])
            elif rest:
                crowds.append((group, rest))
        for level in self._labels[::-1] if crowds else ():
            for group, rest in crowds:
                self._sole(group, rest, level)
        edges: list[Edge] = []
        for group, rest in crowds:
            for unit in self._left_free(group)[:_COPIES]:
                edges += [self.found.edge(unit, other) for other in self._right_free(rest)[:_COPIES]]
        self.found.take(edges)

    def _sole(self, ours: Iterable[Unit], theirs: Iterable[Unit], level: tuple[Labels, Labels]) -> None:
        """Pair units whose label is unique on both sides."""
        others = grouped(self._right_free(theirs), lambda unit: level[1][unit.number])
        for label, group in grouped(self._left_free(ours), lambda unit: level[0][unit.number]).items():
            if len(group) == 1 == len(others.get(label, ())):
                self.found.pair(group[0], others[label][0])

    def _left_free(self, units: Iterable[Unit]) -> list[Unit]:
        return [unit for unit in units if unit.number not in self.found.to]

    def _right_free(self, units: Iterable[Unit]) -> list[Unit]:
        return [unit for unit in units if unit.number not in self.found.back]

    @cached_property
    def _labels(self) -> list[tuple[Labels, Labels]]:
        return labels(self.found.left, self.found.right, self.found.likeness)

    def _same_name(self, kind: str, floor: float) -> None:
        """Pair units of the same name whose enclosing units correspond."""
        pairing = self.found
        edges = []
        for unit in pairing.free_left(kind):
            for other in self._theirs.get(_kind_and_name(unit), ()):
                if other.number not in pairing.back and pairing.together(unit, other):
                    tiny = pairing.is_small(unit) or pairing.is_small(other)
                    if tiny or pairing.likeness.of(unit, other) >= max(floor, pairing.doubt(unit, other)):
                        edges.append(pairing.edge(unit, other))
        pairing.take(edges)

    def _same_labels(self, kind: str) -> None:
        """Pair units of equal code regardless of name; duplicates by what is around them."""
        pairing = self.found
        if not pairing.free_left(kind) or not pairing.free_right(kind):
            return
        for ours, theirs in self._labels[::-1]:
            numbers = {id(unit): ours[unit.number] for unit in pairing.free_left(kind)}
            numbers.update({id(unit): theirs[unit.number] for unit in pairing.free_right(kind)})
            large = [unit for unit in pairing.free_left(kind) if not pairing.is_small(unit)]
            self._groups(large, pairing.free_right(kind), lambda unit: numbers[id(unit)])  # noqa: B023
            self._small(kind, numbers)

    def _small(self, kind: str, labels: dict[int, int]) -> None:
        """Pair small units with the same label if their enclosing units are paired and contain no other such units."""
        pairing = self.found

        def ours(unit: Unit) -> Hashable:
            around = surroundings(unit, pairing.left)
            home = pairing.homes.partners.get(unit.path) if around is None else pairing.to.get(around.number)
            return labels[id(unit)], home

        def theirs(unit: Unit) -> Hashable:
            around = surroundings(unit, pairing.right)
            return labels[id(unit)], unit.path if around is None else around.number

        others = grouped((unit for unit in pairing.free_right(kind) if pairing.is_small(unit)), theirs)
        for key, group in grouped((unit for unit in pairing.free_left(kind) if pairing.is_small(unit)), ours).items():
            if len(group) == 1 == len(others.get(key, ())):
                pairing.pair(group[0], others[key][0])

    def _alike(self, kind: str) -> None:
        """Pair sufficiently similar units, best first."""
        pairing = self.found
        leads = pairing.likeness.leads(pairing.free_right(kind))
        edges: list[Edge] = []
        for unit in pairing.free_left(kind):
            near = [] if pairing.is_small(unit) else pairing.likeness.nearest(unit, leads, _CANDIDATES)
            named = [other for other in self._theirs.get(_kind_and_name(unit), ()) if other.number not in pairing.back]
            for other in dict.fromkeys((*near, *named[:_COPIES])):
                if self._acceptable(unit, other):
                    edges.append(pairing.edge(unit, other))
        pairing.take(edges)

    def _acceptable(self, unit: Unit, other: Unit) -> bool:
        near = self.found.nearness(unit, other) >= 0.99
        alike = self.found.likeness.trusted(unit, other)
        if unit.simple == other.simple:
            if near:
                return self.found.likeness.of(unit, other) >= max(_KEPT_NAME, self.found.doubt(unit, other))
            key = _kind_and_name(unit)
            if len(self._ours[key]) == 1 == len(self._theirs[key]):
                return alike >= _MOVED
        return alike >= (_RENAMED_NEAR if near else _RENAMED)

    def _left_over_within(self) -> None:
        """Within paired classes and functions, pair remaining similar units."""
        pairing = self.found
        inner = grouped(pairing.free_right("function"), lambda unit: unit.parent)
        edges: list[Edge] = []
        for unit in pairing.free_left("function"):
            around = surroundings(unit, pairing.left)
            partner = pairing.to.get(around.number) if around is not None and not pairing.is_small(unit) else None
            for other in inner.get(partner, ()):
                if pairing.likeness.of(unit, other) >= _RENAMED_NEAR:
                    edges.append(pairing.edge(unit, other))
        pairing.take(edges)


def _kind_and_name(unit: Unit) -> tuple[str, str]:
    return unit.kind, unit.simple
