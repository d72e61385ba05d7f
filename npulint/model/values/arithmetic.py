"""Operators on three-valued values."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from npulint.facts.code import Scalar
from npulint.facts.values import NO, NOTHING, YES, PossibleValues, merge, truth

COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_TWO: dict[str, Callable[[Any, Any], Any]] = {
    **COMPARISONS,
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "is": operator.eq,
    "is not": operator.ne,
    "in": lambda a, b: a in b,
    "not in": lambda a, b: a not in b,
}
_CONVERT: dict[str, Callable[[Any], Any]] = {
    "neg": operator.neg,
    "str": str,
    "int": int,
    "float": float,
    "bool": bool,
    "abs": abs,
}
METHODS: dict[str, Callable[[Any], Any]] = {"lower": str.lower, "upper": str.upper, "strip": str.strip}
_PAIRS = 16  # maximum number of combinations of alternatives
_LARGE = 1 << 1024  # larger integers are not settings, and Python may refuse to print them


def apply(symbol: str, parts: list[PossibleValues]) -> PossibleValues:
    """The value of an operation on values; unknown operators and operands give `NOTHING`."""
    if symbol == "not":
        answer = truth(parts[0])
        return NOTHING if answer is None else _of(not answer)
    if symbol in ("and", "or"):
        return _logic(symbol, parts)
    if symbol == "if":
        answer = truth(parts[0])
        return merge(parts[1:]) if answer is None else parts[1 if answer else 2]
    if symbol == "join":
        texts = [p.single for p in parts]
        return NOTHING if any(t is None for t in texts) else PossibleValues(("".join(str(t) for t in texts),), True)
    convert = _CONVERT.get(symbol) or METHODS.get(symbol)
    if convert is not None and len(parts) == 1:
        return _each(convert, parts[0])
    if symbol in ("list", "tuple", "bytes", "set", "repr") and len(parts) == 1:
        return parts[0]
    if len(parts) == 2:
        return _binary(symbol, *parts)
    return NOTHING


def _binary(symbol: str, left: PossibleValues, right: PossibleValues) -> PossibleValues:
    if not (left.exact and right.exact and 0 < len(left.values) * len(right.values) <= _PAIRS):
        return NOTHING
    return merge([_pair(symbol, a, b) for a in left.values for b in right.values])


def _pair(symbol: str, a: Scalar, b: Scalar) -> PossibleValues:
    if symbol == "**":
        return _power(a, b)
    if symbol in ("<<", ">>"):
        return _shift(symbol, a, b)
    function = _TWO.get(symbol)
    if (
        function is None
        or (symbol == "%" and isinstance(a, str))
        or (symbol == "*" and isinstance(a, str) != isinstance(b, str))
    ):
        return NOTHING
    try:
        return _of(function(a, b))
    except (TypeError, ValueError, ArithmeticError):
        return NOTHING


def _power(a: Scalar, b: Scalar) -> PossibleValues:
    if isinstance(a, int | float) and isinstance(b, int | float) and abs(a) <= 1 << 20 and abs(b) <= 64:
        try:
            return _of(a**b)
        except (ArithmeticError, ValueError):
            return NOTHING
    return NOTHING


def _shift(symbol: str, a: Scalar, b: Scalar) -> PossibleValues:
    if type(a) is int and type(b) is int and abs(a) <= 1 << 64 and 0 <= b <= 64:
        return _of(a << b if symbol == "<<" else a >> b)
    return NOTHING


def _each(function: Callable[[Any], Any], part: PossibleValues) -> PossibleValues:
    try:
        return PossibleValues(tuple(function(v) for v in part.values), part.exact, part.symbol)
    except (TypeError, ValueError, ArithmeticError):
        return PossibleValues((), False, part.symbol)


def _logic(symbol: str, parts: list[PossibleValues]) -> PossibleValues:
    """The result of ``and`` or ``or``: the first operand that decides, else the last; every operand after an unknown
    one is possible."""
    stop = symbol == "or"
    possible: list[PossibleValues] = []
    for part in parts[:-1]:
        answer = truth(part)
        if answer is stop:
            return _either(possible, part, stop)
        if answer is None:
            kept = tuple(v for v in part.values if bool(v) is stop)
            possible.append(PossibleValues(kept, part.exact and bool(kept), part.symbol))
    return _either(possible, parts[-1], stop)


def _either(possible: list[PossibleValues], last: PossibleValues, stop: bool) -> PossibleValues:
    if possible and truth(last) is stop and (not stop or last.single is True):
        return YES if stop else NO  # the result is the same for every earlier operand
    return merge([*possible, last])


def _of(value: Any) -> PossibleValues:
    if isinstance(value, int) and abs(value) > _LARGE:
        return NOTHING
    return PossibleValues((value,), True) if value is None or isinstance(value, str | int | float) else NOTHING
