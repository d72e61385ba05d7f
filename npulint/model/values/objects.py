"""Objects: which displays an expression may be, which calls may have made it, which own functions it may be."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from npulint.facts.code import CallResult, Const, Function, Op, Ref, Scalar, SequenceDisplay, Table
from npulint.model.code.bindings import may_be_passed, taker
from npulint.model.code.module import Module
from npulint.model.values.callers import Site, passed
from npulint.model.values.expressions import Expression
from npulint.model.values.loaded import loaded
from npulint.model.values.walker import walker

_E = TypeVar("_E", bound=Expression)
_DEPTH = 13
_STEPS = 600  # expressions that one question may look at; many branches would make it explode


def returned(value: _E, home: Module, function: int) -> list[_E]:
    """What a function of the project returns or yields; `value` is any expression."""
    records = home.returns.get(function, ())
    return [
        value.elsewhere(home, return_record.value, return_record.block, return_record.line + 1)
        for return_record in records
    ]


def displays(value: _E) -> list[_E]:
    """The list, tuple, set or dict displays that an expression may be."""
    if isinstance(value.value, SequenceDisplay | Table):
        return [value]
    item = assumed_item(value)
    if item is not None:
        return displays(item)
    held = [expr for expr in loaded(value) if isinstance(expr.value, SequenceDisplay | Table)]
    if held:
        return held
    return _displays_behind(value) if isinstance(value.value, Ref | CallResult) else []


def assumed_item(value: _E) -> _E | None:
    """What a loop is at (the value of its variable) in the situation that is followed; None in no situation."""
    if not value.context.assumed or not isinstance(value.value, Op) or value.value.op != "iter":
        return None
    item: _E | None = value.context.assumed.get((value.module.path, value.scope.block))
    return item


@walker(depth=_DEPTH, otherwise=list, steps=_STEPS, kept=True)
def _displays_behind(value: _E) -> list[_E]:
    """The displays that are assigned to a name, or that an own function returns."""
    read, names = value.value, value.context.names
    behind: list[_E] = []
    if isinstance(read, Ref):
        bound = value.context.bindings(value.module, read.name, value.scope.block, value.line)
        behind = [value.elsewhere(home, bind.value, bind.block, bind.line) for home, bind in bound]
    elif isinstance(read, CallResult):
        target = names.function(names.of_call(value.module, read.call))
        behind = [] if target is None else returned(value, *target)
    return [display for expr in behind for display in displays(expr)]


def elements(holder: _E, index: Scalar) -> Iterator[_E | None]:
    """The elements at an index, or under a key, of the displays that an expression may be; None for a display that has
    no such element."""
    for display in displays(holder):
        yield display.element(index)


@walker(depth=_DEPTH, otherwise=list, steps=_STEPS, kept=True)
def sites(value: Expression) -> list[Site]:
    """The calls that may have made the object; own functions are followed into their results and parameters out to
    their callers. Empty when nothing is known."""
    read = value.value
    if isinstance(read, CallResult):
        return _sites_of_result(value, read.call)
    if isinstance(read, Ref):
        return _sites_of_name(value, read.name)
    if not isinstance(read, Op):
        return []
    if read.op in ("or", "if"):
        return [site for operand in read.operands[read.op == "if" :] for site in sites(value.sibling(operand))]
    if read.op == "[]" and isinstance(
        read.operands[1], Const
    ):  # ``make_tables()[0]``, ``first, second = make_tables()``
        exprs = elements(value.sibling(read.operands[0]), read.operands[1].value)
        return [site for expr in exprs if expr is not None for site in sites(expr)]
    return []


def _sites_of_result(value: Expression, index: int) -> list[Site]:
    names = value.context.names
    name = names.of_call(value.module, index)
    target = names.function(name)
    if target is None and name.startswith("?"):
        return _sites_of_passed(value, index) or [(value.module, index)]
    if target is None or target[0].blocks[target[1]].kind == "class":
        return [(value.module, index)]
    return [site for expr in returned(value, *target) for site in sites(expr)] or [(value.module, index)]


def _sites_of_passed(value: Expression, index: int) -> list[Site]:
    """The same of a result of a parameter: of the functions that all calls of the project pass for it."""
    module, call = value.module, value.module.code.calls[index]
    written = call.callee.name if isinstance(call.callee, Ref) else ""
    function = taker(module, written, call.block) if written and "." not in written else -1
    bound = value.context.bindings(module, written, call.block, call.line) if function >= 0 else []
    if function < 0 or bound:
        return []
    calls: list[Site] = []
    for (home, number), given in passed(value.scope.at(function), written):
        site = home.code.calls[number]
        made = [] if given is None else functions(value.elsewhere(home, given, site.block, site.line))
        if not made:
            return []  # another object that is called
        calls += [made_at for target in made for result in returned(value, *target) for made_at in sites(result)]
    return calls


def _sites_of_name(value: Expression, name: str) -> list[Site]:
    module, block = value.module, value.scope.block
    bound = value.context.bindings(module, name, block, value.line)
    calls = [s for home, bind in bound for s in sites(value.elsewhere(home, bind.value, bind.block, bind.line))]
    function = taker(module, name, block)
    if function >= 0 and may_be_passed(module, function, block, bound):
        for (home, index), given in passed(value.scope.at(function), name):
            call = home.code.calls[index]
            if given is not None:
                calls += sites(value.elsewhere(home, given, call.block, call.line))
    return list({(home.path, index): (home, index) for home, index in calls}.values())


@walker(depth=_DEPTH, otherwise=list, steps=_STEPS)
def partials(value: Expression) -> list[Site]:
    """The calls of ``functools.partial`` that may have made what is called."""
    names, read = value.context.names, value.value
    if isinstance(read, CallResult):
        name = names.of_call(value.module, read.call)
        call = value.module.code.calls[read.call]
        if value.module.callee_name(read.call) == "partial" and call.args:
            return [(value.module, read.call)]
        target = names.function(name)
        if target is None or target[0].blocks[target[1]].kind == "class":
            return []
        return [site for expr in returned(value, *target) for site in partials(expr)]
    if not isinstance(read, Ref):
        return []
    bound = value.context.bindings(value.module, read.name, value.scope.block, value.line)
    made = [(home, assignment) for home, assignment in bound if isinstance(assignment.value, Ref | CallResult)]
    return [
        s
        for home, assignment in made
        for s in partials(value.elsewhere(home, assignment.value, assignment.block, assignment.line))
    ]


def functions(value: Expression) -> list[tuple[Module, int]]:
    """The own functions that an expression may be (a name, a lambda, a partial, a bound method)."""
    read, names = value.value, value.context.names
    if isinstance(read, Function):
        return [(value.module, read.block)]
    if isinstance(read, CallResult):
        name, call = names.of_call(value.module, read.call), value.module.code.calls[read.call]
        if name == "functools.partial" and call.args:
            return functions(value.elsewhere(value.module, call.args[0], call.block, call.line))
        target = names.function(name)
        if target is None or target[0].blocks[target[1]].kind == "class":
            return []
        exprs = (expr for expr in returned(value, *target) if isinstance(expr.value, Ref | Function))
        return [function for expr in exprs for function in functions(expr)]
    target = names.function(value.name)
    if target is None:
        return []
    home, inner = target
    if home.blocks[inner].kind == "class":
        inner = home.definition(inner, "__call__")
    return [(home, inner)] if inner >= 0 else []
