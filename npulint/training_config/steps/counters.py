"""Counters: names that loops increment by one or by the batch size, and by which sums are divided for averages."""

from __future__ import annotations

from collections.abc import Iterator

from npulint.assemble.cursors import AssignmentSite, Expr, Scope
from npulint.facts.code import Const

_SIZES = frozenset(("size", "len", "numel", "nelement"))
BATCH = "items of the batch"
"""Represents the number of items in a batch, in any spelling."""


def counters(module: Scope) -> Iterator[tuple[AssignmentSite, Expr]]:
    """The counting assignments in loops, and their increments."""
    for bind in module.assignments:
        added = bind.value.operands("+=")[-1:]
        if added and bind.scope.loop is not None:
            if isinstance(added[0].literal, int):
                yield bind, added[0]
            elif _is_size(added[0]):
                yield bind, added[0].sibling(Const(BATCH))


def _is_size(expr: Expr) -> bool:
    """Whether a value is a size: ``x.size(0)``, ``len(x)``, ``x.shape[0]``."""
    if expr.call is not None:
        return expr.call.last in _SIZES
    subscript = expr.subscript
    return subscript is not None and subscript[0].written.endswith(".shape") and subscript[1].value == Const(0)
