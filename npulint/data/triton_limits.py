"""What triton-ascend lacks on the chips A2 and A3: element types of operations, launch arguments of other backends."""

from __future__ import annotations

import msgspec

from npulint.data import lazy_table


class _Limits(msgspec.Struct, frozen=True):
    lacks: dict[str, list[str]]
    arguments: frozenset[str]


_limits = lazy_table("triton_limits.json", _Limits)


def lacks(operation: str) -> list[str]:
    """The element types that an operation of a kernel does not support there; empty for an unknown operation."""
    return _limits().lacks.get(operation, [])


def is_foreign_argument(name: str) -> bool:
    """Whether a launch argument is an option of other backends only: Triton raises a KeyError for it."""
    return name in _limits().arguments
