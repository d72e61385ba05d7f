"""The calls whose results are used; the results of other calls are lost."""

from __future__ import annotations

from npulint.facts.code import CallResult, nested, written_values
from npulint.model.code.module import Module


def consumed(module: Module) -> set[int]:
    """The numbers of the calls of a module whose results are assigned, returned, passed on, tested or used in an
    expression."""
    parts = (part for value, _, _ in written_values(module.code) for part in nested(value))
    return {part.call for part in parts if isinstance(part, CallResult)} | _covered(module)


def _covered(module: Module) -> set[int]:
    """The calls on the line of an assignment or return, which may use them in ways that are not modelled."""
    lines = {line for bind in module.code.assignments for line in range(bind.line, bind.end_line + 1)}
    lines.update(returned.line for returned in module.code.returns)
    return {index for index, call in enumerate(module.code.calls) if call.line in lines}
