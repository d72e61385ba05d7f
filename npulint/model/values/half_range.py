"""The range of float16: which number an expression is, and what becomes of it in float16."""

from __future__ import annotations

import math

from npulint.facts.values import NOTHING, PossibleValues
from npulint.model.values.arithmetic import apply
from npulint.model.values.cursors import Expr
from npulint.model.values.walker import walker

OVERFLOWS_FROM = 65520.0
"""The smallest number that does not round to 65504, the greatest of float16."""
LOST_UP_TO = 2.0**-25
"""The greatest number that rounds to zero; the smallest of float16 is 2**-24."""
ONE_FROM = 1 - 2.0**-12
"""The smallest number below one that rounds to one."""
_ARITHMETIC = frozenset(("neg", "+", "-", "*", "/", "**"))
_GREATEST_OF_FLOAT32 = float(2**128 - 2**104)
_CONVERSIONS = frozenset(("tensorflow.cast", "tensorflow.convert_to_tensor", "tensorflow.to_float", "torch.tensor"))


@walker(depth=8, otherwise=lambda: None)
def number(value: Expr) -> float | None:
    """The number that an expression is, also if only the default of a parameter says so; None for everything else."""
    call = value.call
    if call is not None and call.name in _CONVERSIONS:
        return number(call.args[0]) if call.args else None
    values = _of_operation(value) if value.operator in _ARITHMETIC else value.known
    if len(values.values) != 1 or not (values.exact or value.parameter_of is not None):
        return None
    scalar = values.values[0]
    if isinstance(scalar, bool) or not isinstance(scalar, int | float):
        return None
    return math.copysign(math.inf, scalar) if abs(scalar) > _GREATEST_OF_FLOAT32 else float(scalar)


def _of_operation(value: Expr) -> PossibleValues:
    """The value of an operation on numbers."""
    operands = [number(operand) for operand in value.operands()]
    return (
        NOTHING
        if None in operands
        else apply(value.operator, [PossibleValues((operand,), True) for operand in operands])
    )


def overflowing(value: Expr) -> float | None:
    """The finite number that an expression is, if it is beyond the range of float16; else None."""
    numeric = number(value)
    return numeric if numeric is not None and abs(numeric) >= OVERFLOWS_FROM and not math.isinf(numeric) else None


def vanishing(value: Expr) -> float | None:
    """The positive number that an expression is, if it rounds to zero in float16; else None."""
    numeric = number(value)
    return numeric if numeric is not None and 0 < numeric <= LOST_UP_TO else None


def in_half(numeric: float) -> str:
    """What becomes of a number in float16, as text.

    >>> in_half(-1e9), in_half(1e-8), in_half(0.99999), in_half(0.5)
    ('-inf', '0', '1', '0.5')
    """
    if abs(numeric) >= OVERFLOWS_FROM:
        return "inf" if numeric > 0 else "-inf"
    if abs(numeric) <= LOST_UP_TO:
        return "0"
    return "1" if ONE_FROM <= numeric < 1 else f"{numeric:g}"
