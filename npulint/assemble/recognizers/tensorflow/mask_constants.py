"""Masks made by a factor that float16 cannot represent: ``scores - 1e30 * mask``, ``(1 - mask) * -1e9``."""

from __future__ import annotations

from collections.abc import Iterator

from npulint.assemble.code_facts import PlaceFact
from npulint.assemble.cursors import Expr, Scope
from npulint.assemble.module import Module
from npulint.assemble.recognizers.registry import recognizes_in_modules
from npulint.facts.attributes import attribute
from npulint.facts.code import CallResult, Const, Op, Value
from npulint.facts.kinds import fact_kind
from npulint.facts.model import Span
from npulint.facts.walk import nested, written_values
from npulint.lazy_regex import lazy_compile

_GREATEST = 65504.0  # of float16
_MOST = 1e39  # beyond float32 it is no number of a graph
_MASK = lazy_compile(r"(?i)mask|pad(?:ding)?s?(?:$|\b|_)|ones_like|invalid")


@fact_kind("mask_constant")
class MaskConstant(PlaceFact):
    """A mask is multiplied by a constant that float16 cannot represent; the name is ``mask``."""

    _size: float

    @attribute
    def constant(self) -> str:
        """The constant, as text."""
        return f"{self._size:g}"


@recognizes_in_modules
def mask_constants(module: Scope) -> Iterator[MaskConstant]:
    """The products of a mask and a large constant in a file that uses TensorFlow."""
    found: set[int] = set()
    for product, block, line in module.module.derive(_products):
        size = 0.0 if line in found else _masking(module.at(block).expr(product, line))
        if size:
            found.add(line)
            yield MaskConstant(module.at(block), Span(line, 1, line, 2), "mask", size)


def _products(module: Module) -> list[tuple[Value, int, int]]:
    """The products (expression, block, line) in operations of a module that imports TensorFlow."""
    code = module.code
    if not any(record.module.partition(".")[0] == "tensorflow" for record in code.imports):
        return []
    operations = [one for one in written_values(code) if one[0].__class__ is Op]
    return [(part, block, line) for value, block, line in operations for part in nested(value) if _is_product(part)]


def _is_product(value: Value) -> bool:
    return isinstance(value, Op) and value.op == "*" and len(value.operands) == 2


def _masking(product: Expr) -> float:
    """The constant by which a product multiplies a mask, if it is too large; else 0."""
    left, right = product.operands()
    for factor, mask in ((left, right), (right, left)):
        size = _number(factor)
        if size is not None and _GREATEST < abs(size) < _MOST and _is_mask(mask):
            return size
    return 0.0


def _number(value: Expr) -> float | None:
    """The number that a literal, an operation on literals or ``tf.cast`` of one is."""
    call = value.call if isinstance(value.value, CallResult) else None
    if call is not None:
        return _number(call.args[0]) if call.name == "tensorflow.cast" and call.args else None
    if not all(isinstance(part, Const | Op) for part in nested(value.value)):
        return None
    known = value.single
    return float(known) if isinstance(known, int | float) and not isinstance(known, bool) else None


def _is_mask(value: Expr) -> bool:
    """Whether an expression has the name of a mask, or is the complement of one."""
    operands = value.operands("-")
    if len(operands) == 2 and operands[0].is_literal and operands[0].literal == 1:
        return True
    called = [part.call.name for part in value.nested if part.call is not None]
    return any(_MASK.search(name) for name in (*value.written_names, *called))
