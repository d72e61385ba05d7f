"""Exits: what stands behind a ``return``, ``raise``, ``break``, ``continue`` or ``sys.exit`` that is certainly taken.

Whether a branch with an exit is taken depends on who asks: on an NPU server, or while a model trains.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Set

from npulint.facts.attributes import Flag
from npulint.model.code.recursion import Cuts
from npulint.model.values.cursors import Scope

_CALLS = frozenset(("sys.exit", "os._exit", "exit", "quit"))
_ALL = frozenset(("return", "raise", "break", "continue", "call"))


class Exits:
    """The code of a project that does not run because of an exit before it. `taken` says whether a branch is taken;
    `stops` gives, for a module, other lines after which the rest of a block does not run; `kinds` are the statements
    that count as exits, ``call`` stands for ``sys.exit`` and the like."""

    def __init__(
        self,
        taken: Callable[[Scope], Flag],
        stops: Callable[[Scope], Iterable[tuple[int, int]]] = lambda _: (),
        kinds: Set[str] = _ALL,
    ) -> None:
        self._taken = taken
        self._stops = stops
        self._kinds = kinds
        self._dead: dict[object, dict[int, int]] = {}  # by file, the line in a block after which nothing of it runs
        self._pending: dict[str, int] = {}  # the files that are being read, with their numbers among open questions

    def are_before(self, scope: Scope, line: int) -> bool:
        """Whether what stands at `line` of a block follows an exit that is certainly taken."""
        path, context = scope.path, scope.context
        dead = self._dead.get(path)
        if dead is None:
            dead = self._find(scope.at(0))
        elif path in self._pending:
            Cuts.at(self._pending[path], is_own=True)
        else:
            context.note_use(self._dead, path)
        return bool(dead) and any(line > dead.get(block, line) for block in scope.module.ancestors(scope.block))

    def _find(self, module: Scope) -> dict[int, int]:
        """Fills `_dead` for a module. Conditions may ask what imports have set: until then, only `stops` count."""
        path, context = module.path, module.context
        stopped = self._dead[path] = _after_first(self._stops(module))
        number, outer = Cuts.begin()
        self._pending[path] = number
        try:
            dead = self._dead[path] = _after_first([*stopped.items(), *self._exits(module)])
        finally:
            self._pending.pop(path, None)
            lowest = Cuts.end(number, outer)
            context.settle(self._dead, path, number, lowest, self._dead[path] == stopped)
        return dead

    def _exits(self, module: Scope) -> Iterator[tuple[int, int]]:
        """The blocks of a module that an exit certainly leaves, with its line."""
        exits = [
            (exit_record.block, exit_record.line)
            for exit_record in module.module.code.exits
            if exit_record.kind in self._kinds
        ]
        calls = module.calls_named("exit", "_exit", "quit") if "call" in self._kinds else []
        exits += [(call.scope.block, call.line) for call in calls if call.name in _CALLS]
        for block, line in exits:
            outer = self._left(module.at(block))
            if outer is not None:
                yield outer.block, line

    def _left(self, scope: Scope) -> Scope | None:
        """The outermost block that an exit in `scope` certainly leaves when it runs; None if it is in none."""
        while scope.kind in ("if", "else", "with"):
            around = scope.parent
            if around is None or (scope.kind != "with" and self._taken(scope) != "yes"):
                break
            scope = around
        return None if scope.kind in ("module", "class") else scope


def _after_first(exits: Iterable[tuple[int, int]]) -> dict[int, int]:
    """By block the first of the lines after which the rest of it does not run."""
    ranges: dict[int, int] = {}
    for block, line in exits:
        ranges[block] = min(line, ranges.get(block, line))
    return ranges
