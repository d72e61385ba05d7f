"""Counters: names that loops increment by one or by the batch size, and by which sums are divided for averages."""

from __future__ import annotations

from collections.abc import Iterator

from npulint.assemble.module import Module
from npulint.facts.code import Assignment, CallResult, Const, Op, Ref, Value

_SIZES = frozenset(("size", "len", "numel", "nelement"))
BATCH = "items of the batch"
"""Represents the number of items in a batch, in any spelling."""


def counters(module: Module) -> Iterator[tuple[Assignment, Const]]:
    """The counting assignments in loops, and their increments."""
    for bind in module.code.assignments:
        value = bind.value
        if not isinstance(value, Op) or value.op != "+=" or module.loop_of(bind.block) < 0:
            continue
        added = value.operands[-1]
        if isinstance(added, Const) and isinstance(added.value, int):
            yield bind, added
        elif _is_size(module, added):
            yield bind, Const(BATCH)


def _is_size(module: Module, value: Value) -> bool:
    """Whether a value is a size: ``x.size(0)``, ``len(x)``, ``x.shape[0]``."""
    if isinstance(value, CallResult):
        return module.callee_name(value.call) in _SIZES
    if not isinstance(value, Op) or value.op != "[]":
        return False
    holder, key = value.operands[0], value.operands[1]
    return isinstance(holder, Ref) and holder.name.endswith(".shape") and key == Const(0)
