"""Clock readings in the training step: do they measure part of an iteration, or whole iterations?"""

from __future__ import annotations

from npulint.model.running.block_contents import assignments_inside, calls_inside
from npulint.model.values.cursors import CallSite, Expr


def starts_interval(clock: CallSite) -> bool:
    """Whether a reading starts an interval that ends in the same iteration (``t = time()``, later ``time() - t``). A
    difference to the previous iteration or to the start is correct on average, because the queue of launched operators
    is bounded."""
    loop, names = clock.scope.loop, [assignment.target for assignment in clock.assignments]
    if loop is None or not names:
        return False
    values = [assignment.value for assignment in assignments_inside(loop)]
    values += [value for call in calls_inside(loop) for value in call.arguments]
    lines = [value.line for value in values if any(_subtracts(part, names[0]) for part in value.nested)]
    return bool(lines) and min(lines) > clock.line


def _subtracts(value: Expr, name: str) -> bool:
    """Whether an expression subtracts a name."""
    operands = value.operands("-")
    return bool(operands) and operands[-1].written == name
