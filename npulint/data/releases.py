"""Recorded releases, and whether an option exists in the declared release of TF Adapter."""

from __future__ import annotations

import re
from functools import cache
from typing import Literal

import msgspec

from npulint.core.lazy_regex import lazy_compile
from npulint.data import lazy_table

DEFAULT_ADAPTER = "1.15"
"""The release line of the adapter that is assumed where none is declared."""
Release = tuple[int, ...]
Standing = Literal["yes", "later", "gone", "unknown"]

_PART = lazy_compile(r"\d+|rc", re.IGNORECASE)
_NEXT = "2026"  # the release line after r1.15.0, in the tables
_FIRST_NEXT, _SURELY_NEXT = (2, 0, 0), (9, 0, 0)  # releases in between may belong to either line


class _Releases(msgspec.Struct, frozen=True):
    torch_npu: dict[str, list[str]]  # by what is recorded
    delivered: list[tuple[str, str]]  # CANN release and adapter release shipped with it, oldest first


_table = lazy_table("releases.json", _Releases)


@cache
def torch_releases(recorded: str) -> tuple[tuple[int, int], ...]:
    """The releases of torch_npu, oldest first, with recorded data: kernels, interfaces (the documented list of
    unsupported APIs), or dispatcher (which PyTorch operators are composites)."""
    split = (text.partition(".") for text in _table().torch_npu[recorded])
    return tuple((int(major), int(minor)) for major, _, minor in split)


def standing(since: str, until: str, adapter: str, cann: str) -> Standing:
    """Whether something added in adapter release `since` and removed after `until` (either may be empty) exists in the
    declared one: yes, later, gone, or unknown. Without a declared adapter, it is inferred from CANN."""
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
    """``r1.9.0`` as numbers; an empty text sorts before every release."""
    numbers = _FIRST_NEXT if text == _NEXT else _numbers(text)
    return (*numbers, *(0,) * (3 - len(numbers)))


def _numbers(text: str) -> Release:
    return tuple(int(part) if part.isdigit() else -1 for part in _PART.findall(text))


def _declared(adapter: str) -> tuple[Release, Release] | None:
    """The earliest and the latest release that a declared version may mean."""
    numbers = _numbers(adapter)
    if not numbers:
        return None
    if numbers >= _SURELY_NEXT[:1]:
        return _FIRST_NEXT, _FIRST_NEXT
    if numbers > (1, 15, 99):
        return (1, 15, 0), _FIRST_NEXT
    return (*numbers, *(0,) * (3 - len(numbers))), (*numbers, *(99,) * (3 - len(numbers)))


def _delivered(cann: str) -> tuple[Release, Release] | None:
    """The earliest and the latest adapter that may be shipped with a declared CANN."""
    numbers = _numbers(cann)
    if not numbers:
        return None
    delivered = _adapters()
    if numbers[0] >= delivered[-1][0][0]:
        return _FIRST_NEXT, _FIRST_NEXT
    exact = [adapter for toolkit, adapter in delivered if toolkit[: len(numbers)] == numbers]
    before = [adapter for toolkit, adapter in delivered if toolkit <= numbers]
    after = [adapter for toolkit, adapter in delivered if toolkit > numbers]
    if exact:
        return exact[0], (*exact[-1][:2], 99)
    return (before[-1] if before else (0, 0, 0)), (after[0] if after else _FIRST_NEXT)


@cache
def _adapters() -> list[tuple[Release, Release]]:
    """CANN releases and the adapters shipped with them, by tags of the adapter repository."""
    return [(_numbers(cann), _release(adapter)) for cann, adapter in _table().delivered]
