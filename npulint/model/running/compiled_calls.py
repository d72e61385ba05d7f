"""The calls of what a compiling call gives: ``step = tf.function(step)`` and later ``step(x)``."""

from __future__ import annotations

from npulint.model.values.cursors import CallSite


def calls_of_result(made: CallSite) -> list[CallSite]:
    """The calls, in the same file, of the very result of a call."""
    lasts = {assignment.target.rpartition(".")[2] for assignment in made.assignments}
    return [call for call in made.scope.calls_named(*lasts) if call is not made and made in call.callee.sites]
