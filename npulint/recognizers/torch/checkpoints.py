"""The content of a file read by ``torch.load``: a table of weights, or a complete object."""

from __future__ import annotations

from typing import Literal

from npulint.model.running.code_places import operations
from npulint.model.values.cursors import CallSite, Expr

_READERS = frozenset(("items", "keys", "values", "get", "pop", "copy"))


def content(load: CallSite) -> Literal["state", "other"]:
    """``state`` if the code takes entries from the result of a call or loads it into a model, else ``other``."""
    result = load.result.value
    names = {assignment.target for assignment in load.scope.assignments if assignment.record.value == result}

    def is_loaded(value: Expr | None) -> bool:
        return value is not None and (value.written in names or value.value == result)

    for call in load.scope.all_calls:
        if call.last in _READERS and is_loaded(call.receiver):
            return "state"
        if call.written and "load_state" in call.last and any(is_loaded(value) for value in call.args[:1]):
            return "state"
    lookups = operations(load.scope, "[]", "in", "not in")
    return "state" if any(is_loaded(_searched(lookup)) for lookup in lookups) else "other"


def _searched(value: Expr) -> Expr | None:
    """The object whose entry an expression reads or tests; None for other expressions."""
    if value.subscript is not None:
        return value.subscript[0]
    tested = value.operands("in", "not in")
    return tested[-1] if tested else None
