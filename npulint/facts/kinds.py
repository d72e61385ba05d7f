"""The registry of fact kinds: which class declares the facts of a kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from npulint.facts.model import Fact

_F = TypeVar("_F", bound=type[Fact])

FACT_CLASSES: dict[str, list[type[Fact]]] = {}
"""The fact classes imported so far, by kind; a kind may have several classes."""


def fact_kind(kind: str) -> Callable[[_F], _F]:
    """Class decorator: facts of the class have the kind `kind`, by which checks query them."""

    def register(cls: _F) -> _F:
        setattr(cls, "kind", kind)  # noqa: B010 - instances know it as a property, whatever class they are of
        FACT_CLASSES.setdefault(kind, []).append(cls)
        return cls

    return register
