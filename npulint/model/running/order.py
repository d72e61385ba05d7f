"""The order in which a started script executes its calls, assignments and imports."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from itertools import islice

import msgspec

from npulint.facts.code import Import, Ref
from npulint.model.values.context import Context
from npulint.model.values.cursors import AssignmentSite, CallSite, Scope, assignment_at, scope_at

_SURE = frozenset(("with", "try", "module", "function", "class", "lambda", "global", "nonlocal"))
_RUNNERS = frozenset(("tensorflow.app.run", "absl.app.run", "tensorflow.compat.v2.app.run"))
_STEPS = 20_000  # maximum steps of a walk
_DEPTH = 40  # nested functions

Item = tuple[tuple[int, int], Scope, CallSite | AssignmentSite | Import]
"""A call, assignment or import, with its block."""


class ExecutionStep(msgspec.Struct, frozen=True):
    """A call or an assignment in the execution of a script. `sure`: it is always executed, with no condition or loop
    around it or around the calls that lead to it."""

    site: CallSite | AssignmentSite
    sure: bool


class _Entry(msgspec.Struct, frozen=True):
    """A function that is called, or a module that is imported, during the execution."""

    scope: Scope
    sure: bool


class Order:
    """Walks from the start of a script into the functions that it calls and the project modules that it imports, each
    once, in execution order. Callbacks, and functions for which `skips` holds, are omitted."""

    def __init__(self, context: Context, skips: Callable[[Scope], bool]) -> None:
        self._context = context
        self._skips = skips
        self._items: dict[str, dict[Scope, list[Item]]] = {}

    def steps(self, start: Scope) -> Iterator[ExecutionStep]:
        """The execution steps of a module when it is started, limited in number."""
        return islice(self._walk(start), _STEPS)

    def _walk(self, start: Scope) -> Iterator[ExecutionStep]:
        walked = {start}
        stack = [self._course(start, True, start)]
        while stack:
            following = next(stack[-1], None)
            if following is None:
                stack.pop()
            elif isinstance(following, ExecutionStep):
                yield following
            elif len(stack) <= _DEPTH and self._is_walked(following.scope, walked):
                walked.add(following.scope)
                stack.append(self._course(following.scope, following.sure, start))

    def _is_walked(self, scope: Scope, walked: set[Scope]) -> bool:
        return scope not in walked and (scope.kind == "module" or not self._skips(scope))

    def _course(self, scope: Scope, sure: bool, start: Scope) -> Iterator[ExecutionStep | _Entry]:
        """What a function, or a module outside of its functions, executes directly, and what it enters."""
        for _, block, site in self._in_order(scope):
            happens = _happens(block, block.module is start.module)
            if happens is None:
                continue
            certain = sure and happens
            if isinstance(site, Import):
                loaded = self._context.project.imported(scope.module, site)
                yield from (_Entry(scope_at(self._context, module, 0), certain) for module in loaded)
                continue
            yield ExecutionStep(site, certain)
            if isinstance(site, CallSite):
                yield from (_Entry(function, certain) for function in _entered(site))

    def _in_order(self, scope: Scope) -> list[Item]:
        """What is directly in a function or module in execution order: arguments before calls."""
        if scope.path not in self._items:
            by_routine: dict[Scope, list[Item]] = defaultdict(list)
            for item in sorted(_items(scope.at(0)), key=lambda item: item[0]):
                by_routine[item[1].routine].append(item)
            self._items[scope.path] = by_routine
        return self._items[scope.path].get(scope, [])


def _items(module: Scope) -> Iterator[Item]:
    """The calls, assignments to attributes and elements, and imports of a module."""
    for call in module.all_calls:
        yield (call.record.end_line, call.record.end_column), call.scope, call
    for bind in (bind for binds in module.module.dotted.values() for bind in binds):
        yield (
            (bind.end_line, bind.end_column),
            module.at(bind.block),
            assignment_at(module.context, module.module, bind),
        )
    for record in module.module.code.imports:
        yield (record.line, record.column), module.at(record.block), record


def _entered(call: CallSite) -> list[Scope]:
    """The project functions that a call runs; for ``app.run`` the function passed to it."""
    if call.name in _RUNNERS:
        callee = call.args[0] if call.args else call.expr(Ref("main"))
        return callee.functions
    target = call.target if ":" in call.name else None
    function = None if target is None else target.called_block
    return [] if function is None else [function]


def _happens(scope: Scope, started: bool) -> bool | None:
    """Whether code in a block certainly runs when its function does; None if it never does (below ``__main__`` of a
    module that is only imported)."""
    sure = True
    for around in scope.ancestors:
        if around.block in around.module.main_guards:
            if not started:
                return None
        elif around.kind not in _SURE:
            sure = False
        if around.kind in ("function", "lambda"):
            break
    return sure
