"""Which step of the reference is which of the migrated program."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence

import msgspec

from npulint.compare.align import align
from npulint.compare.counterparts import Counterparts
from npulint.recipe.program import Home, Recipe
from npulint.recipe.steps import MODULE, Step

_LITERAL = frozenset(("bind", "default", "entry"))


class Pairing(msgspec.Struct, frozen=True, eq=False):
    """The steps of two programs: `pairs` that do the same work, `swapped` ones that do so at another point of the
    same function, and those that only one side has. `before` tells, for a step that only the reference has, next to
    which step of the migrated program it would stand."""

    pairs: list[tuple[Step, Step]]
    swapped: list[tuple[Step, Step]]
    removed: list[Step]
    added: list[Step]
    neighbours: dict[int, Step]


class Pairer:
    """Pairs the steps of counterparts, then what is left over anywhere in the programs."""

    def __init__(self, reference: Recipe, migrated: Recipe, matched: Counterparts) -> None:
        self._reference = reference
        self._migrated = migrated
        self._matched = matched
        self._result = Pairing([], [], [], [], {})

    def pairing(self) -> Pairing:
        """All steps of both programs, paired or left over."""
        met: set[Home] = set()
        for home, steps in self._reference.homes.items():
            other = self.counterpart(home)
            if other is not None and other in self._migrated.homes:
                met.add(other)
                if self._reference.runs(home) or self._migrated.runs(other):
                    self._align(steps, self._migrated.homes[other])
            elif self._reference.runs(home):
                self._result.removed.extend(steps)
        for home, steps in self._migrated.homes.items():
            if home not in met and self._migrated.runs(home):
                self._result.added.extend(steps)
        self._rejoin()
        return self._result

    def counterpart(self, home: Home) -> Home | None:
        """The function of the migrated program that does what one of the reference does."""
        path, block = home
        if block == MODULE:
            other = self._matched.modules.get(path)
            return None if other is None else (other, MODULE)
        return self._matched.blocks.get(home)

    def key(self, step: Step) -> Hashable:
        """What is equal for a step of the reference and its counterparts."""
        if step.target is not None:
            return ("own", self._matched.blocks.get(step.target, step.target), step.name.endswith("()"))
        return _key(step)

    def _align(self, left: Sequence[Step], right: Sequence[Step]) -> None:
        """Pair the steps of two counterparts in their order, then those that stand elsewhere in the function."""
        result = self._result
        gone: list[Step] = []
        new: list[Step] = []
        last: Step | None = None
        for a, b in align([self.key(step) for step in left], [migrated_key(step) for step in right]):
            if a is not None and b is not None:
                result.pairs.append((left[a], right[b]))
                last = right[b]
            elif a is not None:
                gone.append(left[a])
                if last is not None or right:
                    result.neighbours[id(left[a])] = last or right[0]
            elif b is not None:
                new.append(right[b])
                last = right[b]
        for a_step, b_step in self._equal_elsewhere(gone, new):
            result.swapped.append((a_step, b_step))
        for a_step, b_step in _in_place_of(gone, new):
            result.pairs.append((a_step, b_step))
        result.removed.extend(gone)
        result.added.extend(new)

    def _equal_elsewhere(self, gone: list[Step], new: list[Step]) -> list[tuple[Step, Step]]:
        """Pairs of left-over steps of one key; they are taken out of the lists."""
        return _paired(gone, new, self.key, migrated_key)

    def _rejoin(self) -> None:
        """Pair what is left over in different functions: moved code, functions that were joined or split."""
        result = self._result
        result.pairs.extend(_paired(result.removed, result.added, self.key, migrated_key, alone=True))


def _key(step: Step) -> Hashable:
    kind = "literal" if step.kind in _LITERAL else step.kind
    name = step.name.rpartition(".")[2] if kind == "literal" else step.name
    return (kind, name)


def migrated_key(step: Step) -> Hashable:
    """The key of a step of the migrated program."""
    if step.target is not None:
        return ("own", step.target, step.name.endswith("()"))
    return _key(step)


_Key = Callable[[Step], Hashable]


def _paired(
    gone: list[Step], new: list[Step], left_key: _Key, right_key: _Key, alone: bool = False
) -> list[tuple[Step, Step]]:
    """Pairs of equal keys, those of equal arguments first; taken out of both lists. `alone`: steps of other arguments
    are a pair only where there are no more of their key."""
    found: list[tuple[Step, Step]] = []
    for exact in (True, False):
        waiting: dict[Hashable, list[Step]] = defaultdict(list)
        for step in new:
            waiting[_wanted(right_key(step), step, exact)].append(step)
        sought = Counter(_wanted(left_key(step), step, exact) for step in gone)
        taken: set[int] = set()
        for step in gone:
            wanted = _wanted(left_key(step), step, exact)
            rest = waiting.get(wanted)
            if rest and (exact or not alone or (len(rest) == 1 and sought[wanted] == 1)):
                other = rest.pop(0)
                found.append((step, other))
                taken |= {id(step), id(other)}
        gone[:] = [step for step in gone if id(step) not in taken]
        new[:] = [step for step in new if id(step) not in taken]
    return found


def _wanted(key: Hashable, step: Step, exact: bool) -> Hashable:
    return (key, tuple((a.name, repr(a.value)) for a in step.arguments)) if exact else key


def _in_place_of(gone: list[Step], new: list[Step]) -> list[tuple[Step, Step]]:
    """Steps that stand for each other under other names: one of a part was there, one of that part is there now."""
    found: list[tuple[Step, Step]] = []
    for part in dict.fromkeys(step.part for step in gone):
        was = [s for s in gone if s.part == part and s.kind == "call"]
        is_now = [s for s in new if s.part == part and s.kind == "call"]
        if len(was) == len(is_now) <= 2:
            found += zip(was, is_now, strict=True)
    taken = {id(step) for pair in found for step in pair}
    gone[:] = [step for step in gone if id(step) not in taken]
    new[:] = [step for step in new if id(step) not in taken]
    return found


def same_name(pair: tuple[Step, Step]) -> bool:
    """Whether two steps do the same thing by name, whatever their arguments."""
    return pair[0].name == pair[1].name or pair[0].kind == "own"


def of_part(steps: Iterable[Step], part: str) -> list[Step]:
    """The steps of one part."""
    return [step for step in steps if step.part == part]
