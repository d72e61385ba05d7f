"""What a name means where it is used, and where it is bound."""

from __future__ import annotations

import builtins

from npulint.model.abstract_values.value import ABSENT, ABSENT_VALUE, UNKNOWN, Value, joined
from npulint.model.execution.machine import Frame, Machine


def _is_special(name: str) -> bool:
    """Whether it is a name that Python gives a meaning: modules have many that are not modelled."""
    return name.startswith("__") and name.endswith("__")


_BUILTINS = frozenset(name for name in dir(builtins) if not _is_special(name)) | {
    "__import__",
    "reveal_value",
    "reveal_runs",
}


def look_up(m: Machine, name: str) -> Value:
    """The value of a name in the scope that is being executed."""
    frame, written = m.frame, name
    name = m.mangled(written)
    parts: list[Value] = []
    home = home_of(frame, written)
    if home is not None:
        value = m.heap.get(home.locals, name)
        if not value.may_be_absent:
            return value if not parts else joined([*parts, value])
        if value.single is not ABSENT:
            parts.append(value.without(ABSENT))
        if not home.scope.is_class:
            return _maybe_unbound(m, name, parts, "UnboundLocalError" if home is frame else "NameError")
    value = m.heap.get(frame.module, name)
    if not value.may_be_absent:
        return value if not parts else joined([*parts, value])
    if value.single is not ABSENT:
        parts.append(value.without(ABSENT))
    replaced = m.heap.get(m.heap.symbol("builtins"), name)
    if replaced.single is not ABSENT:
        parts.append(replaced.without(ABSENT))
        if not replaced.may_be_absent:
            return joined(parts)
    if name in _BUILTINS:
        kind = getattr(builtins, name, None)
        plain = kind.__name__ if isinstance(kind, type) else name  # some exceptions have two names
        return joined([*parts, Value((m.heap.symbol(f"builtins.{plain}"),))])
    return _maybe_unbound(m, name, parts)


def _maybe_unbound(m: Machine, name: str, parts: list[Value], error: str = "NameError") -> Value:
    if not parts and _is_special(name):
        parts = [UNKNOWN]
    if not parts:
        m.throw_new(error, f"name '{name}' is not defined")
    m.may_throw(error)
    return joined(parts)


def home_of(frame: Frame, name: str) -> Frame | None:
    """The scope whose own name it is; None for the module."""
    scope = frame.scope
    if frame.locals is frame.module or name in scope.globals:
        return None
    return frame if name in scope.locals else _around(frame, name)


def _around(frame: Frame, name: str) -> Frame | None:
    around = frame.outer
    while around is not None and around.locals is not around.module:
        if name in around.scope.locals and not around.scope.is_class:
            return around
        if name in around.scope.globals:
            return None
        around = around.outer
    return None


def bind(m: Machine, name: str, value: Value) -> None:
    """Bind a name in the scope that is being executed."""
    frame = m.frame
    home, name = home_of(frame, name), m.mangled(name)
    if home is None:
        m.heap.set(frame.module, name, value)
    elif home.scope.is_class:
        m.heap.set(home.locals, name, value)
    else:
        m.heap.put(home.locals, name, value)


def unbind(m: Machine, name: str) -> None:
    """Delete a name."""
    home = home_of(m.frame, name)
    owner = m.frame.module if home is None else home.locals
    if m.heap.get(owner, name).single is ABSENT:
        m.throw_new("NameError", f"name '{name}' is not defined")
    if home is None or home.scope.is_class:
        m.heap.delete(owner, name)
    else:
        m.heap.put(owner, name, ABSENT_VALUE)


def look_up_own(m: Machine, name: str) -> Value:
    """What the scope that a name is bound in has by it; absent where it is not bound."""
    home = home_of(m.frame, name)
    return m.heap.get(m.frame.module if home is None else home.locals, name)
