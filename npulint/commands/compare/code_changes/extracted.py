"""Puts the statements of functions that only one side has in place of their calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from npulint.commands.compare.code_changes.statements import Code, Statement
from npulint.commands.compare.code_changes.trees import CALL, LOCAL, Label, Tree

_MOST: Final = 40  # statements of a function that is put in place of its call
_ROUNDS: Final = 2

Alone = Callable[[Tree], Code | None]
"""The code of the function that a call runs, if only this side has the function; None for another tree."""


def with_extracted(code: Code, alone: Alone) -> Code:
    """The code with the statements of functions that only this side has in place of the statements that are their
    calls."""
    for turn in range(_ROUNDS):
        statements: list[Statement] = []
        heads: dict[int, list[Statement]] = {}
        for at, each in enumerate(code.statements):
            around = [code.statements[number] for number in each.opened]
            inner = _inner(each, alone, f"{turn}:{at}:")
            for one, within in [(each, [])] if inner is None else inner:
                statements.append(one)
                heads[id(one)] = [*around, *within]
        if statements == code.statements:
            return code
        places = {id(each): at for at, each in enumerate(statements)}
        code = Code([each.moved(each.tree, tuple(places[id(head)] for head in heads[id(each)])) for each in statements])
    return code


_Inner = list[tuple[Statement, list[Statement]]]
"""Statements of a called function, each with the heads around it in that function."""


def _inner(statement: Statement, alone: Alone, prefix: str) -> _Inner | None:
    """The statements that a call runs, where a statement is nothing else; None for another one."""
    call = statement.tree.parts[-1] if statement.kind == "set" and statement.tree.parts else statement.tree
    if statement.kind not in ("do", "set", "return") or call.kind != CALL:
        return None
    callee = alone(call)
    if callee is None or not 0 < len(callee.statements) <= _MOST:
        return None
    *body, last = callee.statements
    ends = any(each.kind in ("return", "raise") for each in body)
    if ends or (last.kind != "return" and statement.kind != "do"):
        return None
    values = _passed(call, callee)
    renamed = {id(each): _renamed(each, values, prefix) for each in body if each.kind != "parameter"}
    inner = [
        (renamed[id(each)], [renamed[id(callee.statements[number])] for number in each.opened])
        for each in body
        if each.kind != "parameter"
    ]
    final = _renamed(last, values, prefix)
    around = [renamed[id(callee.statements[number])] for number in last.opened]
    return [*inner, *((each, around) for each in _given(statement, last, final))]


def _passed(call: Tree, callee: Code) -> dict[Label, Tree]:
    """What a call passes for the parameters of a function, or their defaults."""
    given = dict(zip(call.names, call.parts, strict=False))
    parameters = (each for each in callee.statements if each.kind == "parameter" and each.targets)
    return {each.targets[0]: given.get(str(each.targets[0][1]), each.tree.parts[0]) for each in parameters}


def _given(statement: Statement, last: Statement, final: Statement) -> list[Statement]:
    """The last statement of a called function in place of the statement that calls it."""
    if last.kind != "return":
        return [final]
    node, lines, value = last.node, last.lines, final.tree
    if statement.kind != "set":
        return [Statement(statement.kind, value, node, lines)]
    targets = statement.targets
    if len(statement.tree.parts) == 2 and value.kind == "display" and len(value.parts) == len(targets) > 1:
        pairs = zip(value.parts, targets, strict=True)
        return [Statement("set", Tree(("set",), (part,)), node, lines, (), (target,)) for part, target in pairs]
    return [Statement("set", statement.tree.with_parts([*statement.tree.parts[:-1], value]), node, lines, (), targets)]


def _renamed(statement: Statement, values: dict[Label, Tree], prefix: str) -> Statement:
    """A statement of a called function with what was passed, and with names of its own for its variables."""
    tree = statement.tree
    for label in {part.label for part in tree.walk() if part.label[0] == LOCAL}:
        value = values.get(label, Tree((LOCAL, prefix + str(label[1]), *label[2:])))
        tree = tree.replacing(label, value)
    targets = tuple((LOCAL, prefix + str(label[1]), *label[2:]) for label in statement.targets)
    return Statement(statement.kind, tree, statement.node, statement.lines, (), targets)
