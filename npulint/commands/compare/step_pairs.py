"""Matches the steps of the reference with those of the migrated program."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence

import msgspec

from npulint.commands.compare.align import align
from npulint.commands.compare.side import Side, calls_base
from npulint.commands.training_config.steps.expressions import skeleton
from npulint.commands.training_config.steps.model import CodeStep, Home
from npulint.core.lazy_regex import lazy_compile
from npulint.model.values.cursors import CallSite, Expr

_LITERAL = frozenset(("bind", "default", "entry"))
_FEW = 2
_COMMON = 3  # minimum number of common steps of two functions
_MOST = 0.8  # fraction of a function's steps
_HALF = 0.5
_TYPES = lazy_compile(r"b?float\d*|half|double|u?int\d*|long|bool|string|complex\d+")
_MOST_OF_BOTH = 0.6
_MADE = frozenset(("layer", "operation", "loss"))
_MOVING = frozenset(("to", "cuda", "npu", "cpu", "train", "half", "float"))
_CHAIN = 4  # moving calls in a chain
_RARE = frozenset(
    """optimizer schedule loss clipping average loss_scale dataset shuffle repeat batch_size seed sampler shard
    learning_rate weight_decay epochs steps""".split()
)
"""Parts of which a program has one step or few, so that a moved one is found by its name."""


class Pairing(msgspec.Struct, frozen=True, eq=False):
    """The steps of two programs: `pairs` that do the same, `swapped` pairs at different positions of the same function,
    `replaced` pairs of calls of different functions whose results have the same name, and unmatched steps.
    `neighbours` maps a step that only the reference has to the migrated step next to which it would be."""

    pairs: list[tuple[CodeStep, CodeStep]]
    swapped: list[tuple[CodeStep, CodeStep]]
    removed: list[CodeStep]
    added: list[CodeStep]
    neighbours: dict[int, CodeStep]
    replaced: list[tuple[CodeStep, CodeStep]]


class Pairer:
    """Pairs the steps of matched functions, then remaining steps anywhere in the programs."""

    def __init__(self, left: Side, right: Side, blocks: Mapping[Home, Home]) -> None:
        self._left = left
        self._right = right
        self._blocks = blocks
        self._result = Pairing([], [], [], [], {}, [])

    def pairing(self) -> Pairing:
        """All steps of both programs, paired or unmatched."""
        reference, migrated = self._left.config, self._right.config
        met: set[Home] = set()
        for home, steps in reference.homes.items():
            other = self._left.counterpart(home)
            if other is not None and other in migrated.homes:
                met.add(other)
                if reference.runs(home) or migrated.runs(other):
                    self._align(steps, migrated.homes[other])
            elif reference.runs(home) and not self._overrides(home, self._left):
                self._result.removed.extend(steps)
        for home, steps in migrated.homes.items():
            if home not in met and migrated.runs(home) and not self._overrides(home, self._right):
                self._result.added.extend(steps)
        self._rejoin()
        return self._result

    def _overrides(self, home: Home, side: Side) -> bool:
        """Align a method that only one side defines with the inherited one of the other side; returns whether there is
        one."""
        base = side.inherited.get(home)
        if base is None or base not in side.other.homes:
            return False
        side.joined[home] = base
        steps, theirs, added = side.config.homes[home], side.other.homes[base], side is self._right
        left = self._result.removed if added else self._result.added
        kept = len(left)
        self._align(*((theirs, steps) if added else (steps, theirs)))
        if calls_base(side.config, home):
            del left[kept:]
        return True

    def key(self, step: CodeStep) -> Hashable:
        """A key that is equal for a step of the reference and its possible counterparts."""
        if step.target is None:
            return _key(step)
        target = self._blocks.get(step.target) or self._left.inherited.get(step.target, step.target)
        return ("own", target, step.is_applied)

    def migrated_key(self, step: CodeStep) -> Hashable:
        """The key of a step of the migrated program, in terms of the reference."""
        if step.target is None:
            return _key(step)
        base = self._right.inherited.get(step.target)
        target = step.target if base is None else self._blocks.get(base, base)
        return ("own", target, step.is_applied)

    def exact(self, step: CodeStep) -> Hashable:
        """A stricter key: functions passed as arguments must match too."""
        return self.key(step), tuple(self._blocks.get(home, home) for home in step.handed)

    def migrated_exact(self, step: CodeStep) -> Hashable:
        """The stricter key of a step of the migrated program."""
        return self.migrated_key(step), step.handed

    def _align(self, left: Sequence[CodeStep], right: Sequence[CodeStep]) -> None:
        """Pair the steps of two matched functions in order, then those that moved within the function."""
        result = self._result
        gone: list[CodeStep] = []
        new: list[CodeStep] = []
        last: CodeStep | None = None
        for ours, other in self._in_order(left, right):
            if ours is not None and other is not None:
                result.pairs.append((ours, other))
            elif ours is not None:
                gone.append(ours)
                if last is not None or right:
                    result.neighbours[id(ours)] = last or right[0]
            elif other is not None:
                new.append(other)
            last = other or last
        result.swapped.extend(_equal(gone, new, self.exact, self.migrated_exact))
        result.pairs.extend(_alone(gone, new, self.key, self.migrated_key))
        result.pairs.extend(_in_place_of(gone, new))
        result.pairs.extend(_chosen(gone, new))
        made = [[step for step in steps if step.part in _MADE and _kept_as(step)] for steps in (gone, new)]
        result.replaced.extend(_alone(made[0], made[1], _kept_as, _kept_as))
        _take_out(result.replaced, gone, new)
        result.removed.extend(gone)
        result.added.extend(new)

    def _in_order(
        self, left: Sequence[CodeStep], right: Sequence[CodeStep]
    ) -> Iterator[tuple[CodeStep | None, CodeStep | None]]:
        """Align the steps of two matched functions: first those with equal arguments, then between them those that do
        the same with other arguments."""
        first = [(self.exact(step), written(step)) for step in left]
        second = [(self.migrated_exact(step), written(step)) for step in right]
        coarser = list(map(self.key, left)), list(map(self.migrated_key, right))
        for a, b in align(first, second, coarser):
            yield None if a is None else left[a], None if b is None else right[b]

    def _like(self) -> list[tuple[Home, Home]]:
        """Functions whose unmatched steps largely agree: split functions, or module-level code that moved into a
        function."""
        gone, new = _by_home(self._result.removed, self.key), _by_home(self._result.added, self.migrated_key)
        owners: dict[Hashable, list[Home]] = defaultdict(list)
        for home, keys in new.items():
            for key in keys:
                owners[key].append(home)
        common: Counter[tuple[Home, Home]] = Counter()
        plain = {self.key(step) for step in self._result.removed if step.part == "operation"}
        for home, keys in gone.items():
            for key, count in keys.items():
                for other in owners.get(key, ()):
                    common[home, other] += min(count, new[other][key])
        like: list[tuple[Home, Home]] = []
        taken: set[Home] = set()
        for (left, right), count in sorted(common.items(), key=lambda item: (-item[1], item[0])):
            free = left not in taken and right not in taken
            if count >= _COMMON and free and _is_much(count, gone[left], new[right], plain):
                like.append((left, right))
                taken |= {left, right}
        return like

    def _join(self, left: Home, right: Home, gone: int, new: int) -> None:
        """Match two functions most of whose steps are still unmatched."""
        ours, theirs = self._left.config.homes[left], self._right.config.homes[right]
        if _MOST * len(ours) <= gone and _MOST * len(theirs) <= new:
            self._left.joined[left] = right
            self._right.joined[right] = left

    def _rejoin(self) -> None:
        """Pair unmatched steps of different functions: moved code, split or merged functions."""
        result = self._result
        for left, right in self._like():
            gone = [step for step in result.removed if step.home == left]
            new = [step for step in result.added if step.home == right]
            _take_out(list(zip(gone, gone, strict=True)), result.removed, result.added)
            _take_out(list(zip(new, new, strict=True)), result.removed, result.added)
            self._join(left, right, len(gone), len(new))
            self._align(gone, new)
        result.pairs.extend(_equal(result.removed, result.added, self.key, self.migrated_key))
        result.pairs.extend(_alone(result.removed, result.added, self.key, self.migrated_key, _RARE))
        own = [[step for step in steps if step.kind == "own"] for steps in (result.removed, result.added)]
        called = _alone(own[0], own[1], self.key, self.migrated_key)
        _take_out(called, result.removed, result.added)
        result.pairs.extend(called)


def _by_home(steps: Sequence[CodeStep], key: Callable[[CodeStep], Hashable]) -> dict[Home, Counter[Hashable]]:
    home: dict[Home, Counter[Hashable]] = defaultdict(Counter)
    for step in steps:
        if step.kind in ("call", "own"):
            home[step.home][key(step)] += 1
    return home


def _is_much(count: int, gone: Counter[Hashable], new: Counter[Hashable], plain: set[Hashable]) -> bool:
    """Whether functions share many unmatched steps: half of one of them, or most of both if it is only `plain`
    arithmetic, which is common everywhere."""
    sizes = sum(gone.values()), sum(new.values())
    if any(key not in plain for key in gone.keys() & new.keys()):
        return count >= _HALF * min(sizes)
    return count >= _MOST_OF_BOTH * max(sizes)


def _key(step: CodeStep) -> Hashable:
    kind = "literal" if step.kind in _LITERAL else step.kind
    name = step.name.rpartition(".")[2] if kind == "literal" else step.name
    return (kind, name)


_Key = Callable[[CodeStep], Hashable]
_Pairs = list[tuple[CodeStep, CodeStep]]


def _equal(gone: list[CodeStep], new: list[CodeStep], left_key: _Key, right_key: _Key) -> _Pairs:
    """Pairs of steps that do the same with the same arguments; removed from both lists."""
    waiting: dict[Hashable, list[CodeStep]] = defaultdict(list)
    for step in new:
        waiting[right_key(step), written(step)].append(step)
    pairs: _Pairs = []
    for step in gone:
        rest = waiting.get((left_key(step), written(step)))
        if rest:
            pairs.append((step, rest.pop(0)))
    _take_out(pairs, gone, new)
    return pairs


def _alone(
    gone: list[CodeStep], new: list[CodeStep], left_key: _Key, right_key: _Key, parts: frozenset[str] | None = None
) -> _Pairs:
    """Pairs of steps (of some parts) whose key is unique on both sides; removed from both lists."""
    first, second = _single(gone, left_key), _single(new, right_key)
    if parts is not None:
        first = {key: step for key, step in first.items() if step.part in parts}
    alone = [(step, second[key]) for key, step in first.items() if key in second]
    _take_out(alone, gone, new)
    return alone


def _single(steps: Sequence[CodeStep], key: _Key) -> dict[Hashable, CodeStep]:
    by_key: dict[Hashable, list[CodeStep]] = defaultdict(list)
    for step in steps:
        by_key[key(step)].append(step)
    return {step_key: same[0] for step_key, same in by_key.items() if len(same) == 1}


def _take_out(pairs: _Pairs, gone: list[CodeStep], new: list[CodeStep]) -> None:
    taken = {id(step) for pair in pairs for step in pair}
    gone[:] = [step for step in gone if id(step) not in taken]
    new[:] = [step for step in new if id(step) not in taken]


def written(step: CodeStep) -> Hashable:
    """A comparable form of the arguments as written, ignoring names except those of types; of an applied layer its
    name."""
    if step.site is not None and not step.arguments:
        return step.site.last
    written = {argument.name: _type(argument.expr) or skeleton(argument.value) for argument in step.arguments}
    return tuple((name, written[name]) for name in sorted(written))


def _type(expr: Expr) -> str:
    """The element type that a name refers to: ``float32`` of ``tf.float32``."""
    last = expr.written.rpartition(".")[2]
    return last if _TYPES.fullmatch(last) else ""


def _in_place_of(gone: list[CodeStep], new: list[CodeStep]) -> _Pairs:
    """Pairs of steps that replace each other under other names: arithmetic assigned to the same name, and equally few
    (one or two) calls of a part."""
    pairs = _alone([s for s in gone if s.is_applied], [s for s in new if s.is_applied], _object, _object)
    _take_out(pairs, gone, new)
    left, right = ([step for step in side if step.kind == "expression"] for side in (gone, new))
    pairs += _alone(left, right, _target, _target)
    for part in dict.fromkeys(step.part for step in gone):
        if part == "operation":
            continue
        was = [s for s in gone if s.part == part and s.kind == "call" and s.counts]
        is_now = [s for s in new if s.part == part and s.kind == "call" and s.counts]
        if len(was) == len(is_now) <= _FEW:
            pairs += zip(was, is_now, strict=True)
    _take_out(pairs, gone, new)
    return pairs


def _chosen(gone: list[CodeStep], new: list[CodeStep]) -> _Pairs:
    """Pairs of calls by a name that several imports bind; the start decides which one."""
    waiting: dict[str, list[CodeStep]] = defaultdict(list)
    for step in new:
        if step.kind == "own":
            waiting[step.shown].append(step)
    chosen: _Pairs = []
    for step in gone:
        others = waiting.get(step.shown) if step.kind == "own" else None
        if others and (_is_chosen(step) or _is_chosen(others[0])):
            chosen.append((step, others.pop(0)))
    _take_out(chosen, gone, new)
    return chosen


def _is_chosen(step: CodeStep) -> bool:
    root = step.site.written.partition(".")[0] if step.site is not None else ""
    records = step.module.code.imports
    return sum((record.alias or record.name or record.module.partition(".")[0]) == root for record in records) > 1


def _kept_as(step: CodeStep) -> str:
    """The name that the result of a call is assigned to, perhaps moved to a device first; empty if there is none."""
    if step.site is None or step.kind not in ("call", "own") or not step.counts or step.is_applied:
        return ""
    names = {bind.target for bind in step.scope.assignments if _origin(bind.value.call) == step.site}
    return names.pop() if len(names) == 1 else ""


def _origin(site: CallSite | None) -> CallSite | None:
    """The call whose result a chain of calls only moves: ``Net()`` of ``Net().to(device).half()``."""
    for _ in range(_CHAIN):
        if site is None or site.last not in _MOVING or site.receiver is None or site.receiver.call is None:
            break
        site = site.receiver.call
    return site


def _object(step: CodeStep) -> Hashable:
    return step.part, step.site.last if step.site is not None else ""


def _target(step: CodeStep) -> Hashable:
    return step.part, step.shown
