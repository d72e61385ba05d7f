"""Matches files, classes and functions of a migrated program with those of its reference, even if renamed or moved.
Dissimilar code is never paired."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import cache, cached_property
from typing import NamedTuple

from npulint.commands.compare.align import align
from npulint.commands.compare.matching.features import Spot, Tokens, Unit, units_of
from npulint.commands.compare.matching.pairing import Edge, FileOverlap, Pairing, Similarity, best_pairs, grouped, sizes
from npulint.commands.compare.matching.search import Matching
from npulint.model.code.names import Names

# Matches files, and their module-level code.

_FLOOR = 0.15  # minimum fraction of common code
_BECAME = 0.5  # similarity of module-level code and the function that it was moved to
_BETTER = 0.2  # required advantage over the other module's own module-level code
_LITTLE = 12  # different frame tokens; less code is not considered moved


def pair_files(pairing: Pairing) -> dict[str, str]:
    """The right file for each left file that has a counterpart: by the pairs within them, by module-level code and by
    path."""
    ours, theirs = sizes(pairing.left, _weight), sizes(pairing.right, _weight)
    scores: dict[tuple[str, str], float] = {}
    for unit, other in pairing.pairs():
        pair = (unit.path, other.path)
        weight = (_weight(unit) + _weight(other)) / (ours[unit.path] + theirs[other.path])
        scores[pair] = scores.get(pair, 0.0) + weight
    left, right = _bodies(pairing.left), _bodies(pairing.right)
    for path, partner in pairing.homes.partners.items():
        body, its = left[path], right[partner]
        part = (_weight(body) + _weight(its)) / (ours[path] + theirs[partner])
        alike = pairing.likeness.of(body, its) if body.frame and its.frame else 0.0
        near = pairing.homes.paths(path, partner)
        scores[path, partner] = scores.get((path, partner), 0.0) + alike * part + _FLOOR * near
    return best_pairs(scores, _FLOOR)


def pair_bodies(pairing: Pairing, files: Mapping[str, str]) -> None:
    """Pair the module-level code of paired files, unless it was moved into a function."""
    ours, theirs = _bodies(pairing.left), _bodies(pairing.right)
    functions = {unit.path: list[Unit]() for unit in pairing.left}
    others = {unit.path: list[Unit]() for unit in pairing.right}
    for unit in pairing.free_left("function"):
        functions[unit.path].append(unit)
    for unit in pairing.free_right("function"):
        others[unit.path].append(unit)
    for path, partner in files.items():
        body, other = ours[path], theirs[partner]
        became = _heir(body, other, others[partner], pairing)
        came = _heir(other, body, functions[path], pairing) if became is None else None
        pairing.pair(came or body, became or other)


def _heir(body: Unit, other: Unit, functions: Iterable[Unit], pairing: Pairing) -> Unit | None:
    """The function that the module-level code was moved to, where the other module has none of it."""
    likeness = pairing.likeness
    if likeness.size(body) <= _LITTLE:
        return None
    best, score = None, max(_BECAME, likeness.of(body, other) + _BETTER)
    for unit in functions:
        alike = likeness.of(body, unit)
        if alike > score:
            best, score = unit, alike
    return best


def _bodies(units: Sequence[Unit]) -> dict[str, Unit]:
    return {unit.path: unit for unit in units if unit.kind == "module"}


def _weight(unit: Unit) -> float:
    return 1.0 + len(unit.frame)


# Matches functions and classes that matched units call at corresponding positions.

_CALLED = 0.25  # minimum similarity

_Line = list[tuple[Hashable, int]]


def pair_called(pairing: Pairing) -> None:
    """Pair the callees at corresponding positions of paired units, until no new pairs appear."""
    ours = {unit.spot: unit.number for unit in pairing.left}
    theirs = {unit.spot: unit.number for unit in pairing.right}
    queue = sorted(pairing.to.items())
    while queue:
        edges: list[Edge] = []
        same = {other: other for other in pairing.back}
        for unit_number, other in queue:
            left = _line(pairing.left[unit_number], ours, pairing.to)
            if any(number >= 0 and number not in pairing.to for _, number in left):
                edges += _aligned(left, _line(pairing.right[other], theirs, same), pairing)
        before = set(pairing.to)
        pairing.take(edges)
        queue = sorted((number, other) for number, other in pairing.to.items() if number not in before)


def _line(unit: Unit, numbers: Mapping[Spot, int], paired: Mapping[int, int]) -> _Line:
    """The sequence of calls in a unit: a key that is comparable across both sides, and the project's own unit that is
    called."""
    line: _Line = []
    for _, _, token, spot in sorted(unit.calls, key=lambda call: call[:3]):
        number = numbers.get(spot, -1) if spot is not None else -1
        line.append((("own", paired.get(number, -1)) if number >= 0 else token, number))
    return line


def _aligned(left: _Line, right: _Line, pairing: Pairing) -> Sequence[Edge]:
    edges: list[Edge] = []
    for a, b in align([key for key, _ in left], [key for key, _ in right]):
        number, other = (left[a][1], right[b][1]) if a is not None and b is not None else (-1, -1)
        if number >= 0 and number not in pairing.to and other not in pairing.back:
            unit, theirs = pairing.left[number], pairing.right[other]
            if unit.kind == theirs.kind and pairing.likeness.of(unit, theirs) >= _CALLED:
                edges.append(pairing.edge(unit, theirs))
    return edges


class Side(NamedTuple):
    """One of two programs: the names of its project, and the paths of its modules."""

    names: Names
    paths: Sequence[str]


class Matches:
    """The result. `modules` maps reference files to migrated files; `blocks` does so for functions, classes, lambdas
    and modules (block 0), one to one. Module-level code that became a function, or the reverse, is matched with it."""

    def __init__(
        self,
        modules: dict[str, str],
        blocks: dict[Spot, Spot],
        likeness: Callable[[str, str], float] = lambda path, other: 0.0,
    ) -> None:
        self.modules = modules
        self.blocks = blocks
        self.likeness = likeness
        """The similarity of a reference file and a migrated file, from 0 to 1."""

    @cached_property
    def reference_modules(self) -> dict[str, str]:
        """The reference file of each migrated file."""
        return {migrated: reference for reference, migrated in self.modules.items()}

    @cached_property
    def reference_blocks(self) -> dict[Spot, Spot]:
        """The reference's block of each migrated block."""
        return {migrated: reference for reference, migrated in self.blocks.items()}

    def join(self, reference: Names, migrated: Names, script: str, other: str) -> None:
        """Match two scripts of the same program instead of with other files, and what has the same name in them, unless
        already matched."""
        if self.modules.get(script) == other:
            return
        self._separate(script, self.modules.get(script))
        self._separate(self.reference_modules.get(other), other)
        self.modules[script] = other
        self.reference_modules[other] = script
        first, second = reference.project.modules[script], migrated.project.modules[other]
        theirs = {(record.kind, second.qualname(at)): at for at, record in enumerate(second.blocks)}
        for at, record in enumerate(first.blocks):
            same = theirs.get((record.kind, first.qualname(at)), -1)
            named = at == 0 or record.kind in ("function", "class")
            if named and same >= 0 and (script, at) not in self.blocks and (other, same) not in self.reference_blocks:
                self.blocks[script, at] = (other, same)
                self.reference_blocks[other, same] = (script, at)

    def separates(self, script: str, other: str) -> bool:
        """Whether one of two scripts is matched with another file."""
        return (self.modules.get(script, other), self.reference_modules.get(other, script)) != (other, script)

    def _separate(self, script: str | None, other: str | None) -> None:
        """Undo the match of two files."""
        if script is None or other is None:
            return
        self.modules.pop(script, None)
        self.reference_modules.pop(other, None)
        here = [spot for spot, there in self.blocks.items() if (spot[0], there[0]) == (script, other)]
        for spot in here:
            self.reference_blocks.pop(self.blocks.pop(spot), None)


def counterparts(reference: Side, migrated: Side) -> Matches:
    """Match two programs. Deterministic; takes about a second for 15 000 functions."""
    tokens = Tokens()
    left = units_of(reference.names, dict.fromkeys(reference.paths), tokens)
    right = units_of(migrated.names, dict.fromkeys(migrated.paths), tokens)
    likeness = Similarity(left, right)
    pairing = Pairing(left, right, likeness, FileOverlap(left, right))
    matching = Matching(pairing)
    matching.match()
    pair_called(pairing)
    matching.match_namesakes()
    files = pair_files(pairing)
    pair_bodies(pairing, files)
    blocks = {unit.spot: other.spot for unit, other in pairing.pairs()}
    blocks.update(_lambdas(reference.names, migrated.names, blocks))
    ours, theirs = (grouped(units, lambda unit: unit.path) for units in (left, right))
    return Matches(files, blocks, cache(lambda path, other: likeness.files(ours.get(path, ()), theirs.get(other, ()))))


def _lambdas(reference: Names, migrated: Names, blocks: dict[Spot, Spot]) -> dict[Spot, Spot]:
    """Match lambdas in order where two matched units contain equally many."""
    lambdas: dict[Spot, Spot] = {}
    theirs = _lambdas_of(migrated, dict.fromkeys(path for path, _ in blocks.values()))
    for spot, inner in _lambdas_of(reference, dict.fromkeys(path for path, _ in blocks)).items():
        others = theirs.get(blocks[spot], []) if spot in blocks else []
        if len(inner) == len(others):
            lambdas.update(zip(inner, others, strict=True))
    return lambdas


def _lambdas_of(names: Names, paths: Iterable[str]) -> dict[Spot, list[Spot]]:
    """The lambdas of some modules by the function, class or module that contains them."""
    lambdas: dict[Spot, list[Spot]] = {}
    for path in paths:
        homes: list[int] = []
        for block, record in enumerate(names.project.modules[path].blocks):
            own = block == 0 or record.kind in ("function", "class")
            homes.append(block if own else homes[record.parent])
            if record.kind == "lambda":
                lambdas.setdefault((path, homes[block]), []).append((path, block))
    return lambdas
