"""What runs at a time, or a number of times, that is not known: callbacks of unseen code, recursion without a bound."""

from __future__ import annotations

import functools
from collections.abc import Callable

from npulint.running.machine import Arguments, Dead, Guard, Machine
from npulint.values.objects import Items, Layout
from npulint.values.store import Region
from npulint.values.value import ABSENT, UNKNOWN, Const, Obj, Value


def execute(m: Machine, work: Callable[[], object], is_kept: bool = False) -> None:
    """Do something that runs in some executions: what it writes is not known from here on, nor what probes see in it.
    `is_kept`: it may run again at any time, so what it writes stays unknown."""
    guards, m.guards = m.guards, [Guard(Region(m.store.serial))]
    probes, ends, frame = m.probes.seen_again(), len(m.ends), m.frame
    base = m.store.fork()
    try:
        work()
        ends_normally = True
    except Dead:
        ends_normally = False
    finally:
        m.guards, m.frame = guards, frame
        del m.ends[ends:]
    m.probes.forget_since(probes)
    if not ends_normally:
        base.pins -= 1
        m.store.layer = base
        return
    for owner, key in m.store.changed(base, m.store.layer):
        if owner is m.marks:
            continue
        content = m.store.read(owner, key)
        if isinstance(content, Value):
            m.store.write(
                owner, key, UNKNOWN.joined(content.of(tuple(one for one in content.alternatives if _stays(one))))
            )
        elif isinstance(content, Items):
            m.store.write(owner, key, Items(None))
        elif isinstance(content, Layout):
            m.store.write(owner, key, Layout(content.keys, False, UNKNOWN))
        if is_kept:
            m.heap.volatile.add((owner, key))
    end = m.store.layer
    m.store.other_branch(base)
    m.store.meet(base, [m.store.layer, end])


def _stays(one: object) -> bool:
    return one is ABSENT or not isinstance(one, Const)


def call_back(m: Machine, function: Obj) -> None:
    """Let unknown code call a function of the program at any time from here on."""
    if function.kind == "instance":
        for method in m.own_methods(function):
            execute(m, functools.partial(m.call, method, Arguments(rest=UNKNOWN, options=UNKNOWN)), is_kept=True)
        return
    if function in m.called_back:
        return
    m.called_back.append(function)
    execute(m, lambda: run(m, function), is_kept=True)


def run(m: Machine, function: Obj) -> None:
    """Call a function with arguments that are not known, or execute a generator or coroutine."""
    if function.kind == "generator":
        m.iterate(Value((function,)), lambda item: None)
    elif function.kind == "coroutine":
        m.await_value(Value((function,)))
    else:
        m.call(Value((function,)), Arguments(rest=UNKNOWN, options=UNKNOWN))
