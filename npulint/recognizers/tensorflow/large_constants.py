"""Constants beyond the range of float16 that meet tensors: ``scores - 1e30 * mask``, ``tf.where(mask, x, -1e9)``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.attributes import attribute
from npulint.facts.code import Op
from npulint.facts.kinds import fact_kind
from npulint.facts.model import Span
from npulint.model.code.module import Module
from npulint.model.running.code_facts import PlaceFact
from npulint.model.running.code_places import operations_by_operator
from npulint.model.values.cursors import CallSite, Expr, Scope
from npulint.model.values.half_range import in_half, overflowing
from npulint.model.values.large_numbers import may_be_large
from npulint.model.values.walker import walker
from npulint.recognizers.registry import recognizes_in_modules
from npulint.recognizers.tensorflow.tensors import in_tensorflow, is_kept, is_tensor

Role = Literal["multiply", "scale", "divide", "fill"]

_MASK = lazy_compile(r"(?i)mask|pad(?:ding)?s?(?:$|\b|_)|invalid")
_OPTION = lazy_compile(r"(?i)scal(?:e|ing)|(?:^|[._])lr$|learning_rate")  # a loss scale, which is meant to be large
_TESTS = frozenset(
    f"tensorflow.{name}"
    for name in "equal not_equal greater greater_equal less less_equal logical_not logical_and logical_or".split()
)
_COMPARISONS = ("<", "<=", ">", ">=", "==", "!=", "~", "&", "|")
_FULL = frozenset(("tensorflow.ones_like", "tensorflow.ones"))
_EMPTY = frozenset(("tensorflow.zeros_like", "tensorflow.zeros"))
_PRODUCTS = frozenset(("tensorflow.multiply", "tensorflow.scalar_mul"))
_CHOICES = frozenset(("tensorflow.where", "tensorflow.where_v2"))
_SAME = frozenset("tensorflow.cast tensorflow.to_float tensorflow.expand_dims tensorflow.reshape".split())


@fact_kind("mask_constant")
class LargeConstant(PlaceFact):
    """A constant that float16 cannot represent meets a tensor; the name says how: a mask is multiplied by it
    (``multiply``), another tensor is (``scale``), a tensor is divided by it (``divide``), or masked elements get it
    (``fill``)."""

    name: Role
    _size: float

    @attribute
    def constant(self) -> str:
        """The constant, as text."""
        return f"{self._size:g}"

    @attribute
    def becomes(self) -> str:
        """What it is in float16 where that has infinities."""
        return in_half(self._size)


class _Found(NamedTuple):
    role: Role
    size: float


@recognizes_in_modules
def large_constants(module: Scope) -> Iterator[LargeConstant]:
    """The large constants in the arithmetic and the choices of a file that uses TensorFlow, one for each line."""
    if not in_tensorflow(module.module):
        return
    context = module.context
    written = [placed for placed in _arithmetic(module.module) if may_be_large(context, module.module, placed[0])]
    places = [
        (_in_operation(module.at(block).expr(operation, line)), block, line) for operation, block, line in written
    ]
    calls = module.calls_named("multiply", "scalar_mul", "where", "where_v2", "fill")
    places += [(_in_call(call), call.scope.block, call.line) for call in calls]
    lines: set[int] = set()
    for constant, block, line in places:
        if constant is not None and line not in lines:
            lines.add(line)
            yield LargeConstant(module.at(block), Span(line, 1, line, 2), constant.role, constant.size)


def _arithmetic(module: Module) -> Iterator[tuple[Op, int, int]]:
    """The products, quotients and sums (expression, block, line) that are written in a module."""
    written = module.derive(operations_by_operator)
    return (
        placed for operator in ("*", "/", "+") for placed in written.get(operator, ()) if len(placed[0].operands) == 2
    )


def _in_operation(value: Expr) -> _Found | None:
    """The large constant in a product, a quotient or a sum."""
    left, right = value.operands()
    if value.operator == "+":
        return _added(left, right) or _added(right, left)
    if value.operator == "/":
        size = overflowing(right)
        return _Found("divide", size) if size is not None and _is_scaled(left, right) else None
    return _product(left, right) or _product(right, left)


def _in_call(call: CallSite) -> _Found | None:
    """The large constant that a call multiplies by, or gives to elements."""
    args = call.args
    if call.name in _PRODUCTS and len(args) > 1:
        return _product(args[0], args[1]) or _product(args[1], args[0])
    chosen = args[1:3] if call.name in _CHOICES else args[1:2] if call.name == "tensorflow.fill" else []
    sizes = [size for expr in chosen if (size := overflowing(expr)) is not None and size < 0]
    return _Found("fill", sizes[0]) if sizes else None


def _added(factor: Expr, other: Expr) -> _Found | None:
    """A constant that is added to zeros."""
    if other.call is None or other.call.name not in _EMPTY:
        return None
    size = overflowing(factor)
    return None if size is None else _Found("fill", size)


def _product(factor: Expr, other: Expr) -> _Found | None:
    """The role and the number of a constant by which something is multiplied."""
    size = None if other.is_literal else overflowing(factor)
    if size is None or _is_integer(factor, size) or _is_of_numpy(other) or is_kept(other):
        return None
    if other.call is not None and other.call.name in _FULL:
        return _Found("fill", size)
    if _is_mask(other):
        return _Found("multiply", size)
    return _Found("scale", size) if _is_scaled(other, factor) else None


def _is_integer(value: Expr, size: float) -> bool:
    """Whether a constant is more likely a base of indices than what masks: a positive integer."""
    return size > 0 and any(isinstance(possible, int) for possible in value.known.values)


def _is_scaled(tensor: Expr, factor: Expr) -> bool:
    """Whether what is multiplied is certainly a tensor of floating-point numbers, and the factor no loss scale."""
    names = (*tensor.written_names, *factor.written_names)
    return isinstance(factor.known.single, float) and is_tensor(tensor) and not any(map(_OPTION.search, names))


def _is_of_numpy(value: Expr) -> bool:
    """Whether a value is computed by NumPy."""
    made = [site for part in value.nested if part.written or part.call is not None for site in part.sites]
    return any(site.name.startswith("numpy.") for site in made)


@walker(depth=8, otherwise=bool)
def _is_mask(value: Expr) -> bool:
    """Whether an expression is the result of a comparison, also by another name or cast; else whether it has the name
    of a mask, or is the complement of one."""
    call = value.call
    if call is not None and call.name in _SAME and call.args:
        return _is_mask(call.args[0])
    if value.operator in _COMPARISONS or any(map(_is_mask, value.sources)):
        return True
    operands = value.operands("-")
    if len(operands) == 2 and operands[0].is_literal and operands[0].literal == 1:
        return True
    called = [part.call.name for part in value.nested if part.call is not None]
    return any(name in _TESTS for name in called) or any(_MASK.search(name) for name in (*value.written_names, *called))
