"""Constants that float16 turns into zero where they guard a logarithm, a root or a division against it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from npulint.assemble.code_facts import AssignmentFact, CallFact, PlaceFact
from npulint.assemble.cursors import AssignmentSite, CallSite, Expr, Scope
from npulint.assemble.recognizers.registry import recognizes, recognizes_in_modules
from npulint.facts.attributes import attribute
from npulint.facts.code import Op, Value
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
    """What looks like a guard of a logarithm, a root or a division; the name is the canonical name of the operation."""

    @attribute
    def constant(self) -> str:
        """The constant that float16 turns into zero; none where it is large enough, or no guard."""
        return _text(_guard(value) for value in _guarded(self.call))


@fact_kind("small_constant")
class AssignedDivision(AssignmentFact):
    """A quotient is assigned whose divisor is a sum; the name is ``division``."""

    @attribute
    def constant(self) -> str:
        """The constant in the divisor that float16 turns into zero; none where there is none, or no tensor."""
        return _text(_divisors(self.assignment.value))


@fact_kind("small_constant")
class ReturnedDivision(PlaceFact):
    """A quotient is returned whose divisor is a sum; the name is ``division``."""

    record: Expr

    @attribute
    def constant(self) -> str:
        """The constant in the divisor that float16 turns into zero; none where there is none, or no tensor."""
        return _text(_divisors(self.record))


@recognizes(*_GUARDED)
def guarded_operations(call: CallSite) -> list[GuardedOperation]:
    """Operations of which an argument is an expression. The constant is worked out when it is asked for, as only
    programs in mixed precision are asked."""
    return [GuardedOperation(call, call.name)] if _guarded(call) else []


@recognizes_in_modules
def divisions(module: Scope) -> Iterator[Fact]:
    """Assignments and returned values that divide by a sum."""
    for assignment in module.module.code.assignments:
        if assignment.value.__class__ is Op and _divides_by_sum(assignment.value):
            yield AssignedDivision(AssignmentSite(module.at(assignment.block), assignment), "division")
    for one in module.module.code.returns:
        if one.value.__class__ is Op and _divides_by_sum(one.value):
            scope = module.at(one.block)
            yield ReturnedDivision(scope, Span(one.line, 1, one.line, 2), "division", scope.expr(one.value, one.line))


def _divides_by_sum(value: Value) -> bool:
    return any(_is_by_sum(part) for part in nested(value))


def _is_by_sum(value: Value) -> bool:
    below = value.operands[1] if isinstance(value, Op) and value.op == "/" else None
    return isinstance(below, Op) and below.op == "+"


def _text(constants: Iterable[float]) -> str:
    """The first constant that there is."""
    return next((f"{constant:g}" for constant in constants if constant), NONE)


def _divisors(value: Expr) -> Iterator[float]:
    """The constants that guard the divisions of tensors in an expression."""
    for part in value.nested:
        if _is_by_sum(part.value):
            above, below = part.operands()
            small = [constant for one in below.operands() if (constant := _small(one))]
            if small and any(_is_tensor(one) for one in (*below.operands(), above)):
                yield small[0]


def _guarded(call: CallSite) -> list[Expr]:
    """The arguments that must not become zero, where they are expressions."""
    args = call.args
    values = [args[position] for position in _GUARDED[call.name] if position < len(args)]
    return [value for value in values if value.operator or value.call is not None]


def _guard(value: Expr) -> float:
    """The small constant that is added to a value, or that bounds it from below; else 0."""
    bounds = value.operands("+")
    if value.call is not None:
        args = value.call.args
        bounds = [args[position] for position in _BOUNDS.get(value.call.name, ()) if position < len(args)]
    return next((constant for bound in bounds if (constant := _small(bound))), 0.0)


def _small(value: Expr) -> float:
    """A constant that float16 turns into zero: a literal, or the value of a name that says so; else 0."""
    known = value.literal
    if value.written and _NAME.search(value.written):
        known = value.single
    return known if isinstance(known, float) and 0 < known < ZERO_BELOW else 0.0


def _is_tensor(value: Expr) -> bool:
    """Whether a value is certainly computed from the result of an operation of TensorFlow, not of a session's run."""
    names = [part.name for part in value.nested if part.written or part.call is not None]
    return any(name.startswith("tensorflow.") and name.endswith("()") and "ession" not in name for name in names)
