"""Parts of a program that are executed any number of times."""

from __future__ import annotations

from collections.abc import Callable

from npulint.model.abstract_values.objects import Items, Layout
from npulint.model.abstract_values.store import Cell, Layer
from npulint.model.abstract_values.value import ABSENT, UNKNOWN, Const, Obj, Value
from npulint.model.execution.machine import Dead, Exhausted, Machine

_PASSES = 3  # before what still changes is given up
_PASSES_WITH_NEW_OBJECTS = 6  # before what each pass makes anew is given up
_SHARE, _SHARE_WITHIN = 19, 100  # of all steps for a loop that is executed turn by turn; within one of unknown length
_MOST_PASSES = 14


def repeat(m: Machine, work: Callable[[], object], surely: bool = False) -> None:
    """Do something any number of times (`surely`: at least once), until nothing changes any more; what goes on changing
    is not known."""
    outer, count = m.heap.repetition, m.repetitions
    m.heap.repetition = (*outer, count)  # the same for each pass of the loop around it
    try:
        _until_stable(m, work, surely)
    finally:
        m.heap.repetition, m.repetitions = outer, count + 1


def _until_stable(m: Machine, work: Callable[[], object], surely: bool) -> None:
    store, first = m.store, m.store.serial
    given_up: set[Cell] = set()
    for number in range(_MOST_PASSES):
        base = store.fork()
        m.repetitions = 0
        try:
            work()
        except Dead:
            base.pins -= 1
            if surely and not number:
                raise
            store.resume(base)
            return
        end = store.layer
        changed = store.changed(base, end)
        if number >= _PASSES:
            with_objects = number >= _PASSES_WITH_NEW_OBJECTS
            _give_up(m, changed, first if with_objects else None)
            changed = [cell for cell in changed if cell not in given_up]
            given_up.update(changed if with_objects else ())
            end = store.layer
        if surely and not number:
            store.meet(base, [end])
            continue
        store.other_branch(base)
        store.meet(base, [store.layer, end])
        if not changed:
            return
    raise Exhausted


def _give_up(m: Machine, cells: list[Cell], first: int | None) -> None:
    """Let cells hold anything. With `first`, objects that were made since that serial number are given up as well:
    each pass makes new ones."""
    for owner, key in cells:
        content = m.store.read(owner, key)
        if isinstance(content, Value):
            m.store.write(owner, key, _widened(m, content, first))
        elif isinstance(content, Items):
            m.store.write(owner, key, Items(None, _widened(m, content.any_item, first)))
        elif isinstance(content, Layout):
            m.store.write(owner, key, Layout(content.keys, False, UNKNOWN))


def _widened(m: Machine, value: Value, first: int | None) -> Value:
    if value.origin is not None:
        value.origin.root.is_read = True  # the value that replaces it may be
    kinds = {type(alternative.value).__name__ for alternative in value.alternatives if isinstance(alternative, Const)}
    kept = [alternative for alternative in value.alternatives if not isinstance(alternative, Const)]
    if first is not None:
        new = [obj for obj in kept if isinstance(obj, Obj) and obj.serial >= first]
        m.unseen(value.reason, [Value((obj,)) for obj in new])
        kept = [alternative for alternative in kept if alternative not in new]
    is_plain = (
        len(kinds) == 1
        and all(alternative is ABSENT for alternative in kept)
        and (not value.is_open or value.hint in kinds)
    )
    return Value(tuple(kept), True, value.reason, kinds.pop() if is_plain and first is None else "")


class Turns:
    """How long a loop is executed turn by turn: until so much work is done."""

    def __init__(self, m: Machine) -> None:
        self._machine = m
        self._last = m.steps + m.most_steps // (_SHARE_WITHIN if m.heap.repetition else _SHARE)

    def go_on(self) -> bool:
        """Whether the next turn is executed by itself."""
        return self._machine.steps < self._last


def leave(m: Machine, layers: list[Layer], goes_on: bool) -> None:
    """Go on where a loop ends: normally (`goes_on`: in the current state), or in one of these captured states. Raises
    `Dead` if it never does."""
    if goes_on:
        layers = [m.store.captured(), *layers]
    if not layers:
        raise Dead
    m.store.release(layers)
    m.store.join(layers)
