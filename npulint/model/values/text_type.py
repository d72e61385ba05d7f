"""Texts: whether a value is a str. What flow follows does not tell, because there a text and its bytes are the same."""

from __future__ import annotations

from collections.abc import Iterator

from npulint.facts.code import Ref
from npulint.model.values.cursors import CallSite, Expr
from npulint.model.values.mappings import fields, mappings
from npulint.model.values.objects import elements
from npulint.model.values.walker import walker

_TEXTS = frozenset(("str", "os.path.join", "os.path.abspath", "os.path.dirname"))


@walker(depth=7, otherwise=bool)
def is_text(value: Expr) -> bool:
    """Whether an expression is certainly a str, not bytes."""
    if value.is_literal:
        return isinstance(value.literal, str) and not value.is_binary
    call = value.call
    if call is not None:
        return _gives_text(call)
    options = value.context.options.meant(value.module, value.written) if value.written else []
    if options:
        return all(option.kind == "text" for option in options)
    behind = list(_behind(value))
    return bool(behind) and all(map(is_text, behind))


def _gives_text(call: CallSite) -> bool:
    results = call.result.sources
    return call.name in _TEXTS or (bool(results) and all(map(is_text, results)))


def _behind(value: Expr) -> Iterator[Expr]:
    """The expressions one step back, all of which may be the value."""
    subscript = value.subscript
    if subscript is not None:
        holder, index = subscript
        key = index.single
        exprs = [*elements(holder, key)] or [mapping.get(key) for mapping in mappings(holder)]
    else:
        name, _, field = value.written.rpartition(".")
        own = value.sources
        exprs = [*own] if own or not name else [mapping.get(field) for mapping in fields(value.sibling(Ref(name)))]
        function = value.passed_to
        exprs += [] if function is None else [function.default(value.written)]
    yield from (expr for expr in exprs if expr is not None)
