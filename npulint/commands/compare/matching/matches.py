"""Matches files, classes and functions of a migrated program with those of its reference, even if renamed or moved.
Dissimilar code is never paired."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache, cached_property
from typing import NamedTuple

from npulint.commands.compare.matching.called import pair_called
from npulint.commands.compare.matching.features import Spot, Tokens, units_of
from npulint.commands.compare.matching.file_overlap import FileOverlap
from npulint.commands.compare.matching.files import pair_bodies, pair_files
from npulint.commands.compare.matching.pairing import Pairing, grouped
from npulint.commands.compare.matching.search import Matching
from npulint.commands.compare.matching.similarity import Similarity
from npulint.model.code.names import Names


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
        likeness: Callable[[str, str], float] = lambda one, other: 0.0,
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
    return Matches(files, blocks, cache(lambda one, other: likeness.files(ours.get(one, ()), theirs.get(other, ()))))


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
    found: dict[Spot, list[Spot]] = {}
    for path in paths:
        homes: list[int] = []
        for block, record in enumerate(names.project.modules[path].blocks):
            own = block == 0 or record.kind in ("function", "class")
            homes.append(block if own else homes[record.parent])
            if record.kind == "lambda":
                found.setdefault((path, homes[block]), []).append((path, block))
    return found
