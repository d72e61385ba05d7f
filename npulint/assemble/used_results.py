"""Consumed: the calls whose results something is done with; of the others the result is lost."""

from __future__ import annotations

from npulint.assemble.module import Module
from npulint.facts.code import CallResult, Op, SequenceDisplay, Table, Value

_DEPTH = 60


def consumed(module: Module) -> set[int]:
    """The calls of a module whose results are assigned, returned, passed on, tested or calculated with."""
    code = module.code
    found: set[int] = set()
    values: list[Value] = [bind.value for bind in code.assignments]
    values += [bind.key for bind in code.assignments]
    values += [returned.value for returned in code.returns]
    for block in code.blocks:
        values += [block.test, *block.defaults, *block.decorators, *block.bases]
    for call in code.calls:
        values += [call.callee, *call.args, *(value for _, value in call.keywords)]
    for value in values:
        _add(value, found, 0)
    return found | _covered(module)


def _add(value: Value, found: set[int], depth: int) -> None:
    if isinstance(value, CallResult):
        found.add(value.call)
    elif depth < _DEPTH:
        inner: tuple[Value | None, ...] = ()
        if isinstance(value, Op):
            inner = value.operands
        elif isinstance(value, SequenceDisplay):
            inner = value.items
        elif isinstance(value, Table):
            inner = (*value.keys, *value.values)
        for part in inner:
            if part is not None:
                _add(part, found, depth + 1)


def _covered(module: Module) -> set[int]:
    """The calls on a line where an assignment or a return begins: it may use them in ways that are not modelled."""
    lines = {line for bind in module.code.assignments for line in range(bind.line, bind.end_line + 1)}
    lines.update(returned.line for returned in module.code.returns)
    return {index for index, call in enumerate(module.code.calls) if call.line in lines}
