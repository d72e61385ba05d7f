"""Numbers that libraries name: ``numpy.inf``, ``sys.float_info.max``, ``torch.finfo(torch.float32).min``."""

from __future__ import annotations

import math
import sys

_NAMED = {
    "math.inf": math.inf,
    "numpy.inf": math.inf,
    "numpy.Inf": math.inf,
    "numpy.PINF": math.inf,
    "numpy.infty": math.inf,
    "numpy.NINF": -math.inf,
    "torch.inf": math.inf,
    "sys.float_info.max": sys.float_info.max,
    "sys.float_info.min": sys.float_info.min,
    "sys.float_info.epsilon": sys.float_info.epsilon,
}
# type: (greatest, distance of 1 from the next number, smallest normal number)
_TYPES = {
    "float16": (65504.0, 2.0**-10, 2.0**-14),
    "bfloat16": (float(2**128 - 2**120), 2.0**-7, 2.0**-126),
    "float32": (float(2**128 - 2**104), 2.0**-23, 2.0**-126),
    "float64": (sys.float_info.max, sys.float_info.epsilon, sys.float_info.min),
}
_SAME_TYPES = {"half": "float16", "float": "float32", "single": "float32", "double": "float64"}
_WITH_LIMITS = frozenset(("numpy", "tensorflow", "torch"))
FINFO = frozenset(("numpy.finfo", "torch.finfo", "tensorflow.experimental.numpy.finfo"))
"""The functions that give the limits of a type."""


def named_number(name: str) -> float | None:
    """The number that a canonical name stands for, also ``tensorflow.float32.min``; None for all other names.

    >>> named_number("numpy.NINF"), named_number("tensorflow.float16.max"), named_number("torch.float32")
    (-inf, 65504.0, None)
    """
    holder, _, limit = name.rpartition(".")
    return limit_of(holder, limit) if holder.startswith("tensorflow.") else _NAMED.get(name)


def limit_of(type_name: str, limit: str) -> float | None:
    """A limit (``min``, ``max``, ``eps``, ``tiny``) of the type with this canonical name; None if it is not known."""
    package, _, last = type_name.rpartition(".")
    if package == "" and last == "float":
        last = "double"  # that of Python
    limits = _TYPES.get(_SAME_TYPES.get(last, last)) if package in ("", *_WITH_LIMITS) else None
    if limits is None:
        return None
    greatest, distance, smallest = limits
    known = {"max": greatest, "min": -greatest, "eps": distance, "tiny": smallest, "smallest_normal": smallest}
    return known.get(limit)
