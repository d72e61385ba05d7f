"""What own functions return that they make of their arguments: ``def repeated(ds): return ds.repeat()``, whose result
has for each call the canonical name of what that call passes."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from npulint.facts.code import CallResult, Const, Op, Ref, Return, Value, argument
from npulint.model.code.module import Module, bound_before

_DEPTH = 12  # expressions through which a result is followed back to an argument
_UNKNOWN = "?"


class Names(Protocol):
    """What is asked of the canonical names of a project (`npulint.model.code.names`)."""

    def function(self, name: str) -> tuple[Module, int] | None:
        """The project's own function or class with this canonical name."""

    def of_call(self, module: Module, index: int) -> str:
        """The canonical name of what a call calls."""

    def of_value(self, module: Module, value: Value, block: int, line: int) -> str:
        """The canonical name of a value."""

    def of_name(self, module: Module, name: str, block: int, line: int) -> str:
        """The canonical name of a dotted name."""

    def of_result(self, callee: str, module: Module, index: int) -> str:
        """The name of a call's result."""

    def made_of_arguments(self, called: CalledFunction) -> str:
        """The canonical name of what a function makes of the arguments of one call."""

    def member(self, base: str, part: str) -> str:
        """The canonical name of ``base.part``."""


class CalledFunction(NamedTuple):
    """A function of the project (`home` and its block `function`) in one call of it (`number` of `module`), which
    stands in the function `outer` that is followed for one call of its own."""

    home: Module
    function: int
    module: Module
    number: int
    outer: CalledFunction | None = None


def made_of_arguments(names: Names, called: CalledFunction, results: list[Return]) -> str:
    """The canonical name of the first of a function's results that it makes of an argument of the call; an empty text
    if there is none."""
    if not called.home.params.get(called.function):
        return ""
    made = (_made(names, called, result.value, result.block, result.line + 1, _DEPTH) for result in results)
    return next((name for name in made if name != _UNKNOWN), "")


def _made(names: Names, called: CalledFunction, value: Value, block: int, line: int, depth: int) -> str:
    """The canonical name of an expression of the function that is made of an argument; `_UNKNOWN` for all others."""
    if depth == 0:
        return _UNKNOWN
    if isinstance(value, Ref):
        root, *rest = value.name.split(".")
        return _members(names, _made_root(names, called, root, block, line, depth - 1), rest)
    if isinstance(value, CallResult):
        return _made_result(names, called, value.call, depth - 1)
    if isinstance(value, Op) and value.op == "." and isinstance(value.operands[1], Const):
        holder = _made(names, called, value.operands[0], block, line, depth - 1)
        return _members(names, holder, [str(value.operands[1].value)])
    return _UNKNOWN


def _made_result(names: Names, called: CalledFunction, index: int, depth: int) -> str:
    """The same of the result of a call: of a method of what is made of an argument, or of an own function that gets
    such."""
    home, call = called.home, called.home.code.calls[index]
    target = names.function(names.of_call(home, index))
    if target is not None:
        inner = CalledFunction(*target, home, index, called)
        return names.made_of_arguments(inner) or _UNKNOWN
    is_method = not isinstance(call.callee, Ref) or "." in call.callee.name
    callee = _made(names, called, call.callee, call.block, call.line, depth) if is_method else _UNKNOWN
    return _UNKNOWN if callee == _UNKNOWN else names.of_result(callee, home, index)


def _members(names: Names, holder: str, attributes: list[str]) -> str:
    for attribute in attributes:
        holder = _UNKNOWN if holder == _UNKNOWN else names.member(holder, attribute)
    return holder


def _made_root(names: Names, called: CalledFunction, root: str, block: int, line: int, depth: int) -> str:
    """The same of a parameter or a variable: what is assigned to it before, else what the call passes."""
    home = called.home
    before = bound_before(home.names.get(called.function, {}).get(root, []), line)
    if before:
        reaching = home.reaching(before, block, line)
        made = (_made(names, called, bind.value, bind.block, bind.line, depth) for bind in reaching)
        return next((name for name in made if name != _UNKNOWN), _UNKNOWN)
    params, call = home.blocks[called.function].params, called.module.code.calls[called.number]
    given = argument(call, root, params.index(root) - implicit_arguments(names, called)) if root in params else None
    if given is None:
        return _UNKNOWN
    name = names.of_value(called.module, given, call.block, call.line)
    if name.startswith("?") and called.outer is not None:
        return _made(names, called.outer, given, call.block, call.line, depth)
    return _UNKNOWN if name.startswith("?") else name


def implicit_arguments(names: Names, called: CalledFunction) -> int:
    """How many parameters of a function (self, cls) get their arguments from no place in a call of it."""
    record, blocks = called.home.blocks[called.function], called.home.blocks
    is_method = record.parent >= 0 and blocks[record.parent].kind == "class"
    if not is_method or Ref("staticmethod") in record.decorators:
        return 0
    call = called.module.code.calls[called.number]
    head, _, last = call.callee.name.rpartition(".") if isinstance(call.callee, Ref) else ("", "", "")
    if not head or Ref("classmethod") in record.decorators or last != record.name.rpartition(".")[2]:
        return 1
    meaning = names.of_name(called.module, head, call.block, call.line)
    return 0 if names.function(meaning) is not None and not meaning.endswith("()") else 1
