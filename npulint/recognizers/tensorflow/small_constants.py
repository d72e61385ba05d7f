"""Small constants that float16 rounds to zero although they guard a logarithm, a root or a division."""

from __future__ import annotations

from collections.abc import Iterator

from npulint.facts.attributes import attribute
from npulint.facts.code import CallResult, Op, Ref, Value
from npulint.facts.kinds import fact_kind
from npulint.facts.model import Span
from npulint.model.code.module import Module
from npulint.model.running.code_facts import CallFact, PlaceFact
from npulint.model.running.code_places import operations_by_operator
from npulint.model.values.cursors import CallSite, Expr, Scope
from npulint.model.values.half_range import ONE_FROM, in_half, number, vanishing
from npulint.model.values.walker import walker
from npulint.recognizers.registry import recognizes, recognizes_in_modules
from npulint.recognizers.tensorflow.tensors import in_tensorflow, is_kept, is_tensor

_GUARDED = {  # operation -> the arguments that must not become zero
    "log": (0,),
    "sqrt": (0,),
    "rsqrt": (0,),
    "norm": (0,),
    "reciprocal": (0,),
    "div": (1,),
    "divide": (1,),
    "truediv": (1,),
    "realdiv": (1,),
}
_BOUNDS = {"maximum": (0, 1), "clip_by_value": (1,), "clip": (1,), "add": (0, 1)}
_SAME = frozenset("cast identity reshape expand_dims squeeze tile transpose".split())
_EPSILONS = {  # operation -> its argument that keeps a root or a divisor from zero
    "tensorflow.nn.batch_normalization": ("variance_epsilon", 5),
}
_PACKAGES = ("tensorflow", "tensorflow.keras.backend", "keras.backend")
NONE = "none"


class _Guard:
    """The attributes of both kinds of guarded operations."""

    def lost(self) -> float:
        """The constant that float16 rounds to zero or to one; 0 without one."""
        raise NotImplementedError

    @attribute
    def constant(self) -> str:
        """The constant that float16 rounds to zero, or to one if it bounds a probability from above; none if it is
        large enough, or no guard."""
        return f"{self.lost():.9g}" if self.lost() else NONE

    @attribute
    def becomes(self) -> str:
        """What it is in float16; none if it is large enough, or no guard."""
        return in_half(self.lost()) if self.lost() else NONE


@fact_kind("small_constant")
class GuardedOperation(_Guard, CallFact):
    """A logarithm, a root or a division with what looks like a guard; the name is the canonical name of the
    operation."""

    def lost(self) -> float:
        """See `_Guard.lost`."""
        name, position = _EPSILONS.get(self.name, ("", -1))
        if name:
            epsilon = self.call.argument(name, position)
            return (None if epsilon is None else vanishing(epsilon)) or 0.0
        return next((lost for value in _guarded(self.call) if (lost := _guard(value))), 0.0)


@fact_kind("small_constant")
class GuardedDivision(_Guard, PlaceFact):
    """A quotient whose divisor is a sum or has a name; the name is ``division``."""

    _quotients: list[Expr]

    def lost(self) -> float:
        """See `_Guard.lost`; 0 as well if the division is not one of tensors."""
        for quotient in self._quotients:
            above, below = quotient.operands()
            lost = _guard(below)
            if lost and (is_tensor(below) or is_tensor(above)):
                return lost
        return 0.0


@recognizes(*(f"{package}.{name}" for package in _PACKAGES for name in _GUARDED), *_EPSILONS)
def guarded_operations(call: CallSite) -> list[GuardedOperation]:
    """Operations with an expression as argument. The constant is computed on demand, since only checks of mixed
    precision programs need it."""
    return [GuardedOperation(call, call.name)] if call.name in _EPSILONS or _guarded(call) else []


@recognizes_in_modules
def divisions(module: Scope) -> Iterator[GuardedDivision]:
    """Divisions by what may be guarded against zero, one for each line."""
    for (line, block), quotients in module.module.derive(_dividing).items():
        scope = module.at(block)
        values = [scope.expr(quotient, line) for quotient in quotients]
        yield GuardedDivision(scope, Span(line, 1, line, 2), "division", values)


def _dividing(module: Module) -> dict[tuple[int, int], list[Value]]:
    """The quotients of a module with such divisors, by line and block."""
    dividing: dict[tuple[int, int], list[Value]] = {}
    if in_tensorflow(module):
        for value, block, line in module.derive(operations_by_operator).get("/", ()):
            if _may_be_guarded(value):
                dividing.setdefault((line, block), []).append(value)
    return dividing


def _may_be_guarded(value: Value) -> bool:
    """Whether a value is a quotient whose divisor is a sum, a call or a name."""
    below = value.operands[1] if isinstance(value, Op) and value.op == "/" else None
    return isinstance(below, Ref | CallResult) or (isinstance(below, Op) and below.op == "+")


def _guarded(call: CallSite) -> list[Expr]:
    """The arguments that must not become zero, unless they are numbers."""
    args = call.args
    positions = _GUARDED[call.name.rpartition(".")[2]]
    return [args[position] for position in positions if position < len(args) and not args[position].is_literal]


@walker(depth=6, otherwise=float)
def _guard(value: Expr) -> float:
    """The constant that is added to a value or bounds it, if float16 rounds it to zero (an upper bound: to one); else
    0."""
    if value.written:
        assigned = value.assignments
        return _guard(assigned[0].value) if len(assigned) == 1 and assigned[0].target == value.written else 0.0
    call = value.call
    if call is not None:
        return 0.0 if is_kept(value) else _guard_of_call(call)
    added = value.operands("+")
    bounds = [lost for expr in added if (lost := vanishing(expr))]
    if bounds:
        return bounds[0]
    left, right = value.operands("-") or (None, None)
    return _upper_bound(right) if left is not None and right is not None and left.literal == 1 else 0.0


def _guard_of_call(call: CallSite) -> float:
    """The same of what TensorFlow's functions give."""
    last = call.name.rpartition(".")[2] if call.name.startswith(tuple(f"{package}." for package in _PACKAGES)) else ""
    args = call.args
    if last in _SAME:
        return _guard(args[0]) if args else 0.0
    bounds = [args[position] for position in _BOUNDS.get(last, ()) if position < len(args)]
    if last == "clip_by_value":
        least = call.argument("clip_value_min", 1)
        bounds = [] if least is None else [least]
    return next((lost for bound in bounds if (lost := vanishing(bound))), 0.0)


@walker(depth=6, otherwise=float)
def _upper_bound(value: Expr) -> float:
    """The bound of a probability from above that float16 rounds to one; else 0."""
    if value.written:
        assigned = value.assignments
        return _upper_bound(assigned[0].value) if len(assigned) == 1 else 0.0
    call = value.call
    if call is None or call.last not in ("clip_by_value", "clip", "minimum"):
        return 0.0
    greatest = call.argument("clip_value_max", 1 if call.last == "minimum" else 2)
    bound = None if greatest is None else number(greatest)
    return bound if bound is not None and ONE_FROM <= bound < 1 else 0.0
