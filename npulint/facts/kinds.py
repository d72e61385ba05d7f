"""The registry of fact kinds: which class declares the facts of a kind."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from npulint.facts.model import Fact

_F = TypeVar("_F", bound=type[Fact])

FACT_CLASSES: dict[str, list[type[Fact]]] = {}
"""The fact classes imported so far, by kind; a kind may have several classes."""


FACT_NAMES: dict[str, frozenset[str]] = {}
"""The only names of facts, by kind; of other kinds facts may have any name."""


def fact_kind(kind: str, names: Iterable[str] = ()) -> Callable[[_F], _F]:
    """Class decorator: facts of the class have the kind `kind`, by which checks query them. `names` are the only names
    that its facts have (none: any)."""

    def register(cls: _F) -> _F:
        setattr(cls, "kind", kind)  # noqa: B010 - instances know it as a property, whatever class they are of
        FACT_CLASSES.setdefault(kind, []).append(cls)
        if names:
            FACT_NAMES[kind] = frozenset(names)
        return cls

    return register
