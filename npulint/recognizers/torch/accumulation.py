"""Accumulation of gradients: what runs only every few batches, and what runs for each of them."""

from __future__ import annotations

from typing import Literal

from npulint.model.values.cursors import CallSite, Expr, Scope
from npulint.model.values.walker import walker

Part = Literal["every", "gated", "no"]


@walker(depth=6, otherwise=bool)
def every_few(test: Expr) -> bool:
    """Whether a condition holds every n-th time, for an n that is not 1: ``(i + 1) % n == 0``."""
    operands = test.operands()
    if test.operator == "%" and len(operands) == 2:
        return operands[1].single != 1
    if test.written:
        assigned = test.assignments
        return bool(assigned) and all(every_few(assignment.value) for assignment in assigned)
    return any(map(every_few, operands))


def gates(scope: Scope) -> list[Scope]:
    """The conditions around a block, within its function, that hold every n-th time."""
    scopes = []
    for ancestor in scope.ancestors:
        if ancestor.kind in ("function", "lambda"):
            break
        if ancestor.kind == "if" and every_few(ancestor.test):
            scopes.append(ancestor)
    return scopes


def part_of(call: CallSite) -> Part:
    """Whether a call of a scaler runs for every batch although its ``step`` runs every few batches, or as often as the
    step, or there is no accumulation."""
    scaler = _written(call)
    steps = [one for one in call.scope.routine.calls if one.last == "step" and one.args and _written(one) == scaler]
    if not scaler or not steps or call.scope.loop is None:
        return "no"
    limits = [gate for step in steps for gate in gates(step.scope)[-1:]]
    if len(limits) < len(steps):
        return "no"
    if any(call.scope.is_inside(gate) for gate in limits):
        return "gated"
    around = call.scope.loop
    certain = not call.scope.is_conditional and all(gate.is_inside(around) for gate in limits)
    return "every" if certain else "no"


def _written(call: CallSite) -> str:
    return call.receiver.written if call.receiver is not None else ""
