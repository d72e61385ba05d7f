"""Literals: values that are written down where they stand."""

from __future__ import annotations

from collections.abc import Hashable

from npulint.facts.code import Const, Op, Ref, SequenceDisplay, Table, Value

_EXACT = 1 << 53  # integers up to here are exact as floats
_DEEP = 6  # levels of displays and operations that are looked into
_ARITHMETIC = frozenset(("+", "-", "*", "/", "//", "%", "**"))


def is_literal(value: Value, depth: int = 0) -> bool:
    """Whether a value is made of constants alone: ``0.1``, ``[0.5] * 3``, ``(1, 2)``, ``{"a": 1}``."""
    if isinstance(value, Const):
        return True
    if depth >= _DEEP:
        return False
    if isinstance(value, SequenceDisplay):
        return bool(value.items) and all(is_literal(item, depth + 1) for item in value.items)
    if isinstance(value, Table):
        parts = (*value.keys, *value.values)
        return bool(parts) and all(part is not None and is_literal(part, depth + 1) for part in parts)
    return isinstance(value, Op) and value.op in _ARITHMETIC and all(is_literal(v, depth + 1) for v in value.operands)


def is_filling(value: Value) -> bool:
    """Whether elements of an array that are chosen by a mask are set to a constant: ``loss[mask] = -math.inf``."""
    inner = value.operands[0] if isinstance(value, Op) and value.op == "neg" else value
    if isinstance(inner, Ref):
        return inner.name.rpartition(".")[2].lower() in ("inf", "infinity", "nan")
    return isinstance(inner, Const) and isinstance(inner.value, int | float) and not isinstance(inner.value, bool)


def skeleton(value: Value, depth: int = 0) -> Hashable:
    """A value without its names: the constants and operations in it. Numbers are equal whatever their type."""
    if isinstance(value, Const):
        content = value.value
        return float(content) if isinstance(content, bool | int) and abs(content) < _EXACT else content
    if depth < _DEEP:
        if isinstance(value, SequenceDisplay):
            return ("[]", *(skeleton(item, depth + 1) for item in value.items))
        if isinstance(value, Op):
            return (value.op, *(skeleton(part, depth + 1) for part in value.operands))
    return "_"


def is_telling(value: Value) -> bool:
    """Whether a literal may decide numbers: it is neither nothing, nor a text that names a file."""
    if isinstance(value, Const):
        content = value.value
        if isinstance(content, str):
            return 0 < len(content) <= 40 and not any(mark in content for mark in "/\\\n %{")
        return content is not None
    return True
