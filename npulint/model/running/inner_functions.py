"""Functions inside functions and loops: what they do where the code around them calls them is part of its work."""

from __future__ import annotations

from npulint.model.values.cursors import CallSite, Scope
from npulint.model.values.walker import walker

_CALLS = 12  # of one function


def inner_calls(function: Scope) -> list[CallSite]:
    """The calls, in the code around it, of a function that is defined inside a function or a loop, itself or as a
    method of a class there; none for other functions."""
    definition = function.parent
    while definition is not None and definition.kind == "class":
        definition = definition.parent
    if function.kind != "function" or definition is None or (definition.function is None and definition.loop is None):
        return []
    around = definition.routine
    return [call for call in function.callers[:_CALLS] if call.scope.is_inside(around)]


def joined_calls(scope: Scope) -> list[CallSite]:
    """The calls in the function around a block, or at module level, and in the functions inside it that it calls; if
    it is such a function itself, those of the code around it as well."""
    return [call for routine in _joined(scope) for call in routine.calls]


def _joined(scope: Scope) -> list[Scope]:
    routines = [scope.routine]
    for routine in routines:
        outer = [call.scope.routine for call in inner_calls(routine)]
        called = (call.target for call in routine.calls)
        inner = [
            target
            for target in called
            if target is not None and target.kind == "function" and target.is_inside(routine)
        ]
        routines += [callee for callee in dict.fromkeys([*outer, *inner]) if callee not in routines]
    return routines


@walker(depth=6, otherwise=list)
def blocks_as_run(scope: Scope) -> list[list[Scope]]:
    """For each way to a block: it and the blocks around it, innermost first, up to the function or module where the way
    begins. Ways lead through the calls of functions inside others."""
    routine = scope.routine
    around = [ancestor for ancestor in scope.ancestors if ancestor.is_inside(routine)]
    before = [way for call in inner_calls(routine) for way in blocks_as_run(call.scope)]
    return [[*around, *way] for way in before] or [around]
