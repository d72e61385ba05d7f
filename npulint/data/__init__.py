"""Recorded tables about TensorFlow, PyTorch, the NPU adapter and their operators; each is loaded on first use."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import cache
from typing import TypeVar

import msgspec

_T = TypeVar("_T")


def table(name: str) -> bytes:
    """The raw content of a table of this package."""
    with open(os.path.join(os.path.dirname(__file__), name), "rb") as stream:
        return stream.read()


def lazy_table(name: str, kind: type[_T]) -> Callable[[], _T]:
    """A function that gives the content of a JSON table as `kind`, decoded on its first call."""
    return cache(lambda: msgspec.json.decode(table(name), type=kind))


def known_prefix(name: str, names: Mapping[str, object]) -> str:
    """The longest dotted prefix of a name, or the name itself, that is among the `names`; empty if none is."""
    while name and name not in names:
        name = name.rpartition(".")[0]
    return name
