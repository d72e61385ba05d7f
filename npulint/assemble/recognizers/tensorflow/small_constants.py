"""Small constants that float16 rounds to zero although they guard a logarithm, a root or a division."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from npulint.assemble.code_facts import AssignmentFact, CallFact, PlaceFact
from npulint.assemble.cursors import AssignmentSite, CallSite, Expr, Scope
from npulint.assemble.module import Module
from npulint.assemble.recognizers.registry import recognizes, recognizes_in_modules
from npulint.facts.attributes import attribute
from npulint.facts.code import Assignment, Op, Return, Value
from npulint.facts.kinds import fact_kind
from npulint.facts.model import Fact, Span
from npulint.facts.walk import nested
from npulint.lazy_regex import lazy_compile

ZERO_BELOW = 2.0**-25  # smaller numbers round to zero in float16, whose smallest number is 2**-24
_GUARDED = {  # operation -> the arguments that must not become zero
    "tensorflow.log": (0,),
    "tensorflow.sqrt": (0,),
    "tensorflow.rsqrt": (0,),
    "tensorflow.reciprocal": (0,),
    "tensorflow.div": (1,),
    "tensorflow.divide": (1,),
    "tensorflow.truediv": (1,),
    "tensorflow.realdiv": (1,),
}
_BOUNDS = {"tensorflow.maximum": (0, 1), "tensorflow.clip_by_value": (1,)}
_NAME = lazy_compile(r"(?:^|[._])(?:eps\w*|tiny|small\w*|delta)$|(?:^|[._])_?EPS\w*$")
NONE = "none"


@fact_kind("small_constant")
class GuardedOperation(CallFact):
    """A logarithm, a root or a division with what looks like a guard; the name is the canonical name of the
    operation."""

    @attribute
    def constant(self) -> str:
        """The constant that float16 rounds to zero; none if it is large enough, or no guard."""
        return _text(_guard(value) for value in _guarded(self.call))


@fact_kind("small_constant")
class AssignedDivision(AssignmentFact):
    """A quotient whose divisor is a sum is assigned; the name is ``division``."""

    @attribute
    def constant(self) -> str:
        """The constant in the divisor that float16 rounds to zero; none without one, or if the division is not one of
        tensors."""
        return _text(_divisors(self.assignment.value))


@fact_kind("small_constant")
class ReturnedDivision(PlaceFact):
    """A quotient whose divisor is a sum is returned; the name is ``division``."""

    record: Expr

    @attribute
    def constant(self) -> str:
        """The constant in the divisor that float16 rounds to zero; none without one, or if the division is not one of
        tensors."""
        return _text(_divisors(self.record))


@recognizes(*_GUARDED)
def guarded_operations(call: CallSite) -> list[GuardedOperation]:
    """Operations with an expression as argument. The constant is computed on demand, since only checks of mixed
    precision programs need it."""
    return [GuardedOperation(call, call.name)] if _guarded(call) else []


@recognizes_in_modules
def divisions(module: Scope) -> Iterator[Fact]:
    """Assignments and returned values that divide by a sum."""
    assigned, returned = module.module.derive(_dividing)
    for assignment in assigned:
        yield AssignedDivision(AssignmentSite(module.at(assignment.block), assignment), "division")
    for one in returned:
        scope = module.at(one.block)
        yield ReturnedDivision(scope, Span(one.line, 1, one.line, 2), "division", scope.expr(one.value, one.line))


def _dividing(module: Module) -> tuple[list[Assignment], list[Return]]:
    """The assignments and returned values of a module that divide by a sum."""
    code = module.code
    return (
        [one for one in code.assignments if one.value.__class__ is Op and _divides_by_sum(one.value)],
        [one for one in code.returns if one.value.__class__ is Op and _divides_by_sum(one.value)],
    )


def _divides_by_sum(value: Value) -> bool:
    return any(_is_by_sum(part) for part in nested(value))


def _is_by_sum(value: Value) -> bool:
    below = value.operands[1] if isinstance(value, Op) and value.op == "/" else None
    return isinstance(below, Op) and below.op == "+"


def _text(constants: Iterable[float]) -> str:
    """The first constant, as text."""
    return next((f"{constant:g}" for constant in constants if constant), NONE)


def _divisors(value: Expr) -> Iterator[float]:
    """The constants that guard the divisors of tensor divisions in an expression."""
    for part in value.nested:
        if _is_by_sum(part.value):
            above, below = part.operands()
            small = [constant for one in below.operands() if (constant := _small(one))]
            if small and any(_is_tensor(one) for one in (*below.operands(), above)):
                yield small[0]


def _guarded(call: CallSite) -> list[Expr]:
    """The arguments that must not become zero, if they are expressions."""
    args = call.args
    values = [args[position] for position in _GUARDED[call.name] if position < len(args)]
    return [value for value in values if value.operator or value.call is not None]


def _guard(value: Expr) -> float:
    """The small constant that is added to a value, or is its lower bound; else 0."""
    bounds = value.operands("+")
    if value.call is not None:
        args = value.call.args
        bounds = [args[position] for position in _BOUNDS.get(value.call.name, ()) if position < len(args)]
    return next((constant for bound in bounds if (constant := _small(bound))), 0.0)


def _small(value: Expr) -> float:
    """A constant that float16 rounds to zero: a literal, or the value of a name such as epsilon; else 0."""
    known = value.literal
    if value.written and _NAME.search(value.written):
        known = value.single
    return known if isinstance(known, float) and 0 < known < ZERO_BELOW else 0.0


def _is_tensor(value: Expr) -> bool:
    """Whether a value is certainly computed from the result of a TensorFlow operation, not of a session run."""
    names = [part.name for part in value.nested if part.written or part.call is not None]
    return any(name.startswith("tensorflow.") and name.endswith("()") and "ession" not in name for name in names)
