"""Loss scaling that a project writes itself: ``(loss * scale).backward()``, and gradients divided by the scale."""

from __future__ import annotations

from collections.abc import Iterator

from npulint.core.lazy_regex import lazy_compile
from npulint.model.values.context import once_per_file
from npulint.model.values.cursors import AssignmentSite, CallSite, Expr, Scope
from npulint.model.values.walker import walker

_GRADIENT = lazy_compile(r"\.grad(?:\.data)?$")


def is_scaled_manually(loss: Expr) -> bool:
    """Whether a loss is a product with a factor by which the same file divides gradients."""
    factors = set(_factors(loss))
    return bool(factors) and not factors.isdisjoint(_divisors(loss.scope.at(0)))


@walker(depth=4, otherwise=list)
def _factors(loss: Expr) -> list[str]:
    """The names of the factors of a product, by their last segments."""
    if loss.written:
        return [name for assignment in loss.assignments for name in _factors(assignment.value)]
    return [_last(operand) for operand in loss.operands("*") if operand.written]


@once_per_file
def _divisors(module: Scope) -> frozenset[str]:
    """The names, by their last segments, by which the code of a file divides gradients."""
    named = module.assignments_to("grad", "data")
    divisors = [name for assignment in named for name in _of_assignment(assignment)]
    for call in module.calls_named("div_", "mul_", "copy_"):
        divisors += _of_call(call)
    return frozenset(divisors)


def _of_assignment(assignment: AssignmentSite) -> Iterator[str]:
    """``p.grad /= scale``, ``p.grad = p.grad / scale``, ``p.grad *= 1 / scale``."""
    if _GRADIENT.search(assignment.target):
        changed, how = assignment.value.operands("+=") or (assignment.value, None)
        if how is None:
            yield from _of_quotient(changed)
        elif how.literal == "/":
            yield from _name_of(changed)
        elif how.literal == "*":
            yield from _of_inverse(changed)


def _of_call(call: CallSite) -> Iterator[str]:
    """``p.grad.div_(scale)``, ``p.grad.mul_(1 / scale)``, ``p.grad.copy_(p.grad / scale)``."""
    if call.receiver is not None and call.args and _GRADIENT.search(call.receiver.written):
        if call.last == "copy_":
            yield from _of_quotient(call.args[0])
        else:
            yield from _name_of(call.args[0]) if call.last == "div_" else _of_inverse(call.args[0])


def _of_quotient(value: Expr) -> Iterator[str]:
    """The divisor of a gradient: ``p.grad / scale``, ``p.grad * (1 / scale)``."""
    for operator in "/*":
        operands = value.operands(operator)
        if len(operands) == 2 and _GRADIENT.search(operands[0].written):
            yield from _name_of(operands[1]) if operator == "/" else _of_inverse(operands[1])


def _of_inverse(factor: Expr) -> Iterator[str]:
    """The divisor of a factor: ``1 / scale``, also by a name."""
    for value in [assignment.value for assignment in factor.assignments] or [factor]:
        operands = value.operands("/")
        if len(operands) == 2:
            yield from _name_of(operands[1])


def _name_of(value: Expr) -> Iterator[str]:
    if value.written:
        yield _last(value)


def _last(value: Expr) -> str:
    return value.written.rpartition(".")[2]
