"""Fusion passes of CANN, as switch files and reports name them."""

from __future__ import annotations

from functools import cache

from npulint.data import lazy_table
from npulint.data.ops import slipped

_passes = lazy_table("fusion_passes.json", frozenset[str])
_ENDS = ("", "pass", "fusionpass")
_SHORT = 12  # shorter names may differ in one letter


def known_pass(name: str) -> bool:
    """Whether the name is that of a recorded fusion pass. No list is complete: releases have different ones."""
    return name in _passes()


def near_pass(name: str) -> str | None:
    """The fusion pass that an unknown name certainly means: different letter case, a missing end, a one-letter typo."""
    if known_pass(name):
        return None
    plain = _plain(name[:120])
    same = next((found for end in _ENDS if (found := _by_plain_form().get(plain + end))), None)
    if same or len(name) < _SHORT:
        return same
    near = (one for size in (-1, 0, 1) for one in _by_beginning().get((name[0], len(name) + size), ()))
    return min((one for one in near if slipped(name, one)), default=None)


@cache
def _by_plain_form() -> dict[str, str]:
    return {_plain(name): name for name in sorted(_passes(), reverse=True)}


@cache
def _by_beginning() -> dict[tuple[str, int], list[str]]:
    beginning: dict[tuple[str, int], list[str]] = {}
    for name in _passes():
        beginning.setdefault((name[0], len(name)), []).append(name)
    return beginning


def _plain(name: str) -> str:
    return name.replace("_", "").replace("-", "").casefold()
