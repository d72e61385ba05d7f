"""The pairing of units: the surest pairs first, then what these tell about the others."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence

from npulint.compare.features import Unit, digest
from npulint.compare.homes import Homes, best_pairs
from npulint.compare.likeness import Likeness

_SMALL = 3  # frame tokens; so little may stand anywhere
_SURE = 0.6  # likeness of two units of one name in files that belong together, at which no better is looked for
_KEPT_NAME = 0.1  # least likeness of two units of one name where they must belong together
_MOVED = 0.3  # of a rare name that has moved
_RENAMED = 0.55  # of any units
_RENAMED_NEAR = 0.42  # of units whose surroundings belong together
_CALLED = 0.25  # of units that are called at the same places
_CANDIDATES = 5
_COPIES = 12  # units with the same key that are compared with each other

Edge = tuple[float, int, int]


class Matching:
    """Pairs units of two sides, each once."""

    def __init__(self, left: Sequence[Unit], right: Sequence[Unit], likeness: Likeness, homes: Homes) -> None:
        self.left = left
        self.right = right
        self.likeness = likeness
        self.homes = homes
        self.modules: dict[str, str] = {}
        self._to: dict[int, int] = {}
        self._from: dict[int, int] = {}
        self._number = {id(unit): number for units in (left, right) for number, unit in enumerate(units)}
        self._named = _by(right, lambda unit: (unit.kind, unit.simple))
        self._ours = _by(left, lambda unit: (unit.kind, unit.simple))

    def pairs(self) -> Iterator[tuple[Unit, Unit]]:
        """The pairs that were found, in the order of the left side."""
        return ((self.left[one], self.right[self._to[one]]) for one in sorted(self._to))

    def match(self) -> None:
        """Find the pairs."""
        for kind in ("class", "function"):
            self._same_code_and_name(kind)
            self._same_name(kind, _SURE)
            self._same_code(kind)
            self._best(kind)
            self._same_name(kind, _KEPT_NAME)
        self._within_classes()
        self._called_alike()
        self._pair_modules()
        self._bodies()
        self._same_name("function", 0.0, trivial=True)

    # -- one step each

    def _same_code_and_name(self, kind: str) -> None:
        self._groups(kind, lambda unit: (unit.name, self._digest(unit), tuple(unit.words)))
        self._groups(kind, lambda unit: (unit.simple, self._digest(unit), tuple(unit.words)), small=False)

    def _same_code(self, kind: str) -> None:
        self._groups(kind, self._digest, small=False)

    def _digest(self, unit: Unit) -> Hashable:
        if unit.kind != "class":
            return digest(unit)
        return tuple(sorted(self.likeness.frame(unit).items()))

    def _groups(self, kind: str, key: Callable[[Unit], Hashable], small: bool = True) -> None:
        """Pair what has the same key; of several the one in the nearest surroundings."""
        ours = _by((u for u in self._free(self.left, self._to, kind) if small or self._has_body(u)), key)
        theirs = _by(self._free(self.right, self._from, kind), key)
        edges: list[Edge] = []
        for found, group in ours.items():
            others = theirs.get(found, ())
            edges += self._edges(group[:_COPIES], others[:_COPIES])
        self._take(edges)

    def _edges(self, ours: Iterable[Unit], theirs: Sequence[Unit]) -> list[Edge]:
        return [(self._rank(a, b), self._number[id(a)], self._number[id(b)]) for a in ours for b in theirs]

    def _same_name(self, kind: str, floor: float, trivial: bool = False) -> None:
        """Pair units of one qualified name in files that belong together."""
        edges = []
        for unit in self._free(self.left, self._to, kind):
            for other in self._named.get((kind, unit.simple), ()):
                if self._is_free(other) and self._together(unit, other):
                    tiny = not self._has_body(unit) or not self._has_body(other)
                    if trivial or tiny or self.likeness.of(unit, other) >= floor:
                        edges += self._edges((unit,), (other,))
        self._take(edges)

    def _together(self, unit: Unit, other: Unit) -> bool:
        """Whether the surroundings of two units of one name are counterparts."""
        around, theirs = self._around(unit, self.left), self._around(other, self.right)
        if around is not None and self._to.get(self._number[id(around)]) is not None:
            return theirs is not None and self._to[self._number[id(around)]] == self._number[id(theirs)]
        if unit.name != other.name:
            return False
        return self.homes.partners.get(unit.path) == other.path

    def _around(self, unit: Unit, units: Sequence[Unit]) -> Unit | None:
        """The class or function around a unit."""
        around = units[unit.parent] if unit.parent >= 0 else None
        return around if around is not None and around.kind != "module" else None

    def _best(self, kind: str) -> None:
        """Pair what is alike enough, best first."""
        free = list(self._free(self.right, self._from, kind))
        leads = self.likeness.leads(free)
        edges: list[Edge] = []
        for unit in self._free(self.left, self._to, kind):
            others = self.likeness.nearest(unit, leads, _CANDIDATES) if self._has_body(unit) else []
            named = [other for other in self._named.get((kind, unit.simple), ()) if self._is_free(other)]
            for other in dict.fromkeys((*others, *named[:_COPIES])):
                if self._acceptable(unit, other):
                    edges += self._edges((unit,), (other,))
        self._take(edges)

    def _acceptable(self, unit: Unit, other: Unit) -> bool:
        near = self._nearness(unit, other)
        alike = self.likeness.trusted(unit, other)
        if unit.simple == other.simple:
            if near >= 0.99:
                return self.likeness.of(unit, other) >= _KEPT_NAME
            key = (unit.kind, unit.simple)
            if len(self._named.get(key, ())) == 1 == len(self._ours.get(key, ())):
                return alike >= _MOVED
        return alike >= (_RENAMED_NEAR if near >= 0.99 else _RENAMED)

    def _nearness(self, unit: Unit, other: Unit) -> float:
        """From 0 to 1: whether the surroundings of two units are counterparts."""
        around, theirs = self._around(unit, self.left), self._around(other, self.right)
        if around is not None and theirs is not None:
            partner = self._to.get(self._number[id(around)])
            if partner is not None:
                return 1.0 if partner == self._number[id(theirs)] else 0.0
        bonus = 0.25 if (around is None) == (theirs is None) else 0.0
        if self.homes.partners.get(unit.path) == other.path:
            return 1.0 if around is None and theirs is None else 0.5 + bonus
        return 0.5 * self.homes.of(unit.path, other.path) + bonus

    def _rank(self, unit: Unit, other: Unit) -> float:
        """By what pairs are preferred: likeness, then the name, the surroundings, and the place in the file."""
        name = 0.5 * (unit.simple == other.simple) + 0.5 * (unit.name == other.name)
        far = abs(self._number[id(unit)] - self._number[id(other)]) / (len(self.left) + len(self.right) + 1)
        return self.likeness.of(unit, other) + 0.3 * name + 0.3 * self._nearness(unit, other) - 0.01 * far

    def _within_classes(self) -> None:
        """Of paired classes and functions, pair what is left within them if it is alike."""
        inner = _by((u for u in self.right if u.parent >= 0 and u.kind == "function"), lambda u: u.parent)
        edges: list[Edge] = []
        for unit in self._free(self.left, self._to, "function"):
            around = self._around(unit, self.left)
            partner = self._to.get(self._number[id(around)]) if around is not None else None
            for other in inner.get(partner, ()) if partner is not None else ():
                if self._is_free(other) and self._has_body(unit) and self.likeness.of(unit, other) >= _RENAMED_NEAR:
                    edges += self._edges((unit,), (other,))
        self._take(edges)

    def _called_alike(self) -> None:
        """Pair what counterparts call at the same places, for as long as that tells something new."""
        from npulint.compare.align import align

        spots = {unit.spot: number for number, unit in enumerate(self.right)}
        ours = {unit.spot: number for number, unit in enumerate(self.left)}
        queue = sorted(self._to.items())
        while queue:
            edges: list[Edge] = []
            for one, other in queue:
                left = self._call_line(self.left[one], ours, self._to)
                if all(number < 0 or number in self._to for _, number in left):
                    continue
                right = self._call_line(self.right[other], spots, {b: b for b in self._from})
                for a, b in align([token for token, _ in left], [token for token, _ in right]):
                    if a is not None and b is not None:
                        edges += self._called(left[a][1], right[b][1])
            before = set(self._to)
            self._take(edges)
            queue = sorted((one, other) for one, other in self._to.items() if one not in before)

    def _call_line(self, unit: Unit, numbers: dict[object, int], paired: dict[int, int]) -> list[tuple[Hashable, int]]:
        """What a unit calls, in the order of the text: tokens that say the same on both sides, and own units."""
        line: list[tuple[Hashable, int]] = []
        for _, _, token, spot in sorted(unit.calls, key=lambda call: call[:3]):
            number = numbers.get(spot, -1) if spot is not None else -1
            line.append((("own", paired.get(number, -1)) if number >= 0 else token, number))
        return line

    def _called(self, one: int, other: int) -> list[Edge]:
        if one < 0 or other < 0 or one in self._to or other in self._from:
            return []
        left, right = self.left[one], self.right[other]
        if left.kind != right.kind or self.likeness.of(left, right) < _CALLED:
            return []
        return self._edges((left,), (right,))

    # -- files

    def _pair_modules(self) -> None:
        """Pair files by the pairs within them, else by their own code and their paths."""
        shared: dict[tuple[str, str], float] = {}
        sizes: dict[str, float] = {}
        theirs: dict[str, float] = {}
        for units, total in ((self.left, sizes), (self.right, theirs)):
            for unit in units:
                total[unit.path] = total.get(unit.path, 0.0) + 1 + len(unit.frame)
        for one, other in self._to.items():
            pair = (self.left[one].path, self.right[other].path)
            weight = 2 + len(self.left[one].frame) + len(self.right[other].frame)
            shared[pair] = shared.get(pair, 0.0) + weight
        scores = {pair: weight / (sizes[pair[0]] + theirs[pair[1]]) for pair, weight in shared.items()}
        bodies = {unit.path: unit for unit in self.right if unit.kind == "module"}
        for unit in self.left:
            if unit.kind == "module":
                for path in self._nearby(unit.path):
                    alike = self._bodies_alike(unit, bodies[path], sizes, theirs)
                    scores[unit.path, path] = scores.get((unit.path, path), 0.0) + alike
        for pair, partner in self.homes.partners.items():
            scores[pair, partner] = scores.get((pair, partner), 0.0) + 0.05
        self.modules = best_pairs(scores, 0.15)

    def _nearby(self, path: str) -> list[str]:
        partner = self.homes.partners.get(path)
        return [partner] if partner is not None else []

    def _bodies_alike(self, one: Unit, other: Unit, sizes: dict[str, float], theirs: dict[str, float]) -> float:
        path = self.homes.paths(one.path, other.path)
        if not one.frame and not other.frame:
            return 0.3 * path if path >= 0.75 else 0.0
        weight = (len(one.frame) + len(other.frame)) / (sizes[one.path] + theirs[other.path])
        return self.likeness.of(one, other) * weight + 0.1 * path

    def _bodies(self) -> None:
        """The modules' own code: of paired files, unless a function has taken it over."""
        ours = {unit.path: unit for unit in self.left if unit.kind == "module"}
        theirs = {unit.path: unit for unit in self.right if unit.kind == "module"}
        for path, partner in self.modules.items():
            one, other = ours[path], theirs[partner]
            became = self._became(one, other, self.right, self._from, partner)
            came = self._became(other, one, self.left, self._to, path)
            if became is not None:
                self._pair(one, became)
            elif came is not None:
                self._pair(came, other)
            else:
                self._pair(one, other)

    def _became(self, one: Unit, body: Unit, units: Sequence[Unit], taken: dict[int, int], path: str) -> Unit | None:
        """The function of a file that has the own code of the other file, whose `body` has not."""
        if self.likeness.size(one) < 4 * _SMALL:
            return None
        best, score = None, max(0.5, self._alike(one, body) + 0.2)
        for unit in units:
            if unit.path == path and unit.kind == "function" and self._number[id(unit)] not in taken:
                alike = self._alike(one, unit)
                if alike > score:
                    best, score = unit, alike
        return best

    def _alike(self, one: Unit, other: Unit) -> float:
        return self.likeness.of(one, other)

    # -- pairs

    def _free(self, units: Sequence[Unit], taken: dict[int, int], kind: str) -> Iterator[Unit]:
        return (unit for number, unit in enumerate(units) if unit.kind == kind and number not in taken)

    def _is_free(self, other: Unit) -> bool:
        return self._number[id(other)] not in self._from

    def _has_body(self, unit: Unit) -> bool:
        return self.likeness.size(unit) > _SMALL

    def _take(self, edges: list[Edge]) -> None:
        for _, one, other in sorted(edges, key=lambda edge: (-edge[0], edge[1], edge[2])):
            if one not in self._to and other not in self._from:
                self._to[one] = other
                self._from[other] = one

    def _pair(self, one: Unit, other: Unit) -> None:
        self._to[self._number[id(one)]] = self._number[id(other)]
        self._from[self._number[id(other)]] = self._number[id(one)]


def _by(units: Iterable[Unit], key: Callable[[Unit], Hashable]) -> dict[Hashable, list[Unit]]:
    found: dict[Hashable, list[Unit]] = {}
    for unit in units:
        found.setdefault(key(unit), []).append(unit)
    return found
