"""What runs at a time, or a number of times, that is not known: callbacks of unseen code, recursion without a bound."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

from npulint.model.abstract_values.objects import Items, Layout, Mark
from npulint.model.abstract_values.store import Cell, Content, Layer, Region
from npulint.model.abstract_values.value import ABSENT, UNKNOWN, Const, Obj, Value
from npulint.model.execution.machine import Arguments, Dead, Guard, Machine


def execute(m: Machine, work: Callable[[], object], is_kept: bool = False) -> Sequence[Cell]:
    """Do something that runs in some executions: what it writes is not known from here on, nor what probes see in it.
    `is_kept`: it may run again at any time, so what it writes stays unknown. Returns the cells that it writes."""
    guard = Guard(Region(m.store.serial))
    guards, m.guards = m.guards, [guard]
    probes, ends, frame = m.probes.seen_again(), len(m.ends), m.frame
    region = Region(m.store.serial)
    m.store.regions.append(region)
    base = m.store.fork()
    try:
        work()
    except Dead:
        pass
    finally:
        m.guards, m.frame = guards, frame
        m.store.regions.remove(region)
        may_end = any(is_normal for _, is_normal in m.ends[ends:]) or any(
            m.ends_normally(raised) for raised in guard.raised
        )
        del m.ends[ends:]
    m.probes.forget_since(probes)
    base.pins -= 1
    m.store.layer = Layer(base, m.store.serial)
    for (owner, key), content in region.cells.items():
        if owner is m.marks:
            if isinstance(content, Mark):
                m.store.write(owner, key, content.joined(m.store.read(owner, key)))
            continue
        m.store.write(owner, key, _unknown_content(content))
        if is_kept:
            m.heap.volatile.add((owner, key))
    if may_end:
        m.end(True, at_once=True)
    return [cell for cell in region.cells if cell[0] is not m.marks]


def _unknown_content(content: Content) -> Content:
    if isinstance(content, Value):
        return UNKNOWN.joined(
            content.of(tuple(alternative for alternative in content.alternatives if _stays(alternative)))
        )
    if isinstance(content, Items):
        return Items(None)
    if isinstance(content, Layout):
        return Layout(content.keys, False, UNKNOWN)
    return content


def _stays(alternative: object) -> bool:
    return alternative is ABSENT or not isinstance(alternative, Const)


def call_back(m: Machine, function: Obj) -> None:
    """Let unknown code call a function of the program at any time from here on."""
    cls = function.cls if function.kind == "instance" else function if function.kind == "class" else None
    for base in () if cls is None or cls in m.enums else m.mro(cls):
        if base.kind == "class":
            m.heap.let_go_class(base, function.kind == "class")
    if function.kind == "instance":
        for method in m.own_methods(function):
            execute(m, functools.partial(m.call, method, Arguments(rest=UNKNOWN, options=UNKNOWN)), is_kept=True)
        return
    cells = m.called_back.get(function)
    if cells is None:
        m.called_back[function] = ()
        m.called_back[function] = execute(m, lambda: run(m, function), is_kept=True)
        return
    for owner, key in cells:
        content = m.store.read(owner, key)
        if content is not None:
            m.store.write(owner, key, _unknown_content(content))


def run(m: Machine, function: Obj) -> None:
    """Call a function with arguments that are not known, or execute a generator or coroutine."""
    if function.kind in ("generator", "lazy"):
        m.iterate(Value((function,)), lambda item: None)
    elif function.kind == "coroutine":
        m.await_value(Value((function,)))
    else:
        made = m.call(Value((function,)), Arguments(rest=UNKNOWN, options=UNKNOWN))
        if function.kind == "class":
            m.unseen("", [made])
