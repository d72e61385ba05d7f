"""The losses of training code: the tensors on which backward is called, and where they are logged or stored."""

from __future__ import annotations

from npulint.facts.attributes import attribute
from npulint.facts.code import Ref
from npulint.facts.kinds import fact_kind
from npulint.model.running.code_facts import AssignmentFact
from npulint.model.running.surroundings import surroundings_of
from npulint.model.running.training import backward_calls, train_loop
from npulint.model.values.context import once
from npulint.model.values.cursors import AssignmentSite, CallSite, Expr, Scope
from npulint.model.values.walker import walker
from npulint.recognizers.registry import recognizes_in_modules

_KEPT = frozenset(("detach", "data", "mean", "sum", "clone", "float"))
_VALUES = frozenset(("detach", "item", "cpu", "tolist", "float"))


@fact_kind("host_sync")
class AddedLoss(AssignmentFact):
    """A loss is added, with its graph, to a variable that outlives the training step (``total += loss``). The name is
    ``append_graph``."""

    @attribute
    def written(self) -> str:
        """The addition as shown in the message."""
        return f"{self.assignment.target} += …"


@recognizes_in_modules
def added_losses(module: Scope) -> list[AddedLoss]:
    """The additions of losses with their graphs."""
    additions = []
    for function in dict.fromkeys(call.scope.routine for call in backward_calls(module)):
        losses = losses_of(function)
        for local_assignment in function.local_assignments:
            plain = local_assignment.target.isidentifier() and local_assignment.target not in losses
            if plain and local_assignment.value.operator == "+=" and _adds_loss(local_assignment, losses):
                additions.append(AddedLoss(local_assignment, "append_graph"))
    return additions


def _adds_loss(addition: AssignmentSite, losses: frozenset[str]) -> bool:
    """Whether a loss with its graph is added to a variable that outlives the step."""
    value, around = addition.value.operands()[0], surroundings_of(addition.scope)
    return (
        not losses.isdisjoint(value.written_names)
        and not _is_detached(value)
        and is_loss(value)
        and around.step == "yes"
        and "no_grad" not in around.under
        and _outlives_step(addition.holder)
    )


# -- which names are losses --------------------------------------------------------------------------


@once
def losses_of(function: Scope) -> frozenset[str]:
    """The names on which a function, or module-level code, calls backward."""
    calls = [call for call in backward_calls(function) if call.scope.routine is function]
    values = [value for call in calls for value in (*call.args[:1], call.receiver) if value is not None]
    return frozenset(name for value in values for name in _loss_names(value) if "." not in name)


def _loss_names(value: Expr) -> set[str]:
    """``loss``, also for ``scaler.scale(loss)`` and for the `scaled_loss` of ``with amp.scale_loss(loss, …)``."""
    if value.call is not None:
        return _first_names(value.call)
    names = {value.written} if value.written else set()
    for assignment in value.assignments:
        made = assignment.value.call if assignment.scope.module is value.module else None
        if made is not None and made.last in ("scale_loss", "scale"):
            names |= _first_names(made)
    return names


def _first_names(call: CallSite) -> set[str]:
    """The names in the first argument of a call."""
    return {name for value in call.args[:1] for name in value.written_names}


@walker(depth=7, otherwise=bool)
def is_loss(value: Expr) -> bool:
    """Whether a value is (part of) a tensor in the graph of a loss of this function."""
    if value.written:
        name = value.written.removesuffix(".data")
        return name in losses_of(value.scope.routine) and not _is_replaced(value.sibling(Ref(name)))
    if value.operator in ("+", "-", "*", "/", "[]"):
        parts = value.operands()
        return any(is_loss(part) for part in (parts[:1] if value.operator == "[]" else parts))
    call = value.call
    receiver = call.receiver if call is not None and call.last in _KEPT else None
    return receiver is not None and is_loss(receiver)


def _is_replaced(loss: Expr) -> bool:
    """Whether a loss was replaced by its value: ``loss = loss.detach().cpu()``, ``loss = reduce(loss.data)``."""
    assigned = [assignment.value for assignment in loss.assignments if assignment.scope.module is loss.module]
    return bool(assigned) and assigned[0].line < loss.line and _is_value(assigned[0])


@walker(depth=7, otherwise=bool)
def _is_value(value: Expr) -> bool:
    """Whether an expression is a number without a graph."""
    call = value.call
    if call is None:
        return value.written.endswith(".data")
    parts = (*call.args[:1], call.receiver)
    return call.last in _VALUES or any(_is_value(part) for part in parts if part is not None)


# -- where losses are shown or kept ------------------------------------------------------------------


def takes_loss(call: CallSite) -> bool:
    """Whether a loss is the first argument or the receiver of a call."""
    value = call.args[0] if call.record.args else call.receiver
    return value is not None and is_loss(value)


def shows_loss(call: CallSite) -> bool:
    """Whether a call that prints or logs gets the tensor itself, which it then reads."""
    options = (value for key, value in call.keywords.items() if key != "**")
    return any(_is_shown(value) for value in (*call.args, *options))


@walker(depth=7, otherwise=bool)
def _is_shown(value: Expr) -> bool:
    """Whether a loss is part of a text or a tuple."""
    if is_loss(value):
        return True
    parts = value.items or value.operands("join", "%", "+")
    if value.call is not None and value.call.last in ("format", "str"):
        parts = value.call.arguments
    return any(_is_shown(part) for part in parts)


def _is_detached(value: Expr) -> bool:
    """Whether part of an expression is detached from its graph."""
    call = value.call
    if call is not None:
        return call.last == "detach" or (call.receiver is not None and _is_detached(call.receiver))
    return value.written.endswith(".data") or any(_is_detached(part) for part in value.operands())


def gathers_loss(call: CallSite) -> bool:
    """Whether ``losses.append(loss)`` keeps the graph: not detached, and the list outlives the step."""
    receiver = call.receiver
    if receiver is None or not receiver.written or not call.args or _is_detached(call.args[0]):
        return False
    return _outlives_step(receiver)


def _outlives_step(name: Expr) -> bool:
    """Whether a name is assigned outside the training loop only."""
    loop = train_loop(name.scope)
    assigned = [assignment for assignment in name.assignments if assignment.scope.module is name.module]
    fresh = [assignment for assignment in assigned if assignment.value.operator != "+="]
    return loop is not None and bool(fresh) and not any(assignment.scope.is_inside(loop) for assignment in fresh)
