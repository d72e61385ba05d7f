"""The k of top_k: whether the graph computes it, wherever it comes from, and whether a fixed k stands beside a number
that each batch has of its own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.code import Op, Value, nested, written_values
from npulint.model.code.module import Module
from npulint.model.values.cursors import CallSite, Expr
from npulint.model.values.walker import walker

_NUMBERS = ("int", "float", "len")  # of Python; they fail for tensors of a graph
_EXTREMES = ("min", "max")  # of Python; a graph cannot compare a tensor with a number there
K = Literal["constant", "tensor", "unknown"]
# Constants if the shape is static.
_FOLDED = ("tensorflow.data.", "tensorflow.shape", "tensorflow.size", "tensorflow.convert_to_tensor")
_TENSOR = lazy_compile(r"^tensorflow\.(?!compat\.|contrib\.training\.HParams|app\.|flags\.|constant\b)")
_ARITHMETIC = ("+", "-", "*", "/", "//", "%", "neg", "if", "or")
_COUNTS = ("tensorflow.reduce_sum", "tensorflow.count_nonzero", "tensorflow.math.count_nonzero")
_DIVIDE = "div truediv divide realdiv div_no_nan safe_div".split()
_SAME = frozenset(
    f"tensorflow.{name}" for name in "cast to_float to_int32 to_double identity stop_gradient reshape squeeze".split()
)
_COMBINE = _SAME | frozenset(f"tensorflow.{name}" for name in "add add_n maximum minimum multiply subtract".split())


def k_kind(top_k: CallSite) -> K:
    """The kind of top_k's k: constant, tensor (computed in the graph, also by a caller) or unknown."""
    value = top_k.argument("k", 1)
    if value is None or (value.known.values and value.known.exact):
        return "constant"
    if _is_tensor(value):
        return "tensor"
    return "constant" if value.known.values or _is_number(value) else "unknown"


@walker(depth=6, otherwise=bool)
def _is_number(value: Expr) -> bool:
    """Whether an expression is a number of Python, not known which: ``int(x.shape[1])``, also the least of some."""
    call = value.call
    if call is None:
        return bool(value.known.values)
    return call.name in _NUMBERS or (call.name in _EXTREMES and any(map(_is_number, call.args)))


@walker(depth=9, otherwise=bool, steps=200)
def _is_tensor(value: Expr) -> bool:
    """Whether the graph may compute an expression: a result of TensorFlow, also of an own function or handed in."""
    if value.is_literal or (value.known.values and value.known.exact):
        return False
    name = value.name
    if _TENSOR.match(name):
        return not name.startswith(_FOLDED)
    if value.operator in _ARITHMETIC:
        return any(map(_is_tensor, value.alternatives or value.operands()))
    call = value.call
    if call is not None and call.name in _NUMBERS:
        return False
    if call is not None and call.name in _EXTREMES:
        return not any(map(_is_number, call.args)) and any(map(_is_tensor, call.args))
    return any(map(_is_tensor, value.sources))


def is_beside_count(top_k: CallSite) -> bool:
    """Whether the sum of the values is divided by what the graph counts in each batch: the k of the reference was such
    a number as well."""
    return any(_sums(above, top_k) and _counts(below) for above, below in _divisions(top_k))


def _divisions(top_k: CallSite) -> Iterator[tuple[Expr, Expr]]:
    """The divisions in the function around a call, and in those that call it: what is divided, and by what."""
    around = top_k.scope.routine
    for routine in (around, *(call.scope.routine for call in (around.callers if around.block else ())[:8])):
        for value, block, line in routine.module.derive(_quotients):
            if routine.at(block).routine is routine:
                above, below = routine.at(block).expr(value, line).operands()
                yield above, below
        for call in routine.at(0).calls_named(*_DIVIDE):
            if call.scope.routine is routine and len(call.args) > 1 and call.name.startswith("tensorflow."):
                yield call.args[0], call.args[1]


def _quotients(module: Module) -> list[tuple[Value, int, int]]:
    """The expressions ``a / b`` of a module, with their blocks and lines."""
    written = written_values(module.code)
    return [
        (part, block, line)
        for value, block, line in written
        for part in nested(value)
        if isinstance(part, Op) and part.op == "/"
    ]


@walker(depth=10, otherwise=bool, steps=300)
def _sums(value: Expr, top_k: CallSite) -> bool:
    """Whether the sum of the values of a call of top_k is a part of an expression."""
    call = value.call
    if call is not None and call.name == "tensorflow.reduce_sum":
        summed = call.argument("input_tensor", 0)
        return summed is not None and _is_values(summed, top_k)
    if call is not None and call.name in _COMBINE:
        parts = [item for argument in call.args for item in (argument.items or [argument])]
        return any(_sums(part, top_k) for part in parts)
    if value.operator in ("+", "*"):
        return any(_sums(part, top_k) for part in value.operands())
    return any(_sums(source, top_k) for source in value.sources)


@walker(depth=8, otherwise=bool, steps=200)
def _is_values(value: Expr, top_k: CallSite) -> bool:
    """Whether an expression is all values of a call of top_k; a mask over them makes it another number of values."""
    holder, part = value.attribute or value.subscript or (None, None)
    if holder is not None:
        is_first = part == "values" or (isinstance(part, Expr) and part.literal == 0)
        if is_first and any(expr.call is top_k for expr in (holder, *holder.sources)):
            return True
    head, _, last = value.written.rpartition(".")
    if (
        last == "values"
        and head
        and any(source.call is top_k for source in value.scope.named(head, value.line).sources)
    ):
        return True
    if value.call is not None and value.call.name in _SAME and value.call.args:
        return _is_values(value.call.args[0], top_k)
    return any(_is_values(source, top_k) for source in value.sources)


@walker(depth=10, otherwise=bool, steps=300)
def _counts(value: Expr) -> bool:
    """Whether an expression depends on what the graph counts in a batch."""
    call = value.call
    if call is not None and call.name.startswith(_COUNTS):
        return True
    if call is not None and call.name in _COMBINE:
        return any(_counts(item) for argument in call.args for item in (argument.items or [argument]))
    if value.operator in ("+", "*", "-"):
        return any(map(_counts, value.operands()))
    return any(map(_counts, value.sources))
