"""What is kept of classes: their bases, and how the instances of dataclasses and named tuples are made."""

from __future__ import annotations

import ast
from typing import NamedTuple

from npulint.model.abstract_values.value import Obj, Value


class Field(NamedTuple):
    """A field of a dataclass or named tuple. `factory` makes the default where it is set."""

    name: str
    default: Value | None
    factory: Value | None = None
    is_argument: bool = True
    keyword_only: bool = False
    is_stored: bool = True
    is_compared: bool = True


class Record(NamedTuple):
    """How the instances of a class are made."""

    kind: str
    fields: tuple[Field, ...]
    is_frozen: bool = False
    has_init: bool = True


class ClassData(NamedTuple):
    """The bases of a class in the order in which attributes are looked up (itself first); with `is_open` there are
    others that are not known. `node` is its statement, where it has one."""

    mro: tuple[Obj, ...]
    is_open: bool
    node: ast.ClassDef | None = None
