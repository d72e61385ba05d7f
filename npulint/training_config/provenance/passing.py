"""Finds the calls that pass arguments to a program's own functions."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

from npulint.assemble.callers import implicit_arguments
from npulint.assemble.context import Context
from npulint.assemble.cursors import expr_at, scope_at
from npulint.assemble.module import Module
from npulint.facts.code import UNKNOWN, Call, CallResult, Op, Ref, SequenceDisplay, Unknown, Value

_DEPTH = 8
_MOST_BASES = 16
_STARTERS = frozenset(("partial", "partialmethod", "spawn", "start_processes", "Thread", "Process"))
_ESTIMATORS = frozenset("Estimator TPUEstimator NPUEstimator EstimatorSpec DNNEstimator MixedEstimator".split())


class Passing(NamedTuple):
    """One call of a function; its first `shift` parameters (``self``) are not among `args`."""

    home: Module
    call: Call
    number: int
    args: tuple[Value, ...]
    keywords: tuple[tuple[str, Value], ...]
    shift: int

    def argument(self, name: str, position: int) -> Value | None:
        """The argument for a parameter by keyword or position; None if it is absent or passed by ``*args``."""
        for key, value in self.keywords:
            if key == name:
                return value
        at = position - self.shift
        if 0 <= at < len(self.args) and not any(_starred(arg) for arg in self.args[: at + 1]):
            return self.args[at]
        return None

    def open(self, position: int) -> bool:
        """Whether ``*args`` may pass the parameter at a position."""
        return any(_starred(arg) for arg in self.args[: max(0, position - self.shift) + 1])


class Passed:
    """The calls in `paths` by called function, including constructors of base classes and functions passed on together
    with their arguments."""

    def __init__(self, context: Context, paths: frozenset[str]) -> None:
        self._context = context
        self._names = context.names
        self._paths = paths

    def of(self, module: Module, function: int) -> list[Passing]:
        """The calls that run a function; for a method also calls by base classes of their own method."""
        found = self._found.get((module.path, function), [])
        record = module.blocks[function]
        if found or record.kind != "function" or module.blocks[record.parent].kind != "class":
            return found
        last = record.name.rpartition(".")[2]
        return [one for base in self._bases(module, record.parent) for one in self._of_self.get((*base, last), ())]

    def _bases(self, module: Module, owner: int) -> list[tuple[str, int]]:
        """The class and all its base classes in the project."""
        found: dict[tuple[str, int], None] = {(module.path, owner): None}
        queue = [(module, owner)]
        while queue and len(found) < _MOST_BASES:
            home, block = queue.pop()
            record = home.blocks[block]
            for base in record.bases:
                target = self._names.function(self._names.of_value(home, base, record.parent, record.line))
                if target is not None and (target[0].path, target[1]) not in found:
                    found[target[0].path, target[1]] = None
                    queue.append(target)
        return list(found)

    @cached_property
    def _of_self(self) -> dict[tuple[str, int, str], list[Passing]]:
        """The calls of methods of ``self``, by class and name."""
        found: dict[tuple[str, int, str], list[Passing]] = {}
        for path in sorted(self._paths):
            home = self._names.project.modules[path]
            for index, call in enumerate(home.code.calls):
                head, _, last = call.callee.name.rpartition(".") if isinstance(call.callee, Ref) else ("", "", "")
                owner = home.owner_of_self(head, call.block) if head and "." not in head else -1
                if owner >= 0:
                    one = Passing(home, call, index, call.args, call.keywords, 1)
                    found.setdefault((path, owner, last), []).append(one)
        return found

    def by_call(self, target: tuple[Module, int], home: Module, index: int) -> tuple[int, Passing] | None:
        """The function that a call of the function or class `target` runs, and the arguments."""
        module, block = target
        inner = module.called_block(block)
        if inner < 0:
            return None
        call = home.code.calls[index]
        shift = implicit_arguments(scope_at(self._context, module, inner), home, index)
        return inner, Passing(home, call, index, call.args, call.keywords, shift)

    @cached_property
    def _found(self) -> dict[tuple[str, int], list[Passing]]:
        found: dict[tuple[str, int], list[Passing]] = {}
        modules = self._names.project.modules
        for path in sorted(self._paths):
            for module, function, passing in self._in(modules[path]):
                found.setdefault((module.path, function), []).append(passing)
        return found

    def _in(self, home: Module) -> Iterator[tuple[Module, int, Passing]]:
        for index, name in enumerate(self._names.of_calls(home)):
            call = home.code.calls[index]
            last = home.callee_name(index)
            if ":" in name and (target := self._names.function(name)) is not None:
                yield from self._own(target, home, index, call)
            elif last == "__init__" and isinstance(call.callee, Op) and _is_super(home, call.callee.operands[0]):
                owner = home.class_of(call.block)
                if owner >= 0:
                    yield from self._inherited(home, owner, home, index, call)
            elif last in _STARTERS or last in _ESTIMATORS:
                yield from self._handed(home, index, call, last)

    def _own(
        self, target: tuple[Module, int], home: Module, index: int, call: Call
    ) -> Iterator[tuple[Module, int, Passing]]:
        module, block = target
        inner = module.called_block(block)
        if inner >= 0:
            shift = implicit_arguments(scope_at(self._context, module, inner), home, index)
            yield module, inner, Passing(home, call, index, call.args, call.keywords, shift)
        elif module.blocks[block].kind == "class":
            yield from self._inherited(module, block, home, index, call)

    def _inherited(
        self, module: Module, owner: int, home: Module, index: int, call: Call, depth: int = 0
    ) -> Iterator[tuple[Module, int, Passing]]:
        """The call of a constructor inherited from the first base class that has one."""
        record = module.blocks[owner]
        for base in record.bases:
            target = self._names.function(self._names.of_value(module, base, record.parent, record.line))
            if target is None or target[0].blocks[target[1]].kind != "class" or depth > _DEPTH:
                continue
            inner = target[0].called_block(target[1])
            if inner >= 0:
                yield target[0], inner, Passing(home, call, index, call.args, call.keywords, 1)
                return
            yield from self._inherited(*target, home, index, call, depth + 1)

    def _handed(self, home: Module, index: int, call: Call, last: str) -> Iterator[tuple[Module, int, Passing]]:
        """Functions passed on together with arguments: ``partial(f, lr=0.1)``, ``spawn(worker, args=(…))``,
        ``Estimator(model_fn=f, params={…})``."""
        keywords = dict(call.keywords)
        first = call.args[0] if call.args else None
        shift = 0
        if last in _ESTIMATORS:
            function = keywords.get("model_fn", first)
            args: tuple[Value, ...] = ()
            named = tuple([(key, value) for key, value in call.keywords if key in ("params", "config")])
        elif last.startswith("partial"):
            function, args, named = first, call.args[1:], call.keywords
        else:
            function = keywords.get("target", keywords.get("fn", first))
            passed = keywords.get("args", call.args[1] if last == "spawn" and len(call.args) > 1 else None)
            args = passed.items if isinstance(passed, SequenceDisplay) else ()
            named = ()
            shift = 1 if last in ("spawn", "start_processes") else 0
        handed = expr_at(self._context, home, function, call.block, call.line).functions if function else ()
        for module, inner in ((one.module, one.block) for one in handed):
            bound = module.blocks[module.blocks[inner].parent].kind == "class"
            yield module, inner, Passing(home, call, index, args, named, shift + bound)


def _is_super(module: Module, value: Value) -> bool:
    if not isinstance(value, CallResult):
        return False
    callee = module.code.calls[value.call].callee
    return isinstance(callee, Ref) and callee.name == "super"


def _starred(value: Value) -> bool:
    return isinstance(value, Op) and value.op == "star"


def default_of(module: Module, function: int, name: str) -> Value | None:
    """The default of a parameter, or None."""
    record = module.blocks[function]
    position = record.params.index(name) - (len(record.params) - len(record.defaults))
    value = record.defaults[position] if position >= 0 else UNKNOWN
    return None if isinstance(value, Unknown) else value
