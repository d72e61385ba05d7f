"""Which file, class and function of a migrated program stands for which of its reference, whatever it is called and
wherever it has moved. Nothing is paired that is not alike."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from npulint.assemble.names import Names
from npulint.compare.features import Spot, Tokens, Unit, units_of
from npulint.compare.homes import Homes
from npulint.compare.likeness import Likeness
from npulint.compare.matching import Matching


class Side(NamedTuple):
    """One of two programs: the names of its project, and the paths of the modules that it is made of."""

    names: Names
    paths: Sequence[str]


class Counterparts:
    """`modules` has the migrated file of each reference file that has one, `blocks` the same of functions, classes,
    lambdas and modules (block 0); each is the counterpart of one thing only. A module whose code has become a
    function, or the other way, has that as its counterpart."""

    def __init__(self, modules: dict[str, str], blocks: dict[Spot, Spot], likeness: _Alike) -> None:
        self.modules = modules
        self.blocks = blocks
        self._alike = likeness

    @cached_property
    def reference_modules(self) -> dict[str, str]:
        """The reference file of each migrated file."""
        return {migrated: reference for reference, migrated in self.modules.items()}

    @cached_property
    def reference_blocks(self) -> dict[Spot, Spot]:
        """The reference's block of each migrated block."""
        return {migrated: reference for reference, migrated in self.blocks.items()}

    @cached_property
    def homes(self) -> dict[str, tuple[str, ...]]:
        """The migrated files that the code of a reference file has gone to, those with most of it first: several when a
        file has been split, and the same for several files when these have been merged."""
        return _homes(self.modules, self.blocks)

    @cached_property
    def origins(self) -> dict[str, tuple[str, ...]]:
        """The reference files that the code of a migrated file has come from, as `homes`."""
        return _homes(self.reference_modules, self.reference_blocks)

    def likeness(self, reference: Spot, migrated: Spot) -> float:
        """How alike two functions, classes or modules' own codes are, from 0 (nothing in common) to 1 (all but,
        perhaps, the names); 0 for other blocks."""
        return self._alike.of(reference, migrated)


class _Alike:
    """The likeness of blocks."""

    def __init__(self, likeness: Likeness, left: Sequence[Unit], right: Sequence[Unit]) -> None:
        self._likeness = likeness
        self._left = {unit.spot: unit for unit in left}
        self._right = {unit.spot: unit for unit in right}

    def of(self, reference: Spot, migrated: Spot) -> float:
        left, right = self._left.get(reference), self._right.get(migrated)
        return self._likeness.of(left, right) if left is not None and right is not None else 0.0


def counterparts(reference: Side, migrated: Side) -> Counterparts:
    """The counterparts of two programs. Deterministic; takes about a second for 15 000 functions."""
    tokens = Tokens()
    left = units_of(reference.names, dict.fromkeys(reference.paths), tokens)
    right = units_of(migrated.names, dict.fromkeys(migrated.paths), tokens)
    likeness = Likeness(left, right)
    matching = Matching(left, right, likeness, Homes(left, right))
    matching.match()
    blocks = {one.spot: other.spot for one, other in matching.pairs()}
    blocks.update(_lambdas(reference.names, migrated.names, blocks))
    return Counterparts(matching.modules, blocks, _Alike(likeness, left, right))


def _lambdas(reference: Names, migrated: Names, blocks: dict[Spot, Spot]) -> Iterator[tuple[Spot, Spot]]:
    """Lambdas belong together where two counterparts have equally many."""
    for (path, block), (other, theirs) in list(blocks.items()):
        ours = _lambdas_in(reference, path, block)
        found = _lambdas_in(migrated, other, theirs) if ours else []
        if len(ours) == len(found):
            yield from (((path, a), (other, b)) for a, b in zip(ours, found, strict=True))


def _lambdas_in(names: Names, path: str, block: int) -> list[int]:
    """The lambdas within a function, a class or a module, but not within a function of it."""
    return _of_module(names, path).get(block, [])


def _of_module(names: Names, path: str) -> dict[int, list[int]]:
    module = names.project.modules[path]
    found: dict[int, list[int]] = {}
    homes: list[int] = []
    for block, record in enumerate(module.blocks):
        here = block if block == 0 or record.kind in ("function", "class") else homes[record.parent]
        homes.append(here)
        if record.kind == "lambda":
            found.setdefault(here, []).append(block)
    return found


def _homes(modules: dict[str, str], blocks: dict[Spot, Spot]) -> dict[str, tuple[str, ...]]:
    counts: dict[str, dict[str, int]] = {path: {other: 1} for path, other in modules.items()}
    for (path, _), (other, _) in blocks.items():
        to = counts.setdefault(path, {})
        to[other] = to.get(other, 0) + 1
    return {path: tuple(sorted(to, key=lambda other, to=to: (-to[other], other))) for path, to in counts.items()}  # type: ignore[misc]
