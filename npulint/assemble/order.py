"""Order: in what order a script that is started comes to its calls, assignments and imports."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec

from npulint.assemble.flow import Flow, initialiser
from npulint.assemble.guards import is_main
from npulint.assemble.module import Module
from npulint.facts.code import Assignment, Call, Import, Ref

_SURE = frozenset(("with", "try", "module", "function", "class", "lambda", "global", "nonlocal"))
_RUNNERS = frozenset(("tensorflow.app.run", "absl.app.run", "tensorflow.compat.v2.app.run"))
_STEPS = 20_000  # what one walk may come to
_DEPTH = 40  # functions within functions

Item = tuple[tuple[int, int], Call | Assignment | Import, int]
"""What is done at a place, ordered by the place; of calls also the index, else -1."""


class ExecutionStep(msgspec.Struct, frozen=True):
    """A call (`call` is its index, else -1) or an assignment that a walk comes to. `sure`: it happens on every way
    through the script, no condition and no loop stands around it or around the calls that lead to it."""

    module: Module
    call: int
    bind: Assignment | None
    sure: bool


class Order:
    """Walks from the beginning of a script into the functions that it calls and the own modules that it imports, each
    once, in the order of execution. Functions that others call back are left out, and those for which `skips` holds,
    asked with a module and a function block there."""

    def __init__(self, flow: Flow, skips: Callable[[Module, int], bool]) -> None:
        self._flow = flow
        self._names = flow.names
        self._skips = skips
        self._items: dict[str, dict[int, list[Item]]] = {}

    def steps(self, start: Module) -> Iterator[ExecutionStep]:
        """What `start` does when it is started, at most so much as is worth looking at."""
        walked: set[tuple[str, int]] = set()
        for count, step in enumerate(self._walk(start, -1, True, walked, start, 0)):
            if count >= _STEPS:
                return
            yield step

    def _walk(
        self, module: Module, function: int, sure: bool, walked: set[tuple[str, int]], start: Module, depth: int
    ) -> Iterator[ExecutionStep]:
        key = (module.path, function)
        if key in walked or depth > _DEPTH or (function >= 0 and self._skips(module, function)):
            return
        walked.add(key)
        for _, record, index in self._in_order(module, function):
            happens = _happens(module, record.block, module is start)
            if happens is None:
                continue
            certain = sure and happens
            if isinstance(record, Import):
                for inner in self._names.project.imported(module, record):
                    yield from self._walk(inner, -1, certain, walked, start, depth + 1)
            elif isinstance(record, Assignment):
                yield ExecutionStep(module, -1, record, certain)
            else:
                yield ExecutionStep(module, index, None, certain)
                for home, block in self._entered(module, index):
                    yield from self._walk(home, block, certain, walked, start, depth + 1)

    def _entered(self, module: Module, index: int) -> list[tuple[Module, int]]:
        """The own function that a call runs; of ``app.run`` the one that it is given."""
        name = self._names.of_call(module, index)
        if name in _RUNNERS:
            call = module.code.calls[index]
            given = call.args[0] if call.args else Ref("main")
            return self._flow.functions(module, given, call.block, call.line)
        target = self._names.function(name) if ":" in name else None
        if target is None:
            return []
        block = initialiser(*target)
        return [(target[0], block)] if block >= 0 else []

    def _in_order(self, module: Module, function: int) -> list[Item]:
        """What stands directly in a function (-1: outside functions), as it is executed: arguments before calls."""
        if module.path not in self._items:
            found: dict[int, list[Item]] = {}
            for index, call in enumerate(module.code.calls):
                _add(found, module, (call.end_line, call.end_column), call, index)
            for binds in module.dotted.values():
                for bind in binds:
                    _add(found, module, (bind.end_line, bind.end_column), bind, -1)
            for record in module.code.imports:
                _add(found, module, (record.line, record.column), record, -1)
            for items in found.values():
                items.sort(key=lambda item: item[0])
            self._items[module.path] = found
        return self._items[module.path].get(function, [])


def _add(
    found: dict[int, list[Item]], module: Module, place: tuple[int, int], record: Call | Assignment | Import, index: int
) -> None:
    found.setdefault(module.function_of(record.block), []).append((place, record, index))


def _happens(module: Module, block: int, started: bool) -> bool | None:
    """Whether code in `block` surely runs when its function does; None where it never does: below ``__main__`` of a
    module that is only imported."""
    sure = True
    for around in module.ancestors(block):
        record = module.blocks[around]
        if record.kind == "if" and is_main(record.test):
            if not started:
                return None
        elif record.kind not in _SURE:
            sure = False
        if record.kind in ("function", "lambda"):
            break
    return sure
