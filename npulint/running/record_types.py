"""How the instances of dataclasses, named tuples and typed dicts are made."""

from __future__ import annotations

from typing import NamedTuple

from npulint.values.value import Value


class Field(NamedTuple):
    """A field of a dataclass or named tuple. `factory` makes the default where it is set."""

    name: str
    default: Value | None
    factory: Value | None = None
    is_argument: bool = True
    keyword_only: bool = False
    is_stored: bool = True


class Record(NamedTuple):
    """How the instances of a class are made."""

    kind: str
    fields: tuple[Field, ...]
    is_frozen: bool = False
    has_init: bool = True
