"""What ``torch.load`` gives: a table of weights, or an object that is used as it is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from npulint.assemble.module import Module
from npulint.facts.code import CallResult, Const, Op, Ref, SequenceDisplay, Table, Value

_READERS = frozenset(("items", "keys", "values", "get", "pop", "copy"))
_READ = frozenset(Const(name) for name in _READERS)
_DEPTH = 6


def content(module: Module, index: int) -> Literal["state", "other"]:
    """``state`` if the file takes entries out of what a call loads or gives it to a model, else ``other``."""
    loaded: list[Value] = [CallResult(index)]
    loaded += [Ref(bind.target) for bind in module.code.assignments if bind.value == loaded[0]]
    for call in module.code.calls:
        callee = call.callee
        if isinstance(callee, Op) and callee.op == "." and callee.operands[0] in loaded and callee.operands[1] in _READ:
            return "state"
        if isinstance(callee, Ref):
            holder, _, last = callee.name.rpartition(".")
            if (last in _READERS and Ref(holder) in loaded) or (
                "load_state" in last and any(value in loaded for value in call.args[:1])
            ):
                return "state"
    return "state" if any(_takes_entry(value, loaded, 0) for value in _values(module)) else "other"


def _values(module: Module) -> Iterator[Value]:
    yield from (bind.value for bind in module.code.assignments)
    yield from (returned.value for returned in module.code.returns)
    for block in module.blocks:
        yield block.test
    for call in module.code.calls:
        yield call.callee
        yield from call.args
        yield from (value for _, value in call.keywords)


def _takes_entry(value: Value, loaded: list[Value], depth: int) -> bool:
    if depth > _DEPTH:
        return False
    if isinstance(value, Op):
        subscript = value.op == "[]" and value.operands[0] in loaded
        member = value.op in ("in", "not in") and value.operands[-1] in loaded
        return subscript or member or any(_takes_entry(part, loaded, depth + 1) for part in value.operands)
    if isinstance(value, SequenceDisplay | Table):
        parts = value.items if isinstance(value, SequenceDisplay) else value.values
        return any(_takes_entry(part, loaded, depth + 1) for part in parts)
    return False
