"""Clocks in the training step: do they measure a part of it, or how long whole rounds take?"""

from __future__ import annotations

from npulint.assemble.cursors import CallSite, Expr


def starts_interval(clock: CallSite) -> bool:
    """Whether a reading begins an interval that ends in the same round of its loop (``t = time()``, later
    ``time() - t``). A difference to the round before, or to the start of all, is right on average: the queue of
    launched operators is bounded."""
    loop, assignments = clock.scope.loop, clock.scope.assignments
    names = [one.target for one in assignments if one.record.value == clock.result.value]
    if loop is None or not names:
        return False
    calls = [call for call in clock.scope.all_calls if call.scope.is_inside(loop)]
    values = [one.value for one in assignments if one.scope.is_inside(loop)]
    values += [value for call in calls for value in call.arguments]
    lines = [value.line for value in values if any(_subtracts(part, names[0]) for part in value.nested)]
    return bool(lines) and min(lines) > clock.line


def _subtracts(value: Expr, name: str) -> bool:
    """Whether an expression is a difference to a name."""
    operands = value.operands("-")
    return bool(operands) and operands[-1].written == name
