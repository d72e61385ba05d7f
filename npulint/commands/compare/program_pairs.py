"""Matches the training programs of the reference with those of the migrated project."""

from __future__ import annotations

import posixpath
from collections.abc import Container, Iterator, Sequence

import msgspec

from npulint.commands.compare.matching.matches import Matches
from npulint.commands.training_config.starts import plain_stem
from npulint.recognizers.programs import Program

_SAME_NAME, _SAME_STEM = 0.3, 0.2  # weight of the name of a script, and of its name without words for devices
_FOLDERS = 0.1  # weight of its folders
_MATCHED = 0.15  # weight of being the counterpart of the other file
_LAUNCHED = 0.15  # weight of being started by launchers for training
_GPU = 0.4  # of a script without adapter in a project whose other scripts have it: it was kept for comparison
_ALIKE = 0.35  # fraction of common code of scripts that belong together whatever their names
_WORDS = 2  # of a name that another one may continue
_MANY = 2500  # pairs of scripts whose code is compared; of more, only those of the same name
_BETTER = 0.6  # a script that resembles another one of the reference so much more belongs to that one


class ProgramPairs(msgspec.Struct, frozen=True, eq=False):
    """Matched programs, the unmatched ones of each side, and why the programs of each pair belong together: named,
    code, name, modules or only."""

    pairs: list[tuple[Program, Program]]
    only_reference: list[Program]
    only_migrated: list[Program]
    why: list[str]


def pairs_of(
    reference: Sequence[Program],
    migrated: Sequence[Program],
    matched: Matches,
    started: tuple[Container[str], Container[str]] = ((), ()),
) -> ProgramPairs:
    """Pair the training programs of two projects: scripts that share code or name, those for the NPU first; if there
    are none, programs that share modules, else the first ones. `started` has the scripts of each side that launchers
    start for training."""
    left, right = training(reference, started[0]), training(migrated, started[1])
    left += _trained_there(reference, left, {program.entry for program in right}, matched.modules)
    right += _trained_there(migrated, right, {program.entry for program in left}, matched.reference_modules)
    pairs = _best(left, right, _Evidence(left, right, matched, started[1]).edges())
    if not pairs:  # variants of a script share modules with its counterpart
        pairs = _best(left, right, [edge for edge in _sharing(left, right, matched) if edge[0] > 0])
    if not pairs and left and right:
        pairs.append((left.pop(0), right.pop(0), "only"))
    order = {id(program): at for at, program in enumerate(migrated)}
    pairs.sort(key=lambda pair: order[id(pair[1])])
    return ProgramPairs([pair[:2] for pair in pairs], left, right, [why for *_, why in pairs])


_Edge = tuple[float, str, Program, Program]


def _best(left: list[Program], right: list[Program], edges: Sequence[_Edge]) -> list[tuple[Program, Program, str]]:
    """Pairs of programs, strongest evidence first; removes them from both lists."""
    ours, theirs = ({id(program): at for at, program in enumerate(side)} for side in (left, right))
    best: list[tuple[Program, Program, str]] = []
    taken: set[int] = set()
    for _, why, reference, other in sorted(edges, key=lambda edge: (-edge[0], ours[id(edge[2])], theirs[id(edge[3])])):
        if not {id(reference), id(other)} & taken:
            best.append((reference, other, why))
            taken |= {id(reference), id(other)}
    for side in (left, right):
        side[:] = [program for program in side if id(program) not in taken]
    return best


class _Evidence:
    """What speaks for pairs of scripts."""

    def __init__(
        self, left: Sequence[Program], right: Sequence[Program], matched: Matches, started: Container[str]
    ) -> None:
        self._left = [program for program in left if program.entry]
        self._right = [program for program in right if program.entry]
        self._matched = matched
        self._started = started
        self._mixed = len({program.fact.npu for program in self._right}) > 1
        few = len(self._left) * len(self._right) <= _MANY
        self._code = {
            (program.entry, other.entry): matched.likeness(program.entry, other.entry)
            if few or _are_named(program, other)
            else 0.0
            for program in self._left
            for other in self._right
        }

    def edges(self) -> list[_Edge]:
        """The acceptable pairs with the weight of the evidence, and what is most of it."""
        edges: list[_Edge] = []
        for program in self._left:
            for other in self._right:
                why = self._reason(program, other)
                if why:
                    edges.append((self._weight(program, other), why, program, other))
        return edges

    def _reason(self, program: Program, other: Program) -> str:
        """What connects two scripts; empty if too little does."""
        code = self._code[program.entry, other.entry]
        most = code >= _BETTER * max(self._code[own.entry, other.entry] for own in self._left)
        if _are_named(program, other) and (most or self._are_sole(program, other)):
            return "code" if code >= _ALIKE else "name"
        counterpart = self._matched.modules.get(program.entry) == other.entry
        return "code" if most and (counterpart or code >= _ALIKE) else ""

    def _are_sole(self, program: Program, other: Program) -> bool:
        """Whether no other script of either side has that name."""
        ours = sum(_are_named(own, other) for own in self._left)
        return ours == 1 == sum(_are_named(program, own) for own in self._right)

    def _weight(self, program: Program, other: Program) -> float:
        same = posixpath.basename(program.entry) == posixpath.basename(other.entry)
        return (
            self._code[program.entry, other.entry]
            + (_SAME_NAME if same else _SAME_STEM if _are_named(program, other) else 0.0)
            + _FOLDERS * _common_end(program.entry, other.entry)
            + _MATCHED * (self._matched.modules.get(program.entry) == other.entry)
            + _LAUNCHED * (other.entry in self._started)
            - _GPU * (self._mixed and not other.fact.npu)
        )


def _are_named(program: Program, other: Program) -> bool:
    """Whether two scripts have the same name, apart from words for devices, or one name continues the other."""
    ours, theirs = plain_stem(program.entry).split(), plain_stem(other.entry).split()
    short = min(len(ours), len(theirs))
    return ours == theirs or (short >= _WORDS and ours[:short] == theirs[:short])


def _common_end(path: str, other: str) -> float:
    """How many trailing path parts two scripts share, as a fraction."""
    ours, theirs = path.split("/")[::-1], other.split("/")[::-1]
    common = next(
        (at for at, (a, b) in enumerate(zip(ours, theirs, strict=False)) if a != b), min(len(ours), len(theirs))
    )
    return common / max(len(ours), len(theirs))


def _sharing(left: Sequence[Program], right: Sequence[Program], matched: Matches) -> Iterator[_Edge]:
    """How many modules programs share."""
    return ((_shared(program, other, matched), "modules", program, other) for program in left for other in right)


def _shared(program: Program, other: Program, matched: Matches) -> float:
    theirs = set(other.paths)
    common = sum(matched.modules.get(path) in theirs for path in program.paths)
    return common / max(len(program.paths), len(theirs), 1)


def training(programs: Sequence[Program], started: Container[str] = ()) -> list[Program]:
    """The programs that train; if none does, those that launchers start and that nothing says another purpose of."""
    with_framework = [p for p in programs if p.fact.framework != "none"]
    entries = [p for p in with_framework if p.entry]
    sure = [p for p in entries if p.fact.trains]
    likely = [p for p in entries if p.fact.purpose == "unknown"]
    launched = [p for p in likely if p.entry in started]
    return list(sure or launched or likely or entries or with_framework[:1])


def _trained_there(
    programs: Sequence[Program], chosen: Sequence[Program], other: Container[str], matched: dict[str, str]
) -> list[Program]:
    """The programs not in `chosen` whose counterparts in the other project are chosen."""
    entries = {program.entry for program in chosen}
    return [p for p in programs if p.entry and p.entry not in entries and matched.get(p.entry, "") in other]
