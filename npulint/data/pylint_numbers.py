"""The numbers of checks in message ids of pylint, which has room for four digits."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from npulint.data import table

FIRST = 6600
"""The first number; those from here to `_CHECKS` are for messages about npulint itself."""
_CHECKS = FIRST + 10


def numbers(codes: Iterable[str]) -> dict[str, int]:
    """The numbers of checks by code. Those of built-in checks are the same in all releases; the checks of a project are
    counted from behind them."""
    codes_in_table = recorded()
    given = {code: _CHECKS + place for place, code in enumerate(codes_in_table)}
    own = sorted(set(codes).difference(codes_in_table))
    return given | {code: _CHECKS + place for place, code in enumerate(own, len(codes_in_table))}


@cache
def recorded() -> tuple[str, ...]:
    """The codes in the order in which they got their numbers."""
    lines = table("pylint_numbers.txt").decode("ascii").splitlines()
    return tuple(line for line in lines if not line.startswith("#"))
