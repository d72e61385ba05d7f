"""Formulas: arithmetic and comparisons that affect numbers, wherever they are written."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator

import msgspec

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.code import Const, Op, Ref, SequenceDisplay, Table, Value, nested
from npulint.facts.model import Span
from npulint.model.running.code_places import returned_values
from npulint.model.values.cursors import CallSite, Expr, Scope

# Literal values.

_EXACT = 1 << 53  # integers up to here are exact as floats
_MAX_LITERAL_NESTING = 6  # nesting levels of displays and operations
_ARITHMETIC_LITERALS = frozenset(("+", "-", "*", "/", "//", "%", "**"))


def is_literal(value: Value) -> bool:
    """Whether a value consists of constants only: ``0.1``, ``[0.5] * 3``, ``(1, 2)``, ``{"a": 1}``."""
    return all(map(_is_constant, nested(value)))


def _is_constant(value: Value) -> bool:
    """Whether a value is a constant, or a display or operation that may consist of some."""
    if isinstance(value, SequenceDisplay):
        return bool(value.items)
    if isinstance(value, Table):
        return bool(value.keys) and None not in value.keys
    return isinstance(value, Const) or (isinstance(value, Op) and value.op in _ARITHMETIC_LITERALS)


def is_filling(value: Value) -> bool:
    """Whether a constant is assigned to masked elements of an array: ``loss[mask] = -math.inf``."""
    inner = value.operands[0] if isinstance(value, Op) and value.op == "neg" else value
    if isinstance(inner, Ref):
        return inner.name.rpartition(".")[2].lower() in ("inf", "infinity", "nan")
    return isinstance(inner, Const) and isinstance(inner.value, int | float) and not isinstance(inner.value, bool)


def skeleton(value: Value, depth: int = 0) -> Hashable:
    """A value without names: its constants and operations. Numbers are equal regardless of type."""
    if isinstance(value, Const):
        content = value.value
        return float(content) if isinstance(content, bool | int) and abs(content) < _EXACT else content
    if depth < _MAX_LITERAL_NESTING:
        if isinstance(value, SequenceDisplay):
            return ("[]", *(skeleton(item, depth + 1) for item in value.items))
        if isinstance(value, Op):
            return (value.op, *(skeleton(part, depth + 1) for part in value.operands))
    return "_"


def is_relevant(value: Value) -> bool:
    """Whether a literal may affect numbers: not None, and not a file name."""
    if isinstance(value, Const):
        content = value.value
        if isinstance(content, str):
            return 0 < len(content) <= 40 and not any(mark in content for mark in "/\\\n %{")
        return content is not None
    return True


_DEEP = 12
_ARITHMETIC = frozenset(("+", "-", "*", "/", "//", "**", "@"))
_CLOCKS = frozenset("time.time time.time_ns time.clock time.perf_counter time.monotonic datetime.datetime.now".split())
_COMMUTATIVE = frozenset(("+", "*"))
_COMPARING = frozenset(("<", "<=", ">", ">=", "==", "!=", "in", "not in", "%"))
_JOINING = frozenset(("and", "or", "not", "if", "+="))
_AUGMENTED = "+="
_ASIDE = lazy_compile(
    r"time|durat|elapsed|fps|speed|perf|(?:^|_)eta$|percent|progress|cost_|_cost|took|memory|second|minute|hour|path|file|folder|(?:^|[_.])dir(?:_|$)"
    r"|print|(?:^|_)logs?(?:_|$)|(?:^|_)str(?:_|$)|fmt|gpu|cpu|url|begin|(?:^|_)end(?:_|$)|(?:^|_)start(?:_|$)|offset"
)


class Formula(msgspec.Struct, frozen=True, eq=False):
    """One formula: `target` is the name that its value is assigned to, `return`, `if` for the condition of the block
    `inner`, or the parameter or entry that it is passed for. `shape` has ``_`` for names and ``#`` for constants, which
    follow in order; `names` are those in it."""

    target: str
    expr: Expr
    shape: str
    constants: tuple[Const, ...]
    names: tuple[str, ...]
    span: Span
    inner: Scope | None = None


def formulas(module: Scope, compared: Collection[CallSite | None]) -> Iterator[Formula]:
    """The formulas of a module, except the arguments of the calls in `compared`, which are compared separately."""
    for bind in module.assignments:
        yield from _within(_last(bind.target), bind.value, bind.span)
    for returned in returned_values(module):
        yield from _within("return", returned, Span.at(returned.line))
    for site in module.all_calls:
        if site.callee.attribute is not None:
            yield from _within(site.last, site.callee.attribute[0], site.span)
        if site not in compared:
            names = [site.last] * len(site.record.args) + [name for name, _ in site.record.keywords]
            for name, value in zip(names, site.arguments, strict=True):
                yield from _within(name, value, site.span)
    for branch in module.blocks_of("if"):
        shape = _Shape(branch.test) if branch.test.operator else None
        if shape is not None and shape.is_significant:
            yield Formula("if", branch.test, *shape.parts(), Span.at(branch.record.line), branch)


def _within(target: str, expr: Expr, place: Span) -> Iterator[Formula]:
    """The outermost formulas within a value, each with the closest name."""
    waiting: list[tuple[str, Expr, Span, int]] = [(target, expr, place, 0)]
    while waiting:
        name, part, at, depth = waiting.pop()
        if depth > _DEEP or is_literal(part.value):
            continue
        if isinstance(part.value, Table):
            spots = [Span(*spot) for spot in part.value.places] or [at] * len(part.value.keys)
            for (key, inner), spot in zip(part.entries, spots, strict=True):
                named = str(key.literal) if key is not None and key.is_literal else name
                waiting.append((named, inner, spot, depth + 1))
        elif part.operator:
            shape = _Shape(part)
            if shape.is_significant:
                yield Formula(name, part, *shape.parts(), at)
            elif not shape.operations:
                waiting += [(name, operand, at, depth + 1) for operand in part.operands()]
        else:
            waiting += [(name, item, at, depth + 1) for item in part.items]


def _last(target: str) -> str:
    """The last name of an assignment target: ``lr`` of ``self.lr``, ``lr[3:]`` and ``group["lr"]``."""
    word, bracket, entry = target.rpartition(".")[2].partition("[")
    entry = entry.rstrip("]")
    return entry if bracket and entry.isidentifier() else word


class _Shape:
    """Decomposes a formula."""

    def __init__(self, expr: Expr) -> None:
        self.constants: list[Const] = []
        self.names: list[str] = []
        self.operations = 0
        self._arithmetic = False
        self._aside = False
        self.text = self._text(expr, 0)

    def _text(self, expr: Expr, depth: int) -> str:
        value = expr.value
        if isinstance(value, Const):
            if isinstance(value.value, bool) or not isinstance(value.value, int | float):
                return "_"
            self.constants.append(value)
            return "#"
        if isinstance(value, Op) and value.op == _AUGMENTED and len(value.operands) > 1 and depth < _DEEP:
            sign = value.operands[1]
            self.operations += 1
            self._arithmetic = self._arithmetic or (isinstance(sign, Const) and sign.value in ("*", "/", "//"))
            return f"(_{sign.value if isinstance(sign, Const) else '?'}{self._text(expr.operands()[0], depth + 1)})"
        if isinstance(value, Op) and depth < _DEEP:
            arithmetic, comparing = value.op in _ARITHMETIC, value.op in _COMPARING
            if arithmetic or comparing or value.op in _JOINING:
                self.operations += arithmetic or comparing
                self._aside = self._aside or ((arithmetic or value.op == "%") and any(map(_is_text, value.operands)))
                self._arithmetic = self._arithmetic or arithmetic
                self._aside = self._aside or (value.op == "-" and any(map(_is_of_clock, expr.operands())))
                return f"({value.op.join(self._text(expr.sibling(part), depth + 1) for part in ordered(value))})"
        if expr.written:
            self.names.append(expr.written)
            self._aside = self._aside or bool(_ASIDE.search(expr.written.lower()))
        if expr.call is not None:
            self.names += [argument.written for argument in expr.call.args if argument.written]
        if expr.is_display and depth < _DEEP:
            return f"[{','.join(self._text(item, depth + 1) for item in expr.items)}]"
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


def _is_of_clock(expr: Expr) -> bool:
    """Whether a name holds the time."""
    return any(bind.value.call is not None and bind.value.call.name in _CLOCKS for bind in expr.assignments)


def _is_text(value: Value) -> bool:
    return isinstance(value, Const) and isinstance(value.value, str)
