"""Applies fix steps in Python files."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from npulint.fix.model import FixRefused, ImportRequest, Plan, Text
from npulint.fix.python.arguments import call_at, changed_arguments
from npulint.fix.python.bodies import called_instead
from npulint.fix.python.dependents import replaced_with_dependents
from npulint.fix.python.expressions import condition, conjunction, leaves_nothing, replaced, valued, widest
from npulint.fix.python.names import keeps_receiver, renamed, renamed_part
from npulint.fix.python.readers import unread, without_effect
from npulint.fix.python.statements import deleted, inserted
from npulint.fix.python.strings import retexted
from npulint.fix.python.templates import Templates
from npulint.fix.python.tree import Tree, is_dotted, tree_of
from npulint.judge.findings import Edit, FixStep

_ARGUMENTS = ("argument", "drop")
_EXACT = ("rename", "rename_part", "wrap", "replace")


def plan(step: FixStep, text: Text) -> Plan:
    """The plan of one step in a Python file; raises `FixRefused` where it is not certain."""
    return plan_all((step,), text)


def plan_all(steps: Sequence[FixStep], text: Text) -> Plan:
    """The plan of several steps in one file; those about arguments of one call are planned together."""
    edits: list[Edit] = []
    requests: list[ImportRequest] = []
    done: set[int] = set()
    for number, step in enumerate(steps):
        if step.verb == "import":
            requests.append(
                ImportRequest(step.path, step.words["what"], step.words.get("after", ""), "place" in step.words)
            )
            tree_of(text)
        elif step.verb in _ARGUMENTS:
            if number not in done:
                same_call = [
                    n for n, fix_step in enumerate(steps) if fix_step.verb in _ARGUMENTS and fix_step.span == step.span
                ]
                done.update(same_call)
                tree = tree_of(text)
                call = call_at(tree, tree.at(step.span))
                edits += changed_arguments(tree, call, [steps[n] for n in same_call])
        else:
            edits += _edits(step, tree_of(text))
    if edits:
        _fit_in_strings(tree_of(text), edits)
    return Plan(tuple(edits), tuple(requests))


def _fit_in_strings(tree: Tree, edits: Sequence[Edit]) -> None:
    """Raise `FixRefused` for edits in an f-string that older Python versions do not accept."""
    for edit in edits:
        start, end = tree.offsets(edit.span)
        if tree.field_at(start, end) is not None and (edit.text.startswith("{") or set(edit.text) & set("'\"\\\n#")):
            raise FixRefused("f-string")


def _edits(step: FixStep, tree: Tree) -> list[Edit]:
    words = step.words
    if step.verb == "insert" and words["where"] == "imports":
        return inserted(tree, _found(tree, step), step)
    node = tree.exactly_at(step.span) if step.verb in _EXACT else tree.at(step.span)
    if step.verb == "rename":
        return _renamed(tree, node, words["to"])
    if step.verb == "rename_part":
        return renamed_part(tree, node, step)
    if step.verb == "retext":
        return retexted(tree, node, step)
    if step.verb in ("wrap", "replace"):
        return _replaced(step, tree, node)
    if step.verb == "value":
        return valued(tree, node, words["with"])
    if step.verb == "body":
        return called_instead(tree, node, words["return"])
    if step.verb == "delete":
        return _deleted(tree, node, step)
    if step.verb == "insert":
        return inserted(tree, node, step)
    raise FixRefused("verb")


def _deleted(tree: Tree, node: ast.AST, step: FixStep) -> list[Edit]:
    """The edits of a deletion; an assignment stays if computing its value does something, or if its setting is read."""
    statement = tree.statement(node)
    if isinstance(statement, ast.Assign):
        without_effect(statement.value)
        if "if" in step.words and is_dotted(statement.targets[0]):
            unread(tree, tree.text(statement.targets[0]))
    return deleted(tree, node, step)


def _replaced(step: FixStep, tree: Tree, node: ast.AST) -> list[Edit]:
    around = {"arithmetic": widest, "conjunction": conjunction, "condition": condition}.get(step.words.get("of", ""))
    edits = replaced(tree, node if around is None else around(tree, node), step.words["with"])
    nothing_left = leaves_nothing(tree, node, edits)
    if nothing_left:
        edits = deleted(tree, tree.statement(node), FixStep("delete", step.path, step.span, {"what": "block"}))
    if "members" in step.words:
        return replaced_with_dependents(tree, node, edits, step.words["members"], nothing_left)
    return edits


def _renamed(tree: Tree, node: ast.AST, to: str) -> list[Edit]:
    if "$" not in to:
        if keeps_receiver(node):
            raise FixRefused("name")
        return renamed(tree, node, to)
    old = node if isinstance(node, ast.expr) else None
    return renamed(tree, node, Templates(tree, node, old).expression(to).text)


def _found(tree: Tree, step: FixStep) -> ast.AST | None:
    try:
        return tree.at(step.span)
    except FixRefused:
        return None


__all__ = ["plan", "plan_all"]
