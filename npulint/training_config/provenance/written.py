"""Names and spans of expressions as written, for provenance."""

from __future__ import annotations

from npulint.facts.code import Call, Const, Op, Ref, Table, Value
from npulint.facts.model import Span

_DEPTH = 8


def written(value: Value, depth: int = 0) -> str:
    """A name with its attributes and items; empty for an expression that has none."""
    if isinstance(value, Ref):
        return value.name
    if isinstance(value, Op) and depth < _DEPTH and value.op in (".", "[]"):
        holder = written(value.operands[0], depth + 1)
        key = value.operands[1]
        if holder and isinstance(key, Const):
            return f"{holder}.{key.value}" if value.op == "." else f"{holder}[{key.value!r}]"
    return ""


def spot(call: Call, value: Value) -> Span:
    """The span of an argument of a call; that of the call if not recorded."""
    for place, one in enumerate((*call.args, *(keyword_value for _, keyword_value in call.keywords))):
        if one is value and place < len(call.argument_spans):
            return Span(*call.argument_spans[place])
    return Span.of(call)


def entry_spot(display: Value, value: Value, line: int) -> Span:
    """The span of a value in a dict display; else the line of the display."""
    if isinstance(display, Table):
        for place, one in enumerate(display.values):
            if one is value and place < len(display.places):
                return Span(*display.places[place])
    return Span.at(line)
