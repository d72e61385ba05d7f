"""What a program gets from outside: environment variables and its command line."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Final

from npulint.model.abstract_values.value import ABSENT, EITHER, NONE, UNKNOWN, Const, Obj, Value, const, joined, unknown
from npulint.model.execution import texts
from npulint.model.execution.machine import Arguments, Machine

ENVIRONMENT = "os.environ"
DELETED: Final = Obj("deleted", 0)
"""What a variable is that the program has deleted; absent says that it has not written it."""
DELETED_VALUE: Final = Value((DELETED,))


def variable(m: Machine, name: str) -> Value:
    """An environment variable: a text, or absent; open where the start does not set it."""
    written = m.heap.get(m.heap.symbol(ENVIRONMENT), name)
    parts = [
        Value((ABSENT,) if alternative is DELETED else (alternative,))
        for alternative in written.alternatives
        if alternative is not ABSENT
    ]
    parts += [unknown(written.reason, "str")] if written.is_open else []
    if not written.may_be_absent:
        return joined(parts)
    outer = _from_outside(m, name)
    return joined([*parts, outer]) if parts else outer


def _from_outside(m: Machine, name: str) -> Value:
    """An environment variable that the program has not written."""
    if m.store.read(m.heap.symbol(ENVIRONMENT), "<any>") is not None:
        return Value((ABSENT,), True, "$", "str")
    given = m.environment.get(name)
    if given is not None:
        return const(given)
    return Value((ABSENT,), True, f"${name}", "str")


def environment_item(m: Machine, owner: Obj, key: Value) -> Value:
    """The value of ``os.environ[key]``."""
    name = texts.known_text(key)
    value = unknown("$", "str") if name is None else variable(m, name)
    if value.single is ABSENT:
        m.throw(m.exception("KeyError", [key]))
    if value.may_be_absent or name is None:
        m.may_throw("KeyError")
    return value.without(ABSENT)


def set_environment_item(m: Machine, owner: Obj, key: Value, value: Value) -> None:
    """Execute ``os.environ[key] = value``; absent deletes it."""
    name = texts.known_text(key)
    if name is None:
        _forget(m)
        return
    if any(
        isinstance(alternative, Const) and not isinstance(alternative.value, str) for alternative in value.alternatives
    ):
        m.throw_new("TypeError", "str expected")
    before = variable(m, name)
    if value.single is ABSENT and before.may_be_absent:
        if before.single is ABSENT:
            m.throw(m.exception("KeyError", [key]))
        m.may_throw("KeyError")
    m.heap.set(owner, name, DELETED_VALUE if value.single is ABSENT else value)


def _forget(m: Machine) -> None:
    """Let any variable have been set or deleted."""
    owner = m.heap.symbol(ENVIRONMENT)
    for key in m.heap.layout_of(owner).keys:
        m.heap.maybe_set(owner, key, DELETED_VALUE.joined(unknown("$", "str")))
    m.heap.put(owner, "<any>", UNKNOWN)


def change_environment(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
    """What a method of ``os.environ`` gives that is not modelled."""
    _forget(m)
    return m.unseen("os.environ", arguments.all())


def _of_copy(name: str) -> Callable[[Machine, Arguments, ast.AST | None], Value]:
    def method(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
        return m.call(m.attribute(environment_copy(m, Arguments(), site), name), arguments, site)

    return method


def environment_contains(m: Machine, owner: Obj, item: Value) -> Value:
    """The value of ``name in os.environ``."""
    name = texts.known_text(item)
    if name is None:
        return EITHER
    value = variable(m, name)
    return const(False) if value.single is ABSENT else EITHER if value.may_be_absent else const(True)


def getenv(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
    """What ``os.getenv(name, default)`` or ``os.environ.get`` gives."""
    name = texts.known_text(arguments.get(0, "key") or UNKNOWN)
    default = arguments.get(1, "default") or NONE
    value = unknown("$", "str").joined(Value((ABSENT,))) if name is None else variable(m, name)
    if not value.may_be_absent:
        return value
    rest = value.without(ABSENT)
    if not rest.is_open and not rest.alternatives:
        return default
    result = rest.joined(default)
    return Value(result.alternatives, result.is_open, rest.reason or default.reason, result.hint)


def pop_variable(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
    """What ``os.environ.pop(name, default)`` gives."""
    owner, key, default = m.heap.symbol(ENVIRONMENT), arguments.positional[0], arguments.get(1, "default")
    result = environment_item(m, owner, key) if default is None else getenv(m, arguments, site)
    name = texts.known_text(key)
    if name is None:
        _forget(m)
    else:
        m.heap.set(owner, name, DELETED_VALUE)
    return result


def set_default_variable(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
    """What ``os.environ.setdefault(name, value)`` gives."""
    result = getenv(m, arguments, site)
    set_environment_item(m, m.heap.symbol(ENVIRONMENT), arguments.positional[0], result)
    return result


def update_environment(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
    """Execute ``os.environ.update(...)``."""
    owner = m.heap.symbol(ENVIRONMENT)
    for given in arguments.positional:
        obj = given.single
        if isinstance(obj, Obj) and obj.kind == "dict" and m.heap.is_exact(obj):
            for key, value in m.heap.entries(obj):
                set_environment_item(m, owner, m.value_of_key(key), value)
        else:
            set_environment_item(m, owner, UNKNOWN, UNKNOWN)
    for name, value in arguments.keywords.items():
        set_environment_item(m, owner, const(name), value)
    return NONE


def environment_copy(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
    """A dict of the environment, of which more may be in it."""
    made = m.heap.mapping((), "dict", site)
    owner = made.single
    assert isinstance(owner, Obj)
    m.heap.set_any(owner, unknown("$", "str"))
    for name in {
        *m.environment,
        *(key for key in m.heap.layout_of(m.heap.symbol(ENVIRONMENT)).keys if isinstance(key, str)),
    }:
        value = variable(m, name)
        if value.single is not ABSENT:
            m.heap.set(owner, name, value)
    return made


def copy_environment_into(m: Machine, held: Obj, owner: Obj) -> None:
    """Let a dict be updated with the environment."""
    copied = environment_copy(m, Arguments(), None).single
    assert isinstance(copied, Obj)
    m.heap.set_any(owner, unknown("$", "str"))
    for key, value in m.heap.entries(copied):
        m.heap.set(owner, key, value.without(ABSENT).joined(m.heap.get(owner, key)) if value.may_be_absent else value)


LIBRARY = {
    "os.getenv": getenv,
    "os.environ.get": getenv,
    "os.environ.pop": pop_variable,
    "os.environ.setdefault": set_default_variable,
    "os.environ.update": update_environment,
    "os.environ.copy": environment_copy,
    **{f"os.environ.{name}": _of_copy(name) for name in ("items", "keys", "values", "__contains__", "__getitem__")},
    **{f"os.environ.{name}": change_environment for name in ("clear", "popitem", "__setitem__", "__delitem__")},
}
