"""Calls of libraries of PyTorch that train: the loop with its backward pass is in the library."""

from __future__ import annotations

from fnmatch import fnmatchcase
from functools import cache

from npulint.data import lazy_table

_calls = lazy_table("training_calls.json", list[str])


@cache
def training_packages() -> frozenset[str]:
    """The packages that have such calls."""
    return frozenset([call.partition(".")[0] for call in _calls()])


def is_training_call(name: str) -> bool:
    """Whether a call, by its canonical name, trains."""
    package = name.partition(".")[0]
    return package in training_packages() and any(fnmatchcase(name, call) for call in _calls())
