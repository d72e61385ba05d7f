"""Expressions as people write them, for the names of places that a value came by."""

from __future__ import annotations

from npulint.facts.code import Const, Op, Ref, Value

_DEPTH = 8


def written(value: Value, depth: int = 0) -> str:
    """A name with its attributes and items; empty for what has no name."""
    if isinstance(value, Ref):
        return value.name
    if isinstance(value, Op) and depth < _DEPTH and value.op in (".", "[]"):
        holder = written(value.operands[0], depth + 1)
        key = value.operands[1]
        if holder and isinstance(key, Const):
            return f"{holder}.{key.value}" if value.op == "." else f"{holder}[{key.value!r}]"
    return ""
