"""Splits functions, classes and module-level code into tokens that survive moving and reformatting.

A *frame* token is about what code does (library calls, numbers, operators, control flow), a *word* token about its
wording (own names, attributes, texts). Renaming changes only words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice

import msgspec

from npulint.facts.code import Block, Const, Op, Ref, Value, nested
from npulint.model.code.module import Module
from npulint.model.code.names import Names

Spot = tuple[str, int]
"""A path and a block in that file."""

_KINDS = frozenset(("module", "class", "function"))
_LONG = 60  # characters of a text that are used
_PARTS = 400  # parts of one value that are visited; generated tables have thousands
_SELF = ("self", "cls")


class Unit(msgspec.Struct, eq=False, gc=False):
    """A function, a class or module-level code, without the functions and classes nested in it. `number` is its index,
    `parent` that of the enclosing unit (-1: none); `frame` and `words` are its tokens in text order, `shape` holds
    numbers of arguments. `calls`: line, column, token and, if it belongs to the project, the called spot of each call.
    """

    spot: Spot
    kind: str
    name: str
    parent: int
    number: int
    frame: list[int] = []
    words: list[int] = []
    shape: list[int] = []
    calls: list[tuple[int, int, int, Spot | None]] = []

    @property
    def simple(self) -> str:
        """The last part of its name."""
        return self.name.rpartition(".")[2]

    @property
    def path(self) -> str:
        return self.spot[0]


class Tokens(dict[str, int]):
    """Interns tokens as numbers, shared by both sides; an unknown token gets the next number."""

    def __init__(self) -> None:
        super().__init__()
        self._named: dict[str, tuple[int, int, bool]] = {}

    def __missing__(self, text: str) -> int:
        number = self[text] = len(self)
        return number

    def callee(self, name: str) -> tuple[int, int, bool]:
        """The frame token, the word token (-1: none) and whether it is project code, of a callee's canonical name.
        Library names are used without their module, because releases move them."""
        tokens = self._named.get(name)
        if tokens is None:
            last = name.rstrip("()[]").rpartition(".")[2]
            own = ":" in name and not name.startswith("?")
            if own:
                last = last.rpartition(":")[2]
                tokens = self["own"], self["f:" + last], True
            elif name.startswith("?") and "." not in name:
                tokens = self["some"], self["f:" + last[1:]], False
            else:
                result = "()" if name.endswith(")") else ""
                tokens = self["c:" + last.lower().replace("_", "") + result], -1, False
            self._named[name] = tokens
        return tokens


def units_of(names: Names, paths: Iterable[str], tokens: Tokens) -> list[Unit]:
    """The units of some modules of a project, enclosing units before nested ones."""
    units: list[Unit] = []
    for path in paths:
        module = names.project.modules.get(path)
        if module is not None:
            _Reader(names, module, tokens, units).read()
    return units


class _Reader:
    def __init__(self, names: Names, module: Module, tokens: Tokens, units: list[Unit]) -> None:
        self.names = names
        self.module = module
        self.tokens = tokens
        self.imported = module.imports.get(0, {})
        self.homes: list[Unit] = []
        self._open(units)

    def _open(self, units: list[Unit]) -> None:
        """Create the units, and map each block to its unit."""
        numbers: dict[int, int] = {}
        module = self.module
        for block, record in enumerate(module.blocks):
            if block == 0 or record.kind in ("function", "class"):
                around = self.homes[record.parent].spot[1] if block else -1
                numbers[block] = len(units)
                kind = record.kind if block else "module"
                unit = Unit((module.path, block), kind, record.name, numbers.get(around, -1), len(units))
                units.append(unit)
                self.homes.append(unit)
            else:
                self.homes.append(self.homes[record.parent])

    def read(self) -> None:
        """Fill in the tokens of the units."""
        for block, record in enumerate(self.module.blocks):
            self._block(block, record)
        self._calls()
        tokens, homes = self.tokens, self.homes
        for bind in self.module.code.assignments:
            unit = homes[bind.block]
            unit.words.append(tokens["v:" + bind.target.rpartition(".")[2]])
            self._value(unit, bind.value)
        return_token = tokens["return"]
        for result in self.module.code.returns:
            unit = homes[result.block]
            unit.frame.append(return_token)
            self._value(unit, result.value)

    def _block(self, block: int, record: Block) -> None:
        unit, tokens = self.homes[block], self.tokens
        if record.kind in _KINDS:
            unit.words += [tokens["p:" + p] for p in record.params if p not in _SELF]
            unit.shape.append(len(record.params))
            for value in (*record.decorators, *record.bases, *record.defaults):
                self._value(unit, value)
            if block and record.kind == "function":
                self.homes[record.parent].frame.append(tokens["def"])
        else:
            unit.frame.append(tokens["b:" + record.kind])
            self._value(unit, record.test)

    def _calls(self) -> None:
        module, tokens = self.module, self.tokens
        for call, name in zip(module.code.calls, self.names.of_calls(module), strict=True):
            unit = self.homes[call.block]
            frame, word, own = tokens.callee(name)
            unit.frame.append(frame)
            unit.shape.append(len(call.args))
            target = self.names.function(name) if own else None
            unit.calls.append((call.line, call.column, frame, (target[0].path, target[1]) if target else None))
            if word >= 0:
                unit.words.append(word)
            for value in call.args:
                self._value(unit, value)
            for key, value in call.keywords:
                unit.frame.append(tokens["k:" + key])
                self._value(unit, value)

    def _value(self, unit: Unit, value: Value) -> None:
        """Add the tokens of a value; calls in it are added separately."""
        frame, words, tokens = unit.frame, unit.words, self.tokens
        for part in islice(nested(value), _PARTS):
            if isinstance(part, Ref):
                root, dot, _ = part.name.partition(".")
                if dot:
                    token = tokens["a:" + part.name.rpartition(".")[2]]
                    (frame if root in self.imported else words).append(token)
            elif isinstance(part, Const):
                if isinstance(part.value, str):
                    words.append(tokens["'" + part.value[:_LONG]])
                else:
                    frame.append(tokens[f"={part.value!r}"])
            elif isinstance(part, Op):
                frame.append(tokens["o:" + part.op])


def digest(unit: Unit) -> tuple[Sequence[int], Sequence[int]]:
    """A key that is equal for units that differ only in names and texts."""
    return tuple(unit.frame), tuple(unit.shape)
