"""Moves that depend on whether somebody chose a device: ``if gpu is not None: x = x.cuda(gpu)``."""

from __future__ import annotations

from typing import Literal

from npulint.model.running.conditions import BRANCHES
from npulint.model.values.cursors import CallSite, Expr

Given = Literal["only", "otherwise", "any"]


def where_given(call: CallSite) -> Given:
    """When a call of ``cuda`` or ``npu`` runs: ``only`` where the device that it gets is given, ``otherwise`` where no
    device is given, or in ``any`` case."""
    device = call.argument("device", 0)
    branches = [around for around in call.scope.ancestors if around.kind in BRANCHES]
    asked = [(around.kind, _asked(around.test)) for around in branches]
    if device is None:
        return "otherwise" if any(kind == "else" and name for kind, name in asked) else "any"
    return "only" if device.written and ("if", device.written) in asked else "any"


def _asked(test: Expr) -> str:
    """The name that a condition wants to be given; empty for other conditions."""
    operands = test.operands("is not")
    name = operands[0].written if len(operands) == 2 and operands[1].is_literal and operands[1].literal is None else ""
    return name or ""
