"""Configurations that are Python modules, as in mmcv: assignments of literals and ``dict(...)`` calls."""

from __future__ import annotations

import msgspec

from npulint.commands.training_config.configs.values import ConfigValue
from npulint.commands.training_config.provenance.written import spot
from npulint.facts.model import Span
from npulint.model.code.module import Module
from npulint.model.values.context import Context
from npulint.model.values.cursors import AssignmentSite, Expr, assignment_at, scope_at
from npulint.model.values.walker import walker

_DEPTH = 24
_MOST = 4000
_STEPS = 20_000  # values of one module, counting a name with everything it refers to
_END = 1 << 30  # a line after all others
_DICTS = frozenset(
    ("dict", "ConfigDict", "edict", "EasyDict", "CN", "CfgNode", "AttrDict", "OrderedDict", "Munch", "Dict")
)

_NOT_PLAIN = object()


class _Reading(msgspec.Struct):
    """The values found so far, and how many expressions were visited."""

    found: list[ConfigValue] = []
    steps: int = 0


def module_values(context: Context, module: Module) -> tuple[ConfigValue, ...]:
    """The leaves of the module-level assignments of a module. Their places are those of the innermost enclosing
    argument, call or assignment that is recorded."""
    reading = _Reading()
    scope = scope_at(context, module, 0)
    for name, binds in module.names.get(0, {}).items():
        bind = assignment_at(context, module, binds[-1])
        if bind.scope.kind == "module" or len(binds) == 1:
            _add(scope.expr(bind.record.value, _END), reading, (name,), bind.span)
    return tuple(reading.found)


@walker(_DEPTH, lambda: None)
def _add(value: Expr, reading: _Reading, key: tuple[str, ...], span: Span) -> None:
    """Add the leaves of a value under its keys."""
    reading.steps += 1
    if len(reading.found) >= _MOST or reading.steps > _STEPS:
        return
    site = value.call
    span = site.span if site is not None and site.last in _DICTS else span
    entries = _entries(value)
    if entries is not None:
        called = site if site is not None and site.last in _DICTS else None
        for name, inner in entries:
            _add(inner, reading, (*key, name), span if called is None else spot(inner, called))
        return
    known = _plain(value)
    if known is not _NOT_PLAIN:
        reading.found.append(ConfigValue(key, known, value.module.path, span))
    for number, inner in enumerate(value.items if known is _NOT_PLAIN else ()):
        _add(inner, reading, (*key, str(number)), span)
    bind = _bind(value) if known is _NOT_PLAIN else None
    if bind is not None:
        _add(value.sibling(bind.record.value), reading, key, bind.span)


@walker(_DEPTH, lambda: None)
def _entries(value: Expr) -> list[tuple[str, Expr]] | None:
    """The entries of a mapping; None when `value` is no mapping."""
    site = value.call
    entries: list[tuple[str, Expr]] = []
    if value.is_dict:
        for key, inner in value.entries:
            entries += _spread(inner) if key is None else [(str(key.literal), inner)] if key.is_literal else []
        return entries
    if site is None or site.last not in _DICTS:
        return None
    for first in site.record.args[:1]:
        entries += _entries(value.sibling(first)) or ()
    for name, one in site.record.keywords:
        inner = value.sibling(one)
        entries += _spread(inner) if name == "**" else [(name, inner)]
    return entries


def _spread(value: Expr) -> list[tuple[str, Expr]]:
    """The entries of the operand of ``**``."""
    bind = _bind(value)
    return _entries(value.sibling(bind.record.value) if bind is not None else value) or []


def _bind(value: Expr) -> AssignmentSite | None:
    """The last assignment to a name of the module."""
    binds = value.module.names.get(0, {}).get(value.written, ())
    return assignment_at(value.context, value.module, binds[-1]) if binds else None


@walker(_DEPTH, lambda: _NOT_PLAIN)
def _plain(value: Expr) -> object:
    """The plain value of an expression, or `_NOT_PLAIN`."""
    if value.is_literal:
        return value.literal
    if value.is_display:
        items = [_plain(item) for item in value.items]
        return _NOT_PLAIN if any(item is _NOT_PLAIN for item in items) else tuple(items)
    if value.operator or (value.written and "." not in value.written):
        values = value.known
        return values.single if values.exact and len(values.values) == 1 else _NOT_PLAIN
    return _NOT_PLAIN
