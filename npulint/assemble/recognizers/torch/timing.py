"""Clocks in the training step: do they measure a part of it, or how long whole rounds take?"""

from __future__ import annotations

from npulint.assemble.module import Module
from npulint.facts.code import CallResult, Op, Ref, SequenceDisplay, Value

_DEPTH = 6


def starts_interval(module: Module, index: int) -> bool:
    """Whether a reading begins an interval that ends in the same round of its loop (``t = time()``, later
    ``time() - t``). A difference to the round before, or to the start of all, is right on average: the queue of
    launched operators is bounded."""
    call = module.code.calls[index]
    loop = module.loop_of(call.block)
    names = [b.target for b in module.code.assignments if b.value == CallResult(index)]
    if loop < 0 or not names:
        return False
    uses = [line for value, block, line in _values(module, loop) if _subtracts(value, names[0], 0)]
    return bool(uses) and min(uses) > call.line


def _values(module: Module, loop: int) -> list[tuple[Value, int, int]]:
    """The values that code in a loop binds or hands to calls."""
    binds = [(b.value, b.block, b.line) for b in module.code.assignments]
    given = [(v, c.block, c.line) for c in module.code.calls for v in (*c.args, *(w for _, w in c.keywords))]
    return [entry for entry in (*binds, *given) if loop in module.ancestors(entry[1])]


def _subtracts(value: Value, name: str, depth: int) -> bool:
    """Whether an expression holds a difference to a name."""
    if depth > _DEPTH:
        return False
    if isinstance(value, SequenceDisplay):
        return any(_subtracts(part, name, depth + 1) for part in value.items)
    if not isinstance(value, Op):
        return False
    if value.op == "-" and value.operands[-1] == Ref(name):
        return True
    return any(_subtracts(part, name, depth + 1) for part in value.operands)
