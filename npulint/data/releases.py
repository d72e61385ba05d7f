"""Releases of the TensorFlow adapter: did the declared one have an option already, or no longer?"""

from __future__ import annotations

import re

from npulint.lazy_regex import lazy_compile

Release = tuple[int, ...]

_PART = lazy_compile(r"\d+|rc", re.IGNORECASE)
_NEXT = "2026"  # how the tables write the line that followed r1.15.0
_FIRST_NEXT, _SURELY_NEXT = (2, 0, 0), (9, 0, 0)  # what lies between them may be of either line
_CANN = (  # which adapter came with which CANN, by the tags of the adapter
    ((5, 0, 2), (1, 5, 0)),
    ((5, 1, -1, 1), (1, 8, 0)),
    ((6, 0, -1, 1), (1, 10, 0)),
    ((6, 0, 1), (1, 11, 0)),
    ((6, 3, -1, 1), (1, 12, 0)),
    ((6, 3, -1, 2), (1, 13, 0)),
    ((7, 0, -1, 1), (1, 14, 0)),
    ((7, 0, 0), (1, 15, 0)),
    ((9, 0), _FIRST_NEXT),
)


def standing(since: str, until: str, adapter: str, cann: str) -> str:
    """Whether what came with adapter release `since` and went after `until` (either may be empty) is in the
    declared one: yes, later, gone, or unknown. Without a declared adapter, CANN tells which one it may be."""
    between = _declared(adapter) if adapter else _delivered(cann) if cann else None
    if between is None:
        return "unknown"
    first, last = between
    came, went = _release(since), _release(until)
    if came > last:
        return "later"
    if until and first[:2] > went[:2]:
        return "gone"
    return "yes" if came <= first and (not until or last[:2] <= went[:2]) else "unknown"


def _release(text: str) -> Release:
    """``r1.9.0`` as numbers; nothing is before every release."""
    numbers = _FIRST_NEXT if text == _NEXT else _numbers(text)
    return (*numbers, *(0,) * (3 - len(numbers)))


def _numbers(text: str) -> Release:
    return tuple(int(part) if part.isdigit() else -1 for part in _PART.findall(text))


def _declared(adapter: str) -> tuple[Release, Release] | None:
    """The earliest and the latest release that a declared version may stand for."""
    numbers = _numbers(adapter)
    if not numbers:
        return None
    if numbers >= _SURELY_NEXT[:1]:
        return _FIRST_NEXT, _FIRST_NEXT
    if numbers > (1, 15, 99):
        return (1, 15, 0), _FIRST_NEXT
    return (*numbers, *(0,) * (3 - len(numbers))), (*numbers, *(99,) * (3 - len(numbers)))


def _delivered(cann: str) -> tuple[Release, Release] | None:
    """The earliest and the latest adapter that a declared CANN may have come with."""
    numbers = _numbers(cann)
    if not numbers:
        return None
    if numbers[0] >= _CANN[-1][0][0]:
        return _FIRST_NEXT, _FIRST_NEXT
    exact = [adapter for known, adapter in _CANN if known[: len(numbers)] == numbers]
    before = [adapter for known, adapter in _CANN if known <= numbers]
    after = [adapter for known, adapter in _CANN if known > numbers]
    if exact:
        return exact[0], (*exact[-1][:2], 99)
    return (before[-1] if before else (0, 0, 0)), (after[0] if after else _FIRST_NEXT)
