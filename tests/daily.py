"""Which cases of a large table run each time: some of every group, the same ones always; the others run each night."""

from __future__ import annotations

import zlib
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable
from typing import Any, TypeVar

import pytest

T = TypeVar("T")

PER_GROUP = 2


def daily(
    cases: Iterable[T], name: Callable[[T], str], *groups: Callable[[T], Hashable], per_group: int = PER_GROUP
) -> set[str]:
    """The names of the cases that run each time: of every group that one of `groups` makes (without any: of all), the
    `per_group` ones whose names have the smallest checksums. A new case changes nothing for those of other groups."""
    members: dict[tuple[int, Hashable], list[str]] = defaultdict(list)
    for case in cases:
        for number, group in enumerate(groups or (_as_one_group,)):
            members[number, group(case)].append(name(case))
    return {chosen for names in members.values() for chosen in sorted(names, key=_checksum)[:per_group]}


def _as_one_group(case: object) -> Hashable:
    return None


def _checksum(name: str) -> int:
    return zlib.crc32(name.encode())


def nightly_unless(chosen: bool, *marks: pytest.MarkDecorator) -> list[pytest.MarkDecorator]:
    """The marks of a case: it runs at night only, unless it is chosen for each time."""
    return [*marks] if chosen else [*marks, pytest.mark.nightly]


def parameters(
    cases: Iterable[T], name: Callable[[T], str], *groups: Callable[[T], Hashable], per_group: int = PER_GROUP
) -> list[Any]:
    """The cases as parameters of a test with one argument, those that `daily` does not choose marked nightly."""
    listed = list(cases)
    chosen = daily(listed, name, *groups, per_group=per_group)
    return [pytest.param(case, id=name(case), marks=nightly_unless(name(case) in chosen)) for case in listed]
