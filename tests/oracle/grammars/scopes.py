"""What the grammars know of the names of a program that they write: their kinds, and where they can be bound."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeVar

T = TypeVar("T")

NUMBER = "number"
TEXT = "text"
FLAG = "flag"
NUMBERS = "numbers"  # a list of numbers
TABLE = "table"  # a dict of numbers by text
MAYBE = "maybe"  # a number or None
FUNCTION = "function"  # takes and gives a number
SET = "set"  # of strings
NESTED = "nested"  # a dict of lists of numbers
ITERATOR = "iterator"  # of numbers

STEMS = ("lr", "dim", "depth", "steps", "decay", "scale", "batch", "heads", "ratio", "limit", "offset", "margin")
WORDS = ("adam", "sgd", "cosine", "linear", "fp16", "bf16", "train", "eval", "mean", "none")
VARIABLES = ("FAST", "DEBUG", "RANK", "TAG")


@dataclass
class Method:
    """A method of a class: how many numbers it takes, whether it gives one."""

    name: str
    parameters: int
    gives: bool
    may_raise: bool = False


@dataclass
class Class:
    """A class of the program. `kinds` are those of the attributes that each instance has."""

    name: str
    kinds: dict[str, str]
    methods: list[Method] = field(default_factory=list)
    options: list[str] = field(default_factory=list)  # keywords of a call
    children: dict[str, Class] = field(default_factory=dict)  # attributes that are objects
    shared: list[str] = field(default_factory=list)  # attributes with a value in the class
    special: set[str] = field(default_factory=set)  # special methods: call, len, iter, eq


@dataclass
class Function:
    """A function of the program: the kinds of its parameters, whether those from `needed` on can be omitted."""

    name: str
    kinds: list[str]
    names: list[str]
    needed: int
    gives: str = NUMBER
    may_raise: bool = False


@dataclass
class Scope:
    """The names at a place of the program."""

    outer: Scope | None = None
    is_function: bool = False
    in_loop: bool = False
    kinds: dict[str, str] = field(default_factory=dict)
    objects: dict[str, Class] = field(default_factory=dict)
    groups: dict[str, Class] = field(default_factory=dict)  # names of lists of objects

    def inner(self, *, is_function: bool = False, in_loop: bool = False) -> Scope:
        """The scope of a block in this one."""
        return Scope(self, is_function, in_loop or (self.in_loop and not is_function))

    @property
    def in_function(self) -> bool:
        """Whether a function is around."""
        return self.is_function or (self.outer is not None and self.outer.in_function)

    def all_kinds(self) -> dict[str, str]:
        """All names that can be read, with their kinds."""
        return {**(self.outer.all_kinds() if self.outer else {}), **self.kinds}

    def of(self, kind: str) -> list[str]:
        """The names of a kind."""
        return [name for name, each in self.all_kinds().items() if each == kind]

    def all_objects(self) -> dict[str, Class]:
        """Names and attributes that are objects."""
        objects = dict(self.outer.all_objects() if self.outer else {})
        for name, cls in self.objects.items():
            objects[name] = cls
            objects.update({f"{name}.{attribute}": child for attribute, child in cls.children.items()})
        return objects

    def all_groups(self) -> dict[str, Class]:
        """The names of lists of objects."""
        return {**(self.outer.all_groups() if self.outer else {}), **self.groups}

    def bindable(self, kind: str) -> list[str]:
        """The names of a kind that an assignment here binds again: those of this function, and those of modules."""
        names: list[str] = []
        scope: Scope | None = self
        while scope is not None:
            names += [name for name, each in scope.kinds.items() if each == kind and name.isidentifier()]
            if scope.is_function:
                break
            scope = scope.outer
        return sorted({*names, *(name for name in self.of(kind) if not name.isidentifier())})


class Draw:
    """Random choices, the same for the same seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self._count = 0

    def chance(self, share: float) -> bool:
        """True in this share of the cases."""
        return self.random.random() < share

    def pick(self, items: Sequence[T]) -> T:
        """One of the items."""
        return items[int(self.random.random() * len(items))]

    def some(self, items: Sequence[T], count: int) -> list[T]:
        """Several different items, in random order."""
        rest, taken = list(items), []
        for _ in range(min(count, len(rest))):
            taken.append(rest.pop(int(self.random.random() * len(rest))))
        return taken

    def between(self, low: int, high: int) -> int:
        """A number from `low` to `high`."""
        return low + int(self.random.random() * (high - low + 1))

    def fresh(self, stem: str) -> str:
        """A new name."""
        self._count += 1
        return f"{stem}_{self._count}"
