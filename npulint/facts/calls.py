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
