"""Literal values."""

from __future__ import annotations

from collections.abc import Hashable

from npulint.facts.code import Const, Op, Ref, SequenceDisplay, Table, Value
from npulint.facts.walk import nested

_EXACT = 1 << 53  # integers up to here are exact as floats
_DEEP = 6  # nesting levels of displays and operations
_ARITHMETIC = frozenset(("+", "-", "*", "/", "//", "%", "**"))


def is_literal(value: Value) -> bool:
    """Whether a value consists of constants only: ``0.1``, ``[0.5] * 3``, ``(1, 2)``, ``{"a": 1}``."""
    return all(map(_is_constant, nested(value)))


def _is_constant(value: Value) -> bool:
    """Whether a value is a constant, or a display or operation that may consist of some."""
    if isinstance(value, SequenceDisplay):
        return bool(value.items)
    if isinstance(value, Table):
        return bool(value.keys) and None not in value.keys
    return isinstance(value, Const) or (isinstance(value, Op) and value.op in _ARITHMETIC)


def is_filling(value: Value) -> bool:
    """Whether a constant is assigned to masked elements of an array: ``loss[mask] = -math.inf``."""
    inner = value.operands[0] if isinstance(value, Op) and value.op == "neg" else value
    if isinstance(inner, Ref):
        return inner.name.rpartition(".")[2].lower() in ("inf", "infinity", "nan")
    return isinstance(inner, Const) and isinstance(inner.value, int | float) and not isinstance(inner.value, bool)


def skeleton(value: Value, depth: int = 0) -> Hashable:
    """A value without names: its constants and operations. Numbers are equal regardless of type."""
    if isinstance(value, Const):
        content = value.value
        return float(content) if isinstance(content, bool | int) and abs(content) < _EXACT else content
    if depth < _DEEP:
        if isinstance(value, SequenceDisplay):
            return ("[]", *(skeleton(item, depth + 1) for item in value.items))
        if isinstance(value, Op):
            return (value.op, *(skeleton(part, depth + 1) for part in value.operands))
    return "_"


def is_relevant(value: Value) -> bool:
    """Whether a literal may affect numbers: not None, and not a file name."""
    if isinstance(value, Const):
        content = value.value
        if isinstance(content, str):
            return 0 < len(content) <= 40 and not any(mark in content for mark in "/\\\n %{")
        return content is not None
    return True
