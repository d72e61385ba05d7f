"""Releases of drivers, firmware and toolkits."""

from __future__ import annotations

import re

_NUMBERS = re.compile(r"\d+")
_SERIES = re.compile(r"V\d+R\d+C\d+")


def ordered(release: str) -> tuple[int, ...]:
    """A release as numbers.

    >>> ordered("7.7.0.1.231") < ordered("8.9.9"), ordered("8.2.RC1") < ordered("8.2.0.RC2")
    (True, True)
    """
    return tuple(map(int, _NUMBERS.findall(release)))


def within(release: str, first: str, last: str) -> bool:
    """Whether a release lies between two, by as many numbers as these have.

    >>> within("7.7.0.1.231", "7.0.0", "8.9.9"), within("6.4.12.1", "7.0.0", "7.2.99")
    (True, False)
    """
    size = len(ordered(first))
    return ordered(first) <= ordered(release)[:size] <= ordered(last)


def series(inner: str) -> str:
    """The series of an internal version, by which packages name each other as compatible.

    >>> series("V100R001C23SPC001B231")
    'V100R001C23'
    """
    match = _SERIES.match(inner)
    return match.group() if match else ""


def compatible(one: str, of_one: list[str], other: str, of_other: list[str]) -> bool | None:
    """Whether one of two internal versions is in the other's list; None where neither list is known."""
    if not series(one) or not series(other) or not (of_one or of_other):
        return None
    return series(one) in of_other or series(other) in of_one or series(one) == series(other)
