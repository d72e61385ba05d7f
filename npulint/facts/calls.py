"""Parts of a call that its syntax alone determines."""

from __future__ import annotations

from npulint.facts.code import Call, Op, Ref, Value


def receiver_of(call: Call) -> Value | None:
    """The object that a method is called on; None for a plain function."""
    if isinstance(call.callee, Op) and call.callee.op == ".":
        return call.callee.operands[0]
    if isinstance(call.callee, Ref) and "." in call.callee.name:
        return Ref(call.callee.name.rpartition(".")[0])
    return None


def argument(call: Call, name: str, position: int) -> Value | None:
    """What a call passes for a parameter by keyword or position; None when it is not passed or starred."""
    for key, value in call.keywords:
        if key == name:
            return value
    if 0 <= position < len(call.args):
        before = call.args[: position + 1]
        if not any(isinstance(a, Op) and a.op == "star" for a in before):
            return call.args[position]
    return None
