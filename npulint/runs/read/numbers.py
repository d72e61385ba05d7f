"""Parses numbers in tables, records and console panels."""

from __future__ import annotations

import math

SATURATED = frozenset((65504.0, 65500.0))
"""The largest float16 number, and its value rounded to four digits."""


def number(text: object) -> float | None:
    """The number in a text or a JSON scalar (including NaN and infinities); None if there is none."""
    if isinstance(text, bool) or not isinstance(text, (str, int, float)):
        return None
    try:
        return float(text.strip().rstrip("%") if isinstance(text, str) else text)
    except (ValueError, OverflowError):
        return None


def whole(text: object) -> int | None:
    """The integer in a text (decimal or ``0x…``) or a JSON scalar; None if there is none."""
    if isinstance(text, int) and not isinstance(text, bool):
        return text
    if not isinstance(text, str) or len(text) > 40:
        return None
    try:
        return int(text.strip(), 0)
    except ValueError:
        return int(text) if text.strip().isdecimal() else None


def finite(value: float | None) -> float | None:
    """The value if it is finite, else None."""
    return value if value is not None and math.isfinite(value) else None


def saturated(value: float | None) -> bool:
    """Whether the value is the limit of float16, to which saturation clips infinities."""
    return value is not None and abs(value) in SATURATED
