"""Small constants that guard a logarithm, a root or a division of PyTorch and that a float16 tensor rounds to zero."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from npulint.facts.attributes import attribute
from npulint.facts.code import Value
from npulint.facts.kinds import fact_kind
from npulint.facts.model import Span
from npulint.model.code.module import Module
from npulint.model.running.code_facts import CallFact, PlaceFact
from npulint.model.running.code_places import operations_by_operator
from npulint.model.values.cursors import CallSite, Expr, Scope
from npulint.model.values.half_range import vanishing
from npulint.model.values.walker import walker
from npulint.recognizers.registry import recognizes, recognizes_in_modules
from npulint.recognizers.torch.half_types import Half, half_by
from npulint.recognizers.torch.operations import Operation, call_operation, operation

_FUNCTIONS = frozenset("log log2 log10 sqrt rsqrt reciprocal".split())
_OTHERS = ("tensorflow.", "keras.", "numpy.", "math.")
_BOUNDS = {"clamp": ("min", 1), "clip": ("min", 1), "clamp_min": ("min", 1), "maximum": ("other", 1)}


class _Guard:
    """The attributes of guarded operations."""

    if TYPE_CHECKING:
        _guarded: Expr  # what must not become zero

    @attribute
    def constant(self) -> str:
        """The constant that float16 rounds to zero; none if it is large enough, or no guard."""
        guard = _guard(self._guarded)
        return "none" if guard is None else f"{guard[0]:g}"

    @attribute
    def half(self) -> Half:
        """What makes the tensor that it guards float16: a cast, or the operators that autocast lowers; unknown if that
        is not certain."""
        guard = _guard(self._guarded)
        return "unknown" if guard is None else half_by(guard[1])


@fact_kind("small_constant")
class GuardedFunction(_Guard, CallFact):
    """A logarithm or a root of PyTorch; the name is the function."""

    _guarded: Expr


@fact_kind("small_constant")
class GuardedQuotient(_Guard, PlaceFact):
    """A quotient of PyTorch; the name is ``division``."""

    _guarded: Expr


@recognizes(matching=lambda name: name.rpartition(".")[2] in _FUNCTIONS and not name.startswith(_OTHERS))
def guarded_functions(call: CallSite) -> list[GuardedFunction]:
    """Logarithms and roots of what is computed."""
    made = call_operation(call)
    if not made.inputs or made.inputs[0].is_literal:
        return []
    return [GuardedFunction(call, made.op, made.inputs[0])]


@recognizes_in_modules
def guarded_quotients(module: Scope) -> Iterator[GuardedQuotient]:
    """Quotients with a sum or a bound as divisor, one for each line."""
    for (line, block), divisor in module.module.derive(_divisors).items():
        scope = module.at(block)
        yield GuardedQuotient(scope, Span(line, 1, line, 2), "division", scope.expr(divisor, line))


def _divisors(module: Module) -> dict[tuple[int, int], Value]:
    """By line and block the first divisor that is a sum, a call or a name."""
    divisors: dict[tuple[int, int], Value] = {}
    if any(record.module.partition(".")[0] == "torch" for record in module.code.imports):
        for quotient, block, line in module.derive(operations_by_operator).get("/", ()):
            divisors.setdefault((line, block), quotient.operands[1])
    return divisors


@walker(depth=6, otherwise=lambda: None)
def _guard(value: Expr) -> tuple[float, Expr] | None:
    """The constant that is added to a tensor, or bounds it, and that float16 rounds to zero; with the tensor."""
    if value.written:
        assigned = value.assignments
        return _guard(assigned[0].value) if len(assigned) == 1 and assigned[0].target == value.written else None
    made = operation(value)
    if made is None or not made.inputs:
        return None
    if made.op == "add" and len(made.inputs) == 2:
        left, right = made.inputs
        return _pair(right, left) or _pair(left, right)
    return _bounded(made)


def _bounded(made: Operation) -> tuple[float, Expr] | None:
    name, position = _BOUNDS.get(made.op, ("", 0))
    bound = made.argument(name, position) if name else None
    return None if bound is None else _pair(bound, made.inputs[0])


def _pair(constant: Expr, tensor: Expr) -> tuple[float, Expr] | None:
    lost = vanishing(constant)
    return None if lost is None else (lost, tensor)
