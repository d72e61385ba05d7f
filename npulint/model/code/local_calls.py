"""Functions that only the code around them can use: where that code calls them is all that runs them.

A variable of the surrounding code that such a function reads has there the values that it has at these calls, and not
all that it is ever given.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from npulint.facts.code import Assignment, Block, Call, Code, Function, Ref, Return, nested, receiver_of, written_values

_T = TypeVar("_T")


class Module(Protocol):
    """What is asked of a module (`npulint.model.code.module`)."""

    code: Code
    blocks: list[Block]
    scope: list[int]
    names: dict[int, dict[str, list[Assignment]]]
    returns: dict[int, list[Return]]

    @property
    def methods(self) -> dict[int, tuple[int, str]]:
        """From each call to the method call on its result, and the method's name."""

    def derive(self, work: Callable[[Any], _T]) -> _T:
        """The result of a function of this module's code alone, computed once."""

    def ancestors(self, block: int) -> list[int]:
        """The block and all blocks around it, innermost first."""

    def function_of(self, block: int) -> int:
        """The nearest function around a block; -1 at module level."""

    def loop_of(self, block: int) -> int:
        """The nearest loop around a block; -1 if there is none."""

    def calls_of(self, *lasts: str) -> list[int]:
        """The calls whose callee, as written, ends with one of these segments."""


def calls_from(module: Module, scope: int, block: int) -> list[Call]:
    """The calls in a scope that run the code of a block in functions inside it; empty if these are not all known."""
    first = _outermost(module, scope, block)
    waiting, seen, running = [first], {first}, list[Call]()
    for function in waiting:
        calls = module.derive(_local_calls).get(function, [])
        outside = [call for call in calls if function not in module.ancestors(call.block)]
        if not outside:
            return []
        running += [call for call in outside if module.scope[call.block] == scope]
        around = {_outermost(module, scope, call.block) for call in outside if module.scope[call.block] != scope}
        waiting += sorted(around - seen)
        seen |= around
    return running


def _outermost(module: Module, scope: int, block: int) -> int:
    """The outermost function or class around a block that stands in a scope; -1 if there is none."""
    chain = module.ancestors(block)
    inner = (
        [ancestor for ancestor in chain[: chain.index(scope)] if module.scope[ancestor] == ancestor]
        if scope in chain
        else []
    )
    return inner[-1] if inner else -1


def _local_calls(module: Module) -> dict[int, list[Call]]:
    """From each function or class that is defined in a function or in a loop, where no other module can name it, to the
    calls of it; none where it is used in any other way."""
    calls: dict[int, list[Call]] = {}
    passed: frozenset[str] | None = None
    for bind in module.code.assignments:
        made = bind.value.block if isinstance(bind.value, Function) else 0
        if made and (module.function_of(bind.block) >= 0 or module.loop_of(bind.block) >= 0):
            passed = _names_as_values(module) if passed is None else passed
            is_followed = bind.target not in passed and _runs_when_called(module, made)
            calls[made] = _calls_of(module, bind, module.blocks[made].kind == "class") if is_followed else []
    return calls


def _runs_when_called(module: Module, made: int) -> bool:
    """Whether code of a definition runs during calls of it only: no decorator gets it, and it is no generator."""
    record = module.blocks[made]
    if record.kind not in ("function", "class") or record.decorators:
        return False
    yielding = Counter(return_record.block for return_record in module.returns.get(made, ()))
    yielding.subtract(exit_record.block for exit_record in module.code.exits if exit_record.kind == "return")
    return not any(count > 0 for count in yielding.values())


def _calls_of(module: Module, bind: Assignment, is_class: bool) -> list[Call]:
    """The calls of what a definition names; of a class, those of methods of its objects as well."""
    name, home = bind.target, module.scope[bind.block]
    if len(module.names[home][name]) > 1:
        return []
    numbers = [number for number in module.calls_of(name) if module.code.calls[number].callee == Ref(name)]
    numbers = [number for number in numbers if _assigning(module, name, module.code.calls[number].block) == home]
    if is_class and not all(number in module.methods for number in numbers):
        return []  # an object is kept
    return [module.code.calls[number] for number in numbers]


def _assigning(module: Module, name: str, block: int) -> int:
    """The nearest scope around a block that assigns a name; -1 if none does."""
    scopes = (ancestor for ancestor in module.ancestors(block) if module.scope[ancestor] == ancestor)
    return next((scope for scope in scopes if name in module.names.get(scope, ())), -1)


def _names_as_values(module: Module) -> frozenset[str]:
    """The first segments of the names that a module uses other than by plain calls of them."""
    names = Counter(
        part.name for value, _, _ in written_values(module.code) for part in nested(value) if isinstance(part, Ref)
    )
    names.subtract(
        call.callee.name for call in module.code.calls if isinstance(call.callee, Ref) and not receiver_of(call)
    )
    return frozenset(name.partition(".")[0] for name, count in names.items() if count > 0)
