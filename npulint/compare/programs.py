"""Which training program of the reference is which of the migrated project."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence

import msgspec

from npulint.assemble.programs import Program
from npulint.compare.counterparts import Counterparts


class Pairs(msgspec.Struct, frozen=True, eq=False):
    """Programs that belong together, and those of either side that are alone."""

    pairs: list[tuple[Program, Program]]
    only_reference: list[Program]
    only_migrated: list[Program]


def pairs_of(reference: Sequence[Program], migrated: Sequence[Program], matched: Counterparts) -> Pairs:
    """Pair the training programs of two projects: entry scripts that are counterparts first, then those of one name,
    then those whose modules are."""
    left, right = training(reference), training(migrated)
    found: list[tuple[Program, Program]] = []
    for fits in (_are_counterparts, _are_namesakes, _share_modules):
        if found and fits is _share_modules:
            break  # variants of a script share modules with its counterpart
        for one in list(left):
            likeness, at = max(((fits(one, other, matched), -at) for at, other in enumerate(right)), default=(0.0, 0))
            if likeness > 0:
                found.append((one, right.pop(-at)))
                left.remove(one)
    if not found and left and right:
        found.append((left.pop(0), right.pop(0)))
    order = {id(program): at for at, program in enumerate(migrated)}
    found.sort(key=lambda pair: order[id(pair[1])])
    return Pairs(found, left, right)


def training(programs: Sequence[Program]) -> list[Program]:
    """The programs that train; where none is sure to, those that may."""
    entries = [p for p in programs if p.entry and p.attrs["framework"] != "none"]
    sure = [p for p in entries if p.attrs["trains"] == "yes"]
    named = [p for p in entries if p.attrs["purpose"] == "train"]
    return sure or named or entries or [p for p in programs if p.attrs["framework"] != "none"][:1]


def _are_counterparts(one: Program, other: Program, matched: Counterparts) -> float:
    return 1.0 if one.entry and matched.modules.get(one.entry) == other.entry else 0.0


def _are_namesakes(one: Program, other: Program, matched: Counterparts) -> float:
    return 1.0 if posixpath.basename(one.entry) == posixpath.basename(other.entry) else 0.0


def _share_modules(one: Program, other: Program, matched: Counterparts) -> float:
    theirs = set(other.paths)
    common = sum(matched.modules.get(path) in theirs for path in one.paths)
    return common / max(len(one.paths), len(theirs), 1)
