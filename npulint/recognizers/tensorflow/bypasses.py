"""Gradients of ``tf.gradients`` that an optimizer applies, and whether that optimizer could compute them itself."""

from __future__ import annotations

from typing import Literal

from npulint.facts.code import Const, Ref
from npulint.facts.kinds import fact_kind
from npulint.model.running.code_facts import CallFact
from npulint.model.values.cursors import CallSite, Expr, Scope
from npulint.recognizers.registry import recognizes
from npulint.recognizers.tensorflow.gradients import gradient_calls

_GRADIENTS = "tensorflow.gradients"
_NAMES = "tensorflow.name_scope()"
_ARGUMENTS = 2  # the loss and the variables, which compute_gradients takes as well
Order = Literal["ready", "late", "unclear"]


@fact_kind("step_gradients")
class StepGradients(CallFact):
    """The gradients that an optimizer applies come from ``tf.gradients``; the name is ``tensorflow.gradients``."""

    optimizer: str
    """The optimizer, as written."""
    maker: str
    """How the optimizer is made, if that is late."""
    order: Order
    """When the same function makes the optimizer: before (ready), right after from what is known before (late), or
    unclear, also if other optimizers apply them or they have further arguments."""


@recognizes(matching=lambda name: name.rpartition(".")[2] == "apply_gradients")
def step_gradients(call: CallSite) -> list[StepGradients]:
    """The tf.gradients calls of the same function whose result an apply_gradients gets."""
    sources = [
        gradient_call
        for gradient_call in gradient_calls(call)
        if gradient_call.name == _GRADIENTS and gradient_call.module is call.module
    ]
    receiver = call.receiver
    written = "" if receiver is None else receiver.written
    return [StepGradients(source, _GRADIENTS, written, *_made(source, call, written)) for source in sources]


def _made(gradients: CallSite, applied: CallSite, optimizer: str) -> tuple[str, Order]:
    """How and when the optimizer that applies gradients is made."""
    routine = applied.scope.routine
    steps = [call for call in routine.calls_named("apply_gradients") if gradients in gradient_calls(call)]
    made = [local_assignment for local_assignment in routine.local_assignments if local_assignment.target == optimizer]
    if not made or len(steps) > 1 or gradients.scope.routine != routine or not _is_plain(gradients):
        return "", "unclear"
    if all(assignment.line < gradients.line for assignment in made):
        return "", "ready"
    (last, *others) = made
    if others or _without_names(last.scope) != _without_names(gradients.scope) or last.line > applied.line:
        return "", "unclear"
    maker = _known_before(last.value, gradients.line)
    return maker, "late" if maker else "unclear"


def _without_names(scope: Scope) -> Scope:
    """The block around a scope that only gives names to operations; other blocks themselves."""
    around = scope.parent
    return around if around is not None and scope.kind == "with" and scope.test.name == _NAMES else scope


def _is_plain(gradients: CallSite) -> bool:
    """Whether the gradients are those of one value, without arguments that compute_gradients does not have."""
    given = gradients.args
    return len(given) == len(gradients.arguments) == _ARGUMENTS and not given[0].items and not gradients.starred


def _known_before(optimizer: Expr, line: int) -> str:
    """The call that makes an optimizer, if it only reads names and constants that have their values before a line."""
    call = optimizer.call
    if (
        call is None
        or call.starred
        or any(bound.line >= line for argument in call.arguments for bound in argument.assignments)
    ):
        return ""
    keywords = [f"{name}={_written(value)}" for name, value in call.keywords.items()]
    arguments = [*map(_written, call.args), *keywords]
    plain = all(isinstance(expr.value, Ref | Const) for expr in (call.callee, *call.arguments))
    return f"{call.written}({', '.join(arguments)})" if plain else ""


def _written(value: Expr) -> str:
    return value.written or repr(value.literal)
