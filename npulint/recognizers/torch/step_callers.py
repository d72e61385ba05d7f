"""Which calls of other files lead to a training step, so that a fix can hand them something more."""

from __future__ import annotations

from npulint.model.values.callers import knows_callers
from npulint.model.values.cursors import Scope

_MOST = 12  # calls; more are not changed
_DEPTH = 4  # functions that call each other


def calls_elsewhere(routine: Scope) -> str | None:
    """The places (``path:line:column``, one a line) of the calls of a function and of its callers in turn that stand in
    other files than the function that they call; None if they are not all known."""
    found: list[str] = []
    waiting = [(routine, 0)]
    seen = {(routine.path, routine.block)}
    while waiting:
        function, depth = waiting.pop()
        if function.kind != "function":
            continue
        if depth == _DEPTH or len(found) > _MOST or not knows_callers(function):
            return None
        for call in function.callers:
            if call.path != function.module.path:
                found.append(f"{call.path}:{call.span.line}:{call.span.column}")
            around = call.scope.routine
            if (around.path, around.block) not in seen:
                seen.add((around.path, around.block))
                waiting.append((around, depth + 1))
    return "\n".join(sorted(set(found)))
