"""Arithmetic with constants, as steps: ``x / 127.5 - 1``, ``loss + 0.5 * l2``."""

from __future__ import annotations

from collections.abc import Iterator

from npulint.assemble.module import Module
from npulint.facts.code import Const, Items, Op, Ref, Result, Value
from npulint.later import regex

_DEEP = 12
_ARITHMETIC = frozenset(("+", "-", "*", "/", "//", "**", "@"))
_COMPARING = frozenset(("<", "<=", ">", ">=", "==", "!=", "in", "%", "and", "or", "not"))
_NUMBERLESS = regex(
    r"time|durat|elapsed|fps|speed|perf|eta\b|percent|progress|cost_|_cost|took|memory|second|minute|hour|begin|start"
    r"|idx|index|count|path|file|step_per|print|log|str|fmt|width_|gpu|cpu"
)


class Shape:
    """An expression as it is compared: the operations with ``_`` for what has a name and ``#`` for constants, the
    constants in their order, and the names."""

    def __init__(self, value: Value, operators: frozenset[str] = _ARITHMETIC) -> None:
        self._operators = operators
        self.constants: list[Const] = []
        self.names: list[str] = []
        self.operations = 0
        self.text = self._text(value, 0)

    def _text(self, value: Value, depth: int) -> str:
        if isinstance(value, Const):
            if isinstance(value.value, bool) or not isinstance(value.value, int | float):
                return "_"
            self.constants.append(value)
            return "#"
        if isinstance(value, Ref):
            self.names.append(value.name)
            return "_"
        if isinstance(value, Op) and depth < _DEEP:
            if value.op in self._operators:
                self.operations += 1
                return f"({value.op.join(self._text(v, depth + 1) for v in value.operands)})"
            if value.op == "+=":
                return self._text(value.operands[0], depth + 1)
        if isinstance(value, Items) and depth < _DEEP:
            return f"[{','.join(self._text(v, depth + 1) for v in value.items)}]"
        return "_"

    @property
    def telling(self) -> bool:
        """Whether it has an operation with a constant that is neither 0 nor 1, and is about no clock or counter."""
        numbers = any(constant.value not in (0, 1, -1) for constant in self.constants)
        return self.operations > 0 and numbers and not any(_NUMBERLESS.search(n.lower()) for n in self.names)


class Arithmetic:
    """An expression with its place: `target` is the name that it is assigned to, empty for one that is returned, ``if``
    for the condition of the block `inner`."""

    def __init__(
        self, shape: Shape, value: Value, target: str, block: int, line: int, column: int, end: int, inner: int = -1
    ) -> None:
        self.shape = shape
        self.value = value
        self.target = target
        self.block = block
        self.line = line
        self.column = column
        self.end = end
        self.inner = inner


def arithmetic(module: Module) -> Iterator[Arithmetic]:
    """The expressions of a module that calculate with constants, where they are assigned or returned."""
    for bind in module.code.binds:
        if isinstance(bind.value, Op) and not _NUMBERLESS.search(bind.target.lower()):
            shape = Shape(bind.value)
            if shape.telling and (shape.names or _has_result(bind.value)):
                yield Arithmetic(shape, bind.value, bind.target, bind.block, bind.line, bind.column, bind.end_column)
    for returned in module.code.returns:
        if isinstance(returned.value, Op):
            shape = Shape(returned.value)
            if shape.telling and (shape.names or _has_result(returned.value)):
                yield Arithmetic(shape, returned.value, "", returned.block, returned.line, 1, 1)


def conditions(module: Module) -> Iterator[Arithmetic]:
    """The conditions of a module that compare with constants: ``epoch < 30``, ``step in (8, 11)``."""
    for block, record in enumerate(module.blocks):
        if record.kind == "if" and isinstance(record.test, Op):
            shape = Shape(record.test, _COMPARING | _ARITHMETIC)
            if shape.telling:
                yield Arithmetic(shape, record.test, "if", record.parent, record.line, 1, 1, block)


def _has_result(value: Value, depth: int = 0) -> bool:
    if isinstance(value, Op) and depth < _DEEP:
        return any(_has_result(part, depth + 1) for part in value.operands)
    return isinstance(value, Result)
