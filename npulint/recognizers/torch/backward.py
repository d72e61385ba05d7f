"""Calls of backward: whether and how the loss is scaled."""

from __future__ import annotations

from typing import Literal

from npulint.core.lazy_regex import lazy_compile
from npulint.model.running.inner_functions import blocks_as_run, joined_calls
from npulint.model.values.cursors import CallSite, Expr, Scope
from npulint.model.values.walker import memoized
from npulint.recognizers.torch.manual_scaling import is_scaled_manually

_SCALE_LOSS = "apex.amp.scale_loss()"
_ENGINE = lazy_compile(
    r"(?:accelerator|engine|fabric|strategy|ds_model|deepspeed|booster|manual)\w*(?:\(\)|\[\])*\.backward$|\.manual_backward$"
    r"|(?:^|\.)(?:deepspeed|accelerate|lightning\w*|colossalai)\.[\w.()\[\]]+\.backward$",
)

Scaled = Literal["yes", "no", "unknown", "apex", "bypassed", "scaler", "manual", "engine"]


def scaled(call: CallSite) -> Scaled:
    """How the loss of a backward call is scaled: apex, bypassed (in the block of apex, but not the scaled loss),
    scaler, manual (by a factor), engine (by a library), unknown (the loss is a parameter) or no."""
    if call.name.endswith("scale().backward"):
        return "scaler"
    if _ENGINE.search(call.name) or any(not _is_gradient(value) for value in call.args):
        return "engine"
    block = scale_block(call.scope)
    if block is not None:
        return _in_block(call, block)
    if any(loss.name.endswith(".scale()") for loss in _losses(call)):
        return "scaler"
    if any(map(is_scaled_manually, _losses(call))):
        return "manual"
    return "unknown" if _is_scaled_otherwise(call) else "no"


def is_stepped(call: CallSite) -> bool:
    """Whether the function around a call also calls ``step``: then it trains and does not just inspect gradients."""
    return any(other.last == "step" for other in joined_calls(call.scope))


def is_of_inputs(call: CallSite) -> bool:
    """Whether the function around a backward call asks for the gradient of a tensor of its own and updates no model:
    guidance of a sampler, a picture that is optimised by hand."""
    return _asks_for_own_gradients(call.scope.routine)


@memoized(meanwhile=bool)
def _asks_for_own_gradients(routine: Scope) -> bool:
    """Whether a function asks for the gradient of a tensor of its own and updates no model."""
    calls = routine.calls
    if any(call.last == "zero_grad" or (call.last == "step" and not call.args) for call in calls):
        return False
    wanted = {call.written.rpartition(".")[0] for call in calls if call.last == "requires_grad_"}
    if not wanted:
        return False
    values = [assignment.value for assignment in routine.assignments if assignment.scope.routine.block == routine.block]
    for call in calls:
        values += call.arguments if call.receiver is None else (call.receiver, *call.arguments)
    gradients = {f"{name}.grad" for name in wanted if name}
    return any(part.written in gradients for value in values for part in (value, *value.nested))


def _is_gradient(value: Expr) -> bool:
    """Whether a positional argument of backward is its gradient, not the loss for an engine."""
    if value.is_literal or value.call is not None:
        return True
    return "grad" in value.written or value.written.rpartition(".")[2] in ("one", "mone", "ones")


def _is_scaled_otherwise(call: CallSite) -> bool:
    """Whether another branch of a condition around the call passes the loss to a scaler."""
    tests = _conditions(call.scope)
    others = (other for other in call.scope.routine.calls if other.scope is not call.scope) if tests else ()
    return any("scale" in other.written.lower() and tests & _conditions(other.scope) for other in others)


def _conditions(scope: Scope) -> set[tuple[int, int]]:
    """The conditions around a block, identified by block and line."""
    return {
        (ancestor.record.parent, ancestor.record.line)
        for ancestor in scope.ancestors
        if ancestor.kind in ("if", "else")
    }


def scale_block(scope: Scope) -> Scope | None:
    """The ``with amp.scale_loss(...)`` around a block within its function, or around a call of that in the code around
    it; None without one."""
    for way in blocks_as_run(scope):
        for around in way:
            name = around.test.name if around.kind == "with" else ""
            if name == _SCALE_LOSS or name.endswith("amp.scale_loss()"):
                return around
    return None


def _in_block(call: CallSite, block: Scope) -> Literal["apex", "bypassed"]:
    """``apex``, or ``bypassed`` if backward is called on the loss that amp.scale_loss got."""
    context, losses = block.test.call, _losses(call)
    if context is None or not losses:
        return "apex"
    binds = call.module.code.assignments
    names = {bind.target for bind in binds if bind.value == block.test.value and not bind.target.startswith("[")}
    arguments = [value.written for value in context.args[:1] if value.written]
    return "bypassed" if all(loss.written in arguments and loss.written not in names for loss in losses) else "apex"


def _losses(call: CallSite) -> list[Expr]:
    """What a backward call may be called on: what the project's calls pass, if it is a parameter."""
    loss = call.receiver
    if loss is None:
        return []
    return (loss.sources if loss.passed_to is not None else []) or [loss]
