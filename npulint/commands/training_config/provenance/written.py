"""Names and spans of expressions as written, for provenance."""

from __future__ import annotations

from npulint.facts.code import Table, Value
from npulint.facts.model import Span
from npulint.model.values.cursors import CallSite, Expr


def written(expr: Expr) -> str:
    """A name with its attributes and items; empty for an expression that has none."""
    subscript = expr.attribute or expr.subscript
    if subscript is None:
        return expr.written
    holder, key = subscript
    name = written(holder)
    if not name or (isinstance(key, Expr) and not key.is_literal):
        return ""
    return f"{name}.{key}" if isinstance(key, str) else f"{name}[{key.literal!r}]"


def spot(value: Expr, site: CallSite | None) -> Span:
    """The span of an argument of a call; that of the call if not recorded."""
    if site is None:
        return Span.at(value.line)
    arguments = (*site.record.args, *(inner for _, inner in site.record.keywords))
    return _recorded(value.value, arguments, site.record.argument_spans) or site.span


def entry_spot(display: Expr, value: Expr) -> Span | None:
    """The span of a value in a dict display; None if not recorded."""
    table = display.value
    return _recorded(value.value, table.values, table.places) if isinstance(table, Table) else None


def _recorded(value: Value, values: tuple[Value, ...], spans: tuple[tuple[int, int, int, int], ...]) -> Span | None:
    return next((Span(*span) for one, span in zip(values, spans, strict=False) if one is value), None)
