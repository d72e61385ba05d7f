"""The record of what a program configured, as the fakes for TensorFlow write it."""

from __future__ import annotations

import importlib
from typing import Any


def add(kind: str, **entry: Any) -> dict[str, Any]:
    """Put an entry into the list of its kind; it may change until the process ends."""
    recorded: dict[str, Any] = _module().add(kind, {name: _module().plain(value) for name, value in entry.items()})
    return recorded


def count(kind: str, name: str) -> None:
    """Count one more `name` of a kind."""
    _module().count(kind, name)


def _module() -> Any:
    return importlib.import_module("npulint_record")  # one file for all fakes, on the path of the program
