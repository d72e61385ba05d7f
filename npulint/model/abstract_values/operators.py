"""Operators on constants, executed as Python does, within limits on the size of what they make."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any, Final

from npulint.model.abstract_values.value import UNKNOWN, Const, Value, const, unknown

_MOST_TEXT = 10_000
_MOST_BITS = 4_096
_NUMBERS = (int, float, complex)

BINARY: Final[dict[type[ast.operator], tuple[str, Callable[[Any, Any], object]]]] = {
    ast.Add: ("add", operator.add),
    ast.Sub: ("sub", operator.sub),
    ast.Mult: ("mul", operator.mul),
    ast.Div: ("truediv", operator.truediv),
    ast.FloorDiv: ("floordiv", operator.floordiv),
    ast.Mod: ("mod", operator.mod),
    ast.Pow: ("pow", operator.pow),
    ast.MatMult: ("matmul", operator.matmul),
    ast.BitAnd: ("and", operator.and_),
    ast.BitOr: ("or", operator.or_),
    ast.BitXor: ("xor", operator.xor),
    ast.LShift: ("lshift", operator.lshift),
    ast.RShift: ("rshift", operator.rshift),
}
"""By operator the stem of its special methods (``__add__``, ``__radd__``, ``__iadd__``) and its function."""

UNARY: Final[dict[type[ast.unaryop], tuple[str, Callable[[Any], object]]]] = {
    ast.USub: ("neg", operator.neg),
    ast.UAdd: ("pos", operator.pos),
    ast.Invert: ("invert", operator.invert),
}

COMPARISONS: Final[dict[type[ast.cmpop], tuple[str, Callable[[Any, Any], bool]]]] = {
    ast.Eq: ("eq", operator.eq),
    ast.NotEq: ("ne", operator.ne),
    ast.Lt: ("lt", operator.lt),
    ast.LtE: ("le", operator.le),
    ast.Gt: ("gt", operator.gt),
    ast.GtE: ("ge", operator.ge),
}

REFLECTED: Final = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le", "eq": "eq", "ne": "ne"}


class TooLarge(Exception):
    """The result would be larger than is worked out."""


def apply(stem: str, function: Callable[[Any, Any], object], left: object, right: object) -> object:
    """The result of a binary operator. Raises what Python raises, or `TooLarge`."""
    if stem == "mul" and not (isinstance(left, _NUMBERS) and isinstance(right, _NUMBERS)):
        text, times = (left, right) if isinstance(left, str | bytes) else (right, left)
        if isinstance(text, str | bytes) and isinstance(times, int) and len(text) * times > _MOST_TEXT:
            raise TooLarge
    elif stem == "add" and isinstance(left, str | bytes) and isinstance(right, str | bytes):
        if len(left) + len(right) > _MOST_TEXT:
            raise TooLarge
    elif isinstance(left, int) and isinstance(right, int):
        if stem == "pow" and right > 0 and left.bit_length() * right > _MOST_BITS:
            raise TooLarge
        if (stem == "lshift" and right > _MOST_BITS) or max(left.bit_length(), right.bit_length()) > _MOST_BITS:
            raise TooLarge
    elif stem == "mod" and isinstance(left, str | bytes):
        raise TooLarge  # `texts.percent` does it
    return function(left, right)


def hint_of(left: Value, right: Value, stem: str) -> Value:
    """What is known of the result of an operator where its operands are not."""
    hints = {_type_name(left), _type_name(right)}
    numbers = {"int", "float", "bool", "number"}
    reason = left.reason or right.reason
    if hints <= {"str"}:
        return unknown(reason, "str")
    if hints <= numbers:
        if stem == "truediv" or (stem not in ("pow",) and "float" in hints and hints <= {"float", "int", "bool"}):
            return unknown(reason, "float")
        if hints <= {"int", "bool"} and stem not in ("pow", "truediv", "and", "or", "xor"):
            return unknown(reason, "int")
        return unknown(reason, "number")
    return unknown(reason) if reason else UNKNOWN


def _type_name(value: Value) -> str:
    names = {
        type(alternative.value).__name__ if isinstance(alternative, Const) else "?"
        for alternative in value.alternatives
    }
    if value.is_open:
        names.add(value.hint or "?")
    return names.pop() if len(names) == 1 else "number" if names and names <= {"int", "float", "bool"} else "?"


def folded(function: Callable[[], object]) -> Value | None:
    """A constant that Python works out; None where it is too large. Raises what Python raises."""
    try:
        result = function()
    except (TooLarge, MemoryError, OverflowError, RecursionError):
        return None
    return const(result)
