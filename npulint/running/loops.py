"""Parts of a program that are executed any number of times."""

from __future__ import annotations

from collections.abc import Callable

from npulint.running.machine import Dead, Exhausted, Machine
from npulint.values.objects import Items, Layout, Obj
from npulint.values.store import Cell, Layer
from npulint.values.value import ABSENT, UNKNOWN, Const, Value, unknown

_PASSES = 3  # before what still changes is given up
_MOST_PASSES = 12


def repeat(m: Machine, work: Callable[[], object], surely: bool = False) -> None:
    """Do something any number of times (`surely`: at least once), until nothing changes any more; what goes on changing
    is not known."""
    outer = m.heap.repetition
    m.repetitions += 1
    m.heap.repetition = m.repetitions
    try:
        _until_stable(m, work, surely)
    finally:
        m.heap.repetition = outer


def _until_stable(m: Machine, work: Callable[[], object], surely: bool) -> None:
    store = m.store
    for number in range(_MOST_PASSES):
        base = store.fork()
        try:
            work()
        except Dead:
            base.pins -= 1
            if surely and not number:
                raise
            store.layer = base
            return
        end = store.layer
        changed = store.changed(base, end)
        if number >= _PASSES:
            _give_up(m, changed)
            end = store.layer
        if surely and not number:
            store.meet(base, [end])
            continue
        store.other_branch(base)
        store.meet(base, [store.layer, end])
        if not changed:
            return
    raise Exhausted


def _give_up(m: Machine, cells: list[Cell]) -> None:
    for owner, key in cells:
        content = m.store.read(owner, key)
        if isinstance(content, Value):
            m.store.write(owner, key, _widened(content))
        elif isinstance(content, Items):
            m.store.write(owner, key, Items(None, _widened(content.any_item)))
        elif isinstance(content, Layout):
            m.store.write(owner, key, Layout(content.keys, False, UNKNOWN))


def _widened(value: Value) -> Value:
    kept = tuple(one for one in value.alternatives if isinstance(one, Obj) or one is ABSENT)
    kinds = {type(one.value).__name__ for one in value.alternatives if isinstance(one, Const)}
    hint = (
        kinds.pop() if len(kinds) == 1 and (not value.is_open or value.hint in kinds or not value.alternatives) else ""
    )
    return unknown(value.reason, hint).of(kept) if hint else Value(kept, True, value.reason)


def leave(m: Machine, layers: list[Layer], goes_on: bool) -> None:
    """Go on where a loop ends: normally (`goes_on`: in the current state), or in one of these captured states. Raises
    `Dead` if it never does."""
    if goes_on:
        layers = [m.store.captured(), *layers]
    if not layers:
        raise Dead
    m.store.release(layers)
    m.store.join(layers)
