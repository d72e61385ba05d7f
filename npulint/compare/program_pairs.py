"""Matches the training programs of the reference with those of the migrated project."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Container, Sequence
from functools import partial

import msgspec

from npulint.assemble.programs import Program
from npulint.compare.matching.matches import Matches


class ProgramPairs(msgspec.Struct, frozen=True, eq=False):
    """Matched programs, and the unmatched ones of each side."""

    pairs: list[tuple[Program, Program]]
    only_reference: list[Program]
    only_migrated: list[Program]


def pairs_of(
    reference: Sequence[Program],
    migrated: Sequence[Program],
    matched: Matches,
    started: tuple[Container[str], Container[str]] = ((), ()),
) -> ProgramPairs:
    """Pair the training programs of two projects: entry scripts that are matched first, then those of the same name,
    then those that share modules. `started` has the scripts of each side that launchers start for training."""
    left, right = training(reference, started[0]), training(migrated, started[1])
    left += _trained_there(reference, left, {one.entry for one in right}, matched.modules)
    right += _trained_there(migrated, right, {one.entry for one in left}, matched.reference_modules)
    found: list[tuple[Program, Program]] = []
    for fits in (_are_counterparts, _are_namesakes, _share_modules):
        if found and fits is _share_modules:
            break  # variants of a script share modules with its counterpart
        found += _best(left, right, partial(fits, matched=matched))
    if not found and left and right:
        found.append((left.pop(0), right.pop(0)))
    order = {id(program): at for at, program in enumerate(migrated)}
    found.sort(key=lambda pair: order[id(pair[1])])
    return ProgramPairs(found, left, right)


def _best(
    left: list[Program], right: list[Program], fits: Callable[[Program, Program], float]
) -> list[tuple[Program, Program]]:
    """Pairs of programs with a positive score `fits`, best first; removes them from both lists."""
    fitting = [(fits(one, other), i, j) for i, one in enumerate(left) for j, other in enumerate(right)]
    found: list[tuple[Program, Program]] = []
    for likeness, i, j in sorted(fitting, key=lambda fit: (-fit[0], fit[1], fit[2])):
        one, other = left[i], right[j]
        if likeness > 0 and not any(one is taken[0] or other is taken[1] for taken in found):
            found.append((one, other))
    for side, at in ((left, 0), (right, 1)):
        gone = {id(pair[at]) for pair in found}
        side[:] = [program for program in side if id(program) not in gone]
    return found


def training(programs: Sequence[Program], started: Container[str] = ()) -> list[Program]:
    """The programs that train; if none certainly does, the likely ones, judging by launchers or names."""
    entries = [p for p in programs if p.entry and (p.fact.framework != "none" or p.fact.purpose == "train")]
    sure = [p for p in entries if p.fact.trains]
    launched = [p for p in entries if p.entry in started and p.fact.purpose in ("train", "unknown")]
    named = [p for p in entries if p.fact.purpose == "train"]
    return list(sure or launched or named or entries or [p for p in programs if p.fact.framework != "none"][:1])


def _trained_there(
    programs: Sequence[Program], chosen: Sequence[Program], other: Container[str], matched: dict[str, str]
) -> list[Program]:
    """The programs not in `chosen` whose counterparts in the other project are chosen."""
    known = {one.entry for one in chosen}
    return [p for p in programs if p.entry and p.entry not in known and matched.get(p.entry, "") in other]


def _are_counterparts(one: Program, other: Program, matched: Matches) -> float:
    return 1.0 if one.entry and matched.modules.get(one.entry) == other.entry else 0.0


def _are_namesakes(one: Program, other: Program, matched: Matches) -> float:
    return 1.0 if posixpath.basename(one.entry) == posixpath.basename(other.entry) else 0.0


def _share_modules(one: Program, other: Program, matched: Matches) -> float:
    theirs = set(other.paths)
    common = sum(matched.modules.get(path) in theirs for path in one.paths)
    return common / max(len(one.paths), len(theirs), 1)
