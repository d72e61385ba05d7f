"""Formulas: arithmetic and comparisons that affect numbers, wherever they are written."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import msgspec

from npulint.assemble.module import Module
from npulint.facts.code import Call, CallResult, Const, Op, Ref, SequenceDisplay, Table, Value
from npulint.facts.model import Span
from npulint.lazy_regex import lazy_compile
from npulint.training_config.steps.literals import is_literal

_DEEP = 12
_ARITHMETIC = frozenset(("+", "-", "*", "/", "//", "**", "@"))
_COMMUTATIVE = frozenset(("+", "*"))
_COMPARING = frozenset(("<", "<=", ">", ">=", "==", "!=", "in", "not in", "%"))
_JOINING = frozenset(("and", "or", "not", "if", "+="))
_ASIDE = lazy_compile(
    r"time|durat|elapsed|fps|speed|perf|(?:^|_)eta$|percent|progress|cost_|_cost|took|memory|second|minute|hour|path|file|folder|(?:^|[_.])dir(?:_|$)"
    r"|print|(?:^|_)logs?(?:_|$)|(?:^|_)str(?:_|$)|fmt|gpu|cpu|url|begin|(?:^|_)end(?:_|$)|(?:^|_)start(?:_|$)|offset"
)


class Formula(msgspec.Struct, frozen=True, eq=False):
    """One formula: `target` is the name that its value is assigned to, `return`, `if` for the condition of the block
    `inner`, or the parameter or entry that it is passed for. `shape` has ``_`` for names and ``#`` for constants, which
    follow in order; `names` are those in it."""

    target: str
    value: Value
    shape: str
    constants: tuple[Const, ...]
    names: tuple[str, ...]
    block: int
    span: Span
    inner: int = -1


def formulas(module: Module, compared: Collection[int]) -> Iterator[Formula]:
    """The formulas of a module, except the arguments of the calls in `compared`, which are compared separately."""
    for bind in module.code.assignments:
        place = Span.of(bind)
        yield from _within(module, _last(bind.target), bind.value, bind.block, place)
    for returned in module.code.returns:
        yield from _within(module, "return", returned.value, returned.block, Span.at(returned.line))
    for index, call in enumerate(module.code.calls):
        place = Span.of(call)
        if isinstance(call.callee, Op) and call.callee.op == ".":
            yield from _within(module, module.callee_name(index), call.callee.operands[0], call.block, place)
        if index not in compared:
            yield from _of_argument(module, module.callee_name(index), call, place)
    for block, record in enumerate(module.blocks):
        if record.kind == "if" and isinstance(record.test, Op):
            shape = _Shape(module, record.test)
            if shape.is_significant:
                place = Span.at(record.line)
                yield Formula("if", record.test, *shape.parts(), record.parent, place, block)


def _of_argument(module: Module, called: str, call: Call, place: Span) -> Iterator[Formula]:
    names = [called] * len(call.args) + [name for name, _ in call.keywords]
    for name, value in zip(names, (*call.args, *(value for _, value in call.keywords)), strict=True):
        yield from _within(module, name, value, call.block, place)


def _within(module: Module, target: str, value: Value, block: int, place: Span) -> Iterator[Formula]:
    """The outermost formulas within a value, each with the closest name."""
    waiting: list[tuple[str, Value, Span, int]] = [(target, value, place, 0)]
    while waiting:
        name, part, at, depth = waiting.pop()
        if depth > _DEEP or is_literal(part):
            continue
        if isinstance(part, SequenceDisplay):
            waiting += [(name, item, at, depth + 1) for item in part.items]
        elif isinstance(part, Table):
            spots = [Span(*spot) for spot in part.places] or [at] * len(part.keys)
            for key, inner, spot in zip(part.keys, part.values, spots, strict=True):
                waiting.append((str(key.value) if isinstance(key, Const) else name, inner, spot, depth + 1))
        elif isinstance(part, Op):
            shape = _Shape(module, part)
            if shape.is_significant:
                yield Formula(name, part, *shape.parts(), block, at)
            elif not shape.operations:
                waiting += [(name, operand, at, depth + 1) for operand in part.operands]


def _last(target: str) -> str:
    """The last name of an assignment target: ``lr`` of ``self.lr``, ``lr[3:]`` and ``group["lr"]``."""
    word, bracket, entry = target.rpartition(".")[2].partition("[")
    entry = entry.rstrip("]")
    return entry if bracket and entry.isidentifier() else word


class _Shape:
    """Decomposes a formula."""

    def __init__(self, module: Module, value: Value) -> None:
        self._module = module
        self.constants: list[Const] = []
        self.names: list[str] = []
        self.operations = 0
        self._arithmetic = False
        self._aside = False
        self.text = self._text(value, 0)

    def _text(self, value: Value, depth: int) -> str:
        if isinstance(value, Const):
            if isinstance(value.value, bool) or not isinstance(value.value, int | float):
                return "_"
            self.constants.append(value)
            return "#"
        if isinstance(value, Ref):
            self.names.append(value.name)
            self._aside = self._aside or bool(_ASIDE.search(value.name.lower()))
            return "_"
        if isinstance(value, Op) and depth < _DEEP:
            arithmetic, comparing = value.op in _ARITHMETIC, value.op in _COMPARING
            if arithmetic or comparing or value.op in _JOINING:
                self.operations += arithmetic or comparing
                self._aside = self._aside or ((arithmetic or value.op == "%") and any(map(_is_text, value.operands)))
                self._arithmetic = self._arithmetic or arithmetic
                return f"({value.op.join(self._text(part, depth + 1) for part in ordered(value))})"
        if isinstance(value, CallResult):
            arguments = self._module.code.calls[value.call].args
            self.names += [part.name for part in arguments if isinstance(part, Ref)]
        if isinstance(value, SequenceDisplay) and depth < _DEEP:
            return f"[{','.join(self._text(item, depth + 1) for item in value.items)}]"
        return "_"

    def parts(self) -> tuple[str, tuple[Const, ...], tuple[str, ...]]:
        """The shape, its constants and its names."""
        return self.text, tuple(self.constants), tuple(self.names)

    @property
    def is_significant(self) -> bool:
        """Whether it calculates, or compares with a number, and does not involve clocks or files."""
        return self.operations > 0 and (self._arithmetic or bool(self.constants)) and not self._aside


def ordered(value: Op) -> tuple[Value, ...]:
    """The operands of an expression; sums and products have their constants last."""
    if value.op not in _COMMUTATIVE:
        return value.operands
    return tuple(sorted(value.operands, key=lambda part: isinstance(part, Const) and not isinstance(part.value, str)))


def _is_text(value: Value) -> bool:
    return isinstance(value, Const) and isinstance(value.value, str)
