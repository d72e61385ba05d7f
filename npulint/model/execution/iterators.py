"""Iterators that are used up: generators, what ``zip`` and ``map`` give, and ``next``."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Final

from npulint.model.abstract_values.objects import HAPPENED, ITEMS, Items, Mark
from npulint.model.abstract_values.store import Region
from npulint.model.abstract_values.value import UNKNOWN, Const, Obj, Value, const, joined
from npulint.model.execution import items, unsure
from npulint.model.execution.loops import repeat
from npulint.model.execution.machine import Frame, Guard, Machine
from npulint.model.execution.names import home_of

_BEGUN: Final = "<begun>"
_FINISHED: Final = "<finished>"
_REST: Final = "<rest>"
_INDEX: Final = "<index>"
_MOST_KEPT = 64  # items of a generator that are worked out in advance
_STABLE: Final = frozenset(("function", "class", "symbol", "module"))


class _Enough(Exception):
    """As many items as are kept have been made."""


def use(m: Machine, iterator: Obj, work: Callable[[], None], consume: Callable[[Value], object]) -> None:
    """Hand over what is left of an iterator: by `work` if it has not begun, else what ``next`` has left."""
    rest = m.store.read(iterator, _REST)
    if isinstance(rest, Items):
        m.store.write(iterator, _REST, Items(()))
        items.iterate(m, items.sequence_of(m, "list", rest), consume)
        return
    if _surely(m, iterator, _FINISHED):
        return
    if _happened(m, iterator, _BEGUN):
        _go_on(m, iterator, work, consume)
        return
    m.store.write(iterator, _BEGUN, HAPPENED)
    work()
    m.store.write(iterator, _FINISHED, HAPPENED)


def _go_on(m: Machine, iterator: Obj, work: Callable[[], None], consume: Callable[[Value], object]) -> None:
    """Hand over any number of items of an iterator that was left at some point; what it does is not known."""
    unsure.execute(m, work)
    m.may_throw()
    repeat(m, lambda: consume(UNKNOWN))


def read_once(m: Machine, obj: Obj) -> bool:
    """Whether the content of a file is read for the first time; it is used up from here on."""
    if _happened(m, obj, _FINISHED):
        return False
    m.store.write(obj, _FINISHED, HAPPENED)
    return True


def _happened(m: Machine, obj: Obj, key: str) -> bool:
    mark = m.store.read(obj, key)
    return mark is not None


def _surely(m: Machine, obj: Obj, key: str) -> bool:
    mark = m.store.read(obj, key)
    return isinstance(mark, Mark) and not mark.maybe


def next_item(m: Machine, iterator: Obj, default: Value | None) -> Value:
    """What ``next(iterator)`` gives."""
    source = _list_behind(m, iterator)
    if source is not None:
        return _next_of_list(m, iterator, source, default)
    rest = m.store.read(iterator, _REST)
    if rest is None:
        if _happened(m, iterator, _BEGUN):
            rest = Items(()) if _surely(m, iterator, _FINISHED) else Items(None)
        else:
            rest = _worked_out(m, iterator)
    if not isinstance(rest, Items) or rest.items is None:
        if m.store.read(iterator, _REST) is None:
            unsure.execute(m, lambda: items.iterate(m, Value((iterator,)), lambda item: None), is_kept=True)
        m.store.write(iterator, _REST, Items(None))
        m.may_throw("StopIteration")
        return UNKNOWN
    if not rest.items:
        m.store.write(iterator, _REST, rest)
        return _at_end(m, default)
    m.store.write(iterator, _REST, Items(rest.items[1:]))
    return rest.items[0]


def _at_end(m: Machine, default: Value | None) -> Value:
    if default is None:
        m.throw_new("StopIteration")
    return default


def _list_behind(m: Machine, iterator: Obj) -> Obj | None:
    """The list that ``iter(list)`` goes through, which may change meanwhile."""
    if iterator.kind != "lazy" or iterator.name != "iter":
        return None
    source = iterator.data.positional[0].single
    held = items.builtin_part(source) if isinstance(source, (Const, Obj)) else None
    return held if isinstance(held, Obj) and held.kind in ("list", "tuple") else None


def _next_of_list(m: Machine, iterator: Obj, source: Obj, default: Value | None) -> Value:
    if m.store.read(iterator, _BEGUN) is not None:
        m.may_throw("StopIteration")
        return UNKNOWN
    index = taken_of_list(m, iterator)
    content = m.heap.items_of(source)
    if content.items is None or index is None:
        m.may_throw("StopIteration")
        return content.any_item if default is None else joined([content.any_item, default])
    if index >= len(content.items):
        return _at_end(m, default)
    m.heap.put(iterator, _INDEX, const(index + 1))
    return content.items[index]


def taken_of_list(m: Machine, iterator: Obj) -> int | None:
    """How many items of ``iter(list)`` were taken by ``next``; None where that is not known."""
    position = m.heap.get(iterator, _INDEX)
    single = position.single
    if isinstance(single, Const) and isinstance(single.value, int):
        return single.value
    return 0 if m.store.read(iterator, _INDEX) is None else None


def _worked_out(m: Machine, iterator: Obj) -> Items:
    """The items of an iterator, made in advance where making them has no effects; elsewhere they are not known."""
    frame = iterator.data if iterator.kind == "generator" else None
    if isinstance(frame, Frame) and not _reads_its_own_names(m, frame):
        return Items(None)
    collected = Obj("list", m.store.new_serial())
    m.store.write(collected, ITEMS, Items(()))
    count = 0

    def take(item: Value) -> None:
        nonlocal count
        items.append(m, collected, item)
        count += 1
        if count >= _MOST_KEPT:
            raise _Enough

    base = m.store.fork()
    guard, before = Guard(Region(m.store.serial)), (len(m.probes.visited), len(m.ends), m.frame)
    m.guards.append(guard)
    try:
        items.iterate(m, Value((iterator,)), take)
    except _Enough:
        m.frame = before[2]
    finally:
        m.guards.remove(guard)
    content = m.heap.items_of(collected)
    own = {iterator, collected, *((frame.locals,) if isinstance(frame, Frame) else ())}
    changed = {owner for owner, _ in m.store.changed(base, m.store.layer)} - own
    base.pins -= 1
    m.store.resume(base)
    if changed or guard.raised or guard.possible or (len(m.probes.visited), len(m.ends)) != before[:2]:
        return Items(None)
    return content if count < _MOST_KEPT else Items(None)


def _reads_its_own_names(m: Machine, frame: Frame) -> bool:
    """Whether a generator depends on nothing that may change between two of its items."""
    assert frame.node is not None
    for node in ast.walk(frame.node):
        if isinstance(node, (ast.Attribute, ast.Subscript, ast.Await)):
            return False
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id not in frame.scope.locals:
            home = home_of(frame, node.id)
            value = m.heap.get(frame.module if home is None else home.locals, node.id)
            if any(
                isinstance(alternative, Const) or (isinstance(alternative, Obj) and alternative.kind not in _STABLE)
                for alternative in value.alternatives
            ):
                return False
    return True
