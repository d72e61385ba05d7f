"""Callers: which of the project's calls run a function, and what they pass for its parameters."""

from __future__ import annotations

from collections import defaultdict

from npulint.facts.code import Op, Value, argument
from npulint.model.code import argument_results
from npulint.model.code.module import Module
from npulint.model.values.blocks import BlockCursor
from npulint.model.values.context import Context, once
from npulint.model.values.script_role import is_test_file

Site = tuple[Module, int]
"""A call: its module and its index there."""

MOST_CALLS = 64  # calls of one function that are looked at; of the others nothing is known
_FEW = 16  # arguments of a call that are looked through for each that is asked for


def callers(function: BlockCursor) -> list[Site]:
    """The project's calls of an own function (a class's calls count for its ``__init__``)."""
    context = function.context
    return _all_calls(context).get((function.path, function.block), [])


def knows_callers(function: BlockCursor) -> bool:
    """Whether all calls of an own function are looked at, and no call of something unknown may mean it too."""
    around, last = function.parent, function.last_name
    is_method = around is not None and around.kind == "class"
    if around is not None and last == "__init__":
        is_method, last = False, around.last_name
    return len(callers(function)) <= MOST_CALLS and (last, is_method) not in _unknown_calls(function.context)


@once
def _unknown_calls(context: Context) -> set[tuple[str, bool]]:
    """The last segments of what is called and not known, each with whether it is a method of something."""
    names = {name for home in context.project.modules.values() for name in context.names.of_calls(home)}
    unknown = (name for name in names if name.startswith("?") or "()" in name or ":" in name)
    parted = (name.lstrip("?").rpartition(".") for name in unknown if context.names.function(name) is None)
    return {(last, bool(head)) for head, _, last in parted}


@once
def _all_calls(context: Context) -> dict[tuple[str, int], list[Site]]:
    """The calls of the project's functions, by the path and the block of the function."""
    calls: dict[tuple[str, int], list[Site]] = defaultdict(list)
    for home in context.project.modules.values():
        for index, name in enumerate(context.names.of_calls(home)):
            for target in context.names.called(home, index) if ":" in name or name.startswith("?") else ():
                calls[target[0].path, target[0].called_block(target[1])].append((home, index))
    return calls


@once
def has_partials(context: Context) -> bool:
    """Whether the project calls ``functools.partial``."""
    return any(home.calls_of("partial") for home in context.project.modules.values())


def passed(function: BlockCursor, name: str) -> list[tuple[Site, Value | None]]:
    """For each of the project's calls of a function: what it passes for a parameter (None: not passed there, or by
    ``*args``). What only its tests pass says nothing about a run."""
    position = _positions(function).get(name)
    if position is None:
        return []
    arguments: list[tuple[Site, Value | None]] = []
    calls = callers(function)
    if not is_test_file(function.path):
        calls = [site for site in calls if not is_test_file(site[0].path)]
    for home, index in calls[:MOST_CALLS]:
        value = _argument_of(home, index, name, position - implicit_arguments(function, home, index))
        arguments.append(((home, index), value))
    return [*arguments, (calls[-1], None)] if len(calls) > MOST_CALLS else arguments


@once
def _positions(function: BlockCursor) -> dict[str, int]:
    """The parameters of a function with their positions."""
    return {name: position for position, name in reversed([*enumerate(function.parameters)])}


def implicit_arguments(function: BlockCursor, home: Module, index: int) -> int:
    """How many parameters of a function (self, cls) get their arguments from no place in a call of it."""
    called = argument_results.CalledFunction(function.module, function.block, home, index)
    return argument_results.implicit_arguments(function.context.names, called)


def _argument_of(home: Module, index: int, name: str, position: int) -> Value | None:
    """As `argument`, of a call of a module: also one of thousands of arguments, each of which is asked for."""
    call = home.code.calls[index]
    if len(call.args) + len(call.keywords) <= _FEW:
        return argument(call, name, position)
    keywords, certain = home.derive(_of_long_calls)[index]
    return keywords.get(name) or (call.args[position] if 0 <= position < certain else None)


def _of_long_calls(home: Module) -> dict[int, tuple[dict[str, Value], int]]:
    """The calls of many arguments: these by keyword, and how many positional ones there are before one with a star."""
    calls = {}
    for index, call in enumerate(home.code.calls):
        if len(call.args) + len(call.keywords) > _FEW:
            stars = (
                place
                for place, operation in enumerate(call.args)
                if isinstance(operation, Op) and operation.op == "star"
            )
            calls[index] = (dict(reversed(call.keywords)), next(stars, len(call.args)))
    return calls
