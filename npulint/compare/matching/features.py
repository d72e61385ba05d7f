"""What a function, a class or a module's own code consists of, as tokens that survive moving and reformatting.

A *frame* token says what code does (what it calls of libraries, numbers, operators, control flow), a *word* token how
it is worded (own names, attributes, texts). Renaming changes words alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from npulint.assemble.module import Module
from npulint.assemble.names import Names
from npulint.facts.code import Block, Const, Op, Ref, SequenceDisplay, Table, Value

Spot = tuple[str, int]
"""A path and a block there."""

_KINDS = frozenset(("module", "class", "function"))
_LONG = 60  # characters of a text that are looked at
_PARTS = 400  # parts of one value that are looked at; generated tables have thousands
_SELF = ("self", "cls")


class Unit(msgspec.Struct, eq=False, gc=False):
    """A function, a class or a module's own code: what stands in it, but in no function or class within it. `parent` is
    the number of the unit around it (-1: none), `number` its own; `frame` and `words` are its tokens in the order of
    the code, `shape` holds numbers of arguments. `calls` are what it calls: line, column, token, and the spot that is
    called if it is the project's."""

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
        """The file that it stands in."""
        return self.spot[0]


class Tokens(dict[str, int]):
    """The numbers of tokens, the same for both sides; an unknown token gets the next one."""

    def __init__(self) -> None:
        super().__init__()
        self._named: dict[str, tuple[int, int, bool]] = {}

    def __missing__(self, text: str) -> int:
        number = self[text] = len(self)
        return number

    def callee(self, name: str) -> tuple[int, int, bool]:
        """Of a callee's canonical name its frame token, its word token (-1: none), and whether it is the project's own.
        What a library calls it counts without its module: releases move names about."""
        known = self._named.get(name)
        if known is None:
            last = name.rstrip("()[]").rpartition(".")[2]
            own = ":" in name and not name.startswith("?")
            if own:
                last = last.rpartition(":")[2]
                known = self["own"], self["f:" + last], True
            elif name.startswith("?") and "." not in name:
                known = self["some"], self["f:" + last[1:]], False
            else:
                result = "()" if name.endswith(")") else ""
                known = self["c:" + last.lower().replace("_", "") + result], -1, False
            self._named[name] = known
        return known


def units_of(names: Names, paths: Iterable[str], tokens: Tokens) -> list[Unit]:
    """The units of some modules of a project, the unit around another before it."""
    found: list[Unit] = []
    for path in paths:
        module = names.project.modules.get(path)
        if module is not None:
            _Reader(names, module, tokens, found).read()
    return found


class _Reader:
    """Reads the units of one module."""

    def __init__(self, names: Names, module: Module, tokens: Tokens, found: list[Unit]) -> None:
        self.names = names
        self.module = module
        self.tokens = tokens
        self.imported = module.imports.get(0, {})
        self.homes: list[Unit] = []
        self._open(found)

    def _open(self, found: list[Unit]) -> None:
        """Make the units, and note of each block in which of them it stands."""
        numbers: dict[int, int] = {}
        module = self.module
        for block, record in enumerate(module.blocks):
            if block == 0 or record.kind in ("function", "class"):
                around = self.homes[record.parent].spot[1] if block else -1
                numbers[block] = len(found)
                kind = record.kind if block else "module"
                unit = Unit((module.path, block), kind, record.name, numbers.get(around, -1), len(found))
                found.append(unit)
                self.homes.append(unit)
            else:
                self.homes.append(self.homes[record.parent])

    def read(self) -> None:
        """Fill the units."""
        for block, record in enumerate(self.module.blocks):
            self._block(block, record)
        self._calls()
        tokens, homes = self.tokens, self.homes
        for bind in self.module.code.assignments:
            unit = homes[bind.block]
            unit.words.append(tokens["v:" + bind.target.rpartition(".")[2]])
            self._value(unit, bind.value)
        returned = tokens["return"]
        for given in self.module.code.returns:
            unit = homes[given.block]
            unit.frame.append(returned)
            self._value(unit, given.value)

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
        """Add the tokens of a value; those of calls in it are added with these."""
        frame, words, tokens = unit.frame, unit.words, self.tokens
        stack: list[Value | None] = [value]
        left = _PARTS
        while stack and left:
            left -= 1
            part = stack.pop()
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
                stack += part.operands[::-1]
            elif isinstance(part, SequenceDisplay):
                stack += part.items[:_PARTS][::-1]
            elif isinstance(part, Table):
                stack += part.values[:_PARTS][::-1]
                stack += part.keys[:_PARTS][::-1]


def digest(unit: Unit) -> tuple[Sequence[int], Sequence[int]]:
    """What two units have in common that differ in names and texts alone."""
    return tuple(unit.frame), tuple(unit.shape)
