"""Edits call arguments: changes, renames, adds and removes them. Steps about one call are planned together."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from npulint.fix.model import FixRefused
from npulint.fix.python import levels
from npulint.fix.python.expressions import rewritten
from npulint.fix.python.lists import ListElements
from npulint.fix.python.readers import unread, without_effect
from npulint.fix.python.templates import Templates, shares_parentheses
from npulint.fix.python.tree import Range, Tree
from npulint.judge.findings import Edit, FixStep

CallArgument = ast.expr | ast.keyword


def call_at(tree: Tree, node: ast.AST) -> ast.Call:
    """The call at a place."""
    if isinstance(node, ast.keyword):
        node = tree.parent(node)
    if isinstance(node, ast.Expr | ast.Assign | ast.AnnAssign | ast.Return) and isinstance(node.value, ast.Call):
        node = node.value
    if not isinstance(node, ast.Call):
        raise FixRefused("no-call")
    return node


def changed_arguments(tree: Tree, call: ast.Call, steps: Sequence[FixStep]) -> list[Edit]:
    """The edits of ``argument`` and ``drop`` steps about one call."""
    passed: list[CallArgument] = sorted((*call.args, *call.keywords), key=tree.range)
    edits: list[Edit] = []
    dropped: set[int] = set()
    added: list[str] = []
    for step in steps:
        name, position = step.words["name"], int(step.words.get("position", "-1"))
        number = _number(call, passed, name, position)
        if number in dropped:
            raise FixRefused("overlap")
        if step.verb == "drop":
            if number is not None:
                _expendable(tree, passed[number], step)
                dropped.add(number)
        elif number is not None:
            edits += _rewritten(tree, call, passed, number, step)
        elif "missing" in step.words:
            value = Templates(tree, call).expression(step.words["missing"]).within(levels.LAMBDA)
            added.append(f"{step.words.get('to', name)}={value.text}")
        else:
            raise FixRefused("argument")
    _movable(passed, dropped)
    if not dropped and not added:
        return edits
    return edits + _relisted(tree, call, passed, dropped, added)


def _number(call: ast.Call, passed: Sequence[CallArgument], name: str, position: int) -> int | None:
    """The index of the argument with this name or position; None when it is certainly not passed."""
    for number, node in enumerate(passed):
        if isinstance(node, ast.keyword) and node.arg == name:
            return number
    if any(isinstance(argument, ast.Starred) for argument in call.args[: position + 1]):
        raise FixRefused("starred")
    if 0 <= position < len(call.args):
        return passed.index(call.args[position])
    if any(keyword.arg is None for keyword in call.keywords):
        raise FixRefused("starred")
    if position >= 0 and any(isinstance(argument, ast.Starred) for argument in call.args):
        raise FixRefused("starred")
    return None


def _expendable(tree: Tree, given: CallArgument, step: FixStep) -> None:
    """Raise `FixRefused` where an argument cannot go: computing it does something, or what it sets is read."""
    without_effect(given.value if isinstance(given, ast.keyword) else given)
    if "if" in step.words:
        unread(tree, step.words["name"])


def _movable(passed: Sequence[CallArgument], dropped: set[int]) -> None:
    """Raise `FixRefused` where removing an argument would shift later positional ones."""
    if dropped:
        kept = [
            number for number, node in enumerate(passed) if number not in dropped and not isinstance(node, ast.keyword)
        ]
        if any(isinstance(passed[gone], ast.expr) and kept and kept[-1] > gone for gone in dropped):
            raise FixRefused("positional")


def _rewritten(tree: Tree, call: ast.Call, passed: Sequence[CallArgument], number: int, step: FixStep) -> list[Edit]:
    """The edits for a new value or name of an argument."""
    node = passed[number]
    edits: list[Edit] = []
    value = node.value if isinstance(node, ast.keyword) else node
    if "to" in step.words:
        start = tree.range(node)[0]
        tree.tokens(node)
        if any(
            isinstance(other, ast.keyword) and other.arg == step.words["to"] for other in passed if other is not node
        ):
            raise FixRefused("argument")
        if isinstance(node, ast.keyword):
            edits.append(tree.edit(start, start + len(step.words["name"]), step.words["to"]))
        elif shares_parentheses(tree, node) or "value" in step.words:
            raise FixRefused("generator" if shares_parentheses(tree, node) else "positional")
        elif any(isinstance(other, ast.expr) for other in passed[number + 1 :]):
            raise FixRefused("positional")
        else:
            start = tree.outer(node)[0]
            edits.append(tree.edit(start, start, f"{step.words['to']}="))
    if "value" in step.words:
        if isinstance(value, ast.Starred):
            raise FixRefused("starred")
        edits += rewritten(tree, value, Templates(tree, call, value).expression(step.words["value"]))
    return edits


def _relisted(
    tree: Tree, call: ast.Call, passed: Sequence[CallArgument], dropped: set[int], added: Sequence[str]
) -> list[Edit]:
    begin, end = tree.opening(call) + 1, tree.range(call)[1] - 1
    edits: list[Edit] = []
    if len(passed) == 1 and shares_parentheses(tree, passed[0]):
        if dropped:
            return [tree.edit(begin, end, ", ".join(added))]
        return [tree.edit(begin, begin, "("), tree.edit(end, end, f"), {', '.join(added)}")]
    listed = ListElements(tree, tree.tokens(call), [_range(tree, node) for node in passed], begin, end)
    return edits + listed.changed(dropped, added)


def _range(tree: Tree, node: CallArgument) -> Range:
    """The range of an argument including its name and parentheses."""
    if isinstance(node, ast.keyword):
        return tree.range(node)[0], tree.outer(node.value)[1]
    if isinstance(node, ast.Starred):
        return tree.range(node)[0], max(tree.range(node)[1], tree.outer(node.value)[1])
    return tree.outer(node)
