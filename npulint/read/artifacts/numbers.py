"""Numbers as tools write them into tables, records and panels."""

from __future__ import annotations

import math

SATURATED = frozenset((65504.0, 65500.0))
"""The largest number of float16, and what rounding to four digits makes of it."""


def number(text: object) -> float | None:
    """The number that a text or a scalar of JSON stands for (NaN and infinities are numbers); None when it is none."""
    if isinstance(text, bool) or not isinstance(text, (str, int, float)):
        return None
    try:
        return float(text.strip().rstrip("%") if isinstance(text, str) else text)
    except (ValueError, OverflowError):
        return None


def whole(text: object) -> int | None:
    """The whole number that a text (decimal or ``0x…``) or a scalar of JSON stands for; None when it is none."""
    if isinstance(text, int) and not isinstance(text, bool):
        return text
    if not isinstance(text, str) or len(text) > 40:
        return None
    try:
        return int(text.strip(), 0)
    except ValueError:
        return int(text) if text.strip().isdecimal() else None


def finite(value: float | None) -> float | None:
    """The value when it is an ordinary number, else None."""
    return value if value is not None and math.isfinite(value) else None


def saturated(value: float | None) -> bool:
    """Whether the value is the end of float16, where saturation leaves what would have been infinite."""
    return value is not None and abs(value) in SATURATED
