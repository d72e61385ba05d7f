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
        for at, each in enumerate(code.statements):
            inner = _inner(each, alone, f"{turn}:{at}:")
            statements += [each] if inner is None else inner
        if len(statements) == len(code.statements):
            return Code(statements)
        code = Code(_renumbered(code, statements))
    return code


def _renumbered(code: Code, statements: list[Statement]) -> list[Statement]:
    """The statements with the numbers that the heads around them have now."""
    places = {id(each): at for at, each in enumerate(statements)}
    numbers = {old: places[id(each)] for old, each in enumerate(code.statements) if id(each) in places}
    renumbered: list[Statement] = []
    for each in statements:
        opened = tuple(numbers[at] for at in each.opened if at in numbers)
        renumbered.append(Statement(each.kind, each.tree, each.node, each.lines, opened, each.targets))
    return renumbered


def _inner(statement: Statement, alone: Alone, prefix: str) -> list[Statement] | None:
    """The statements that a call runs, where a statement is nothing else; None for another one."""
    call = statement.tree.parts[-1] if statement.kind == "set" and statement.tree.parts else statement.tree
    if statement.kind not in ("do", "set", "return") or call.kind != CALL:
        return None
    callee = alone(call)
    if callee is None or len(callee.statements) > _MOST:
        return None
    *body, last = callee.statements or [statement]
    plain = all(each.kind in ("parameter", "set", "do") for each in body)
    if not plain or last.kind not in ("return", "do", "set") or (last.kind != "return" and statement.kind != "do"):
        return None
    given = dict(zip(call.names, call.parts, strict=False))
    values: dict[Label, Tree] = {}
    inner: list[Statement] = []
    for each in body:
        if each.kind == "parameter" and each.targets:
            value = given.get(str(each.targets[0][1]))
            values[each.targets[0]] = value if value is not None else each.tree.parts[0]
        else:
            inner.append(_renamed(each, values, prefix, statement.opened))
    final = _renamed(last, values, prefix, statement.opened)
    if last.kind == "return":
        tree = final.tree
        if statement.kind == "set":
            tree = statement.tree.with_parts([*statement.tree.parts[:-1], tree])
        kind, targets = statement.kind, statement.targets
        final = Statement(kind, tree, last.node, last.lines, statement.opened, targets)
    return [*inner, final]


def _renamed(statement: Statement, values: dict[Label, Tree], prefix: str, opened: tuple[int, ...]) -> Statement:
    """A statement of a called function with what was passed, and with names of its own for its variables."""
    tree = statement.tree
    for label in {part.label for part in tree.walk() if part.label[0] == LOCAL}:
        value = values.get(label, Tree((LOCAL, prefix + str(label[1]), *label[2:])))
        tree = tree.replacing(label, value)
    targets = tuple((LOCAL, prefix + str(label[1]), *label[2:]) for label in statement.targets)
    return Statement(statement.kind, tree, statement.node, statement.lines, opened, targets)
