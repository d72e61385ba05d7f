"""Detects names that are used but no longer bound after a fix."""

from __future__ import annotations

import ast

from npulint.fix.model import FixRefused, Plan, Text
from npulint.fix.python.tree import parsed, tree_of
from npulint.fix.source import edited_text


def still_bound(text: Text, plan: Plan) -> None:
    """Raise `FixRefused` if a fix removes the binding of a name that the file still uses."""
    tree = tree_of(text)
    ranges = [tree.offsets(edit.span) for edit in plan.edits]
    if not any(_binds(node) and _meets(start, end, ranges) for start, end, node in tree.nodes):
        return
    before, _ = _names(tree.module)
    try:
        after, used = _names(parsed(edited_text(text.text, plan.edits)))
    except FixRefused:
        raise FixRefused("broken") from None
    for request in plan.imports:
        after |= _names(parsed(request.statement))[0]
    if (before - after) & used:
        raise FixRefused("still-used")


def _binds(node: ast.AST) -> bool:
    if isinstance(node, ast.Name):
        return not isinstance(node.ctx, ast.Load)
    return isinstance(node, ast.alias | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)


def _meets(start: int, end: int, ranges: list[tuple[int, int]]) -> bool:
    return any(first < end and start < last for first, last in ranges if first < last)


def _names(module: ast.Module) -> tuple[set[str], set[str]]:
    """The names that a file binds, and those that it uses."""
    bound: set[str] = set()
    used: set[str] = set()
    for node in ast.walk(module):
        if isinstance(node, ast.Name):
            (used if isinstance(node.ctx, ast.Load) else bound).add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            bound.add(node.name)
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
        elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
            bound.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            bound |= {alias.asname or alias.name.split(".")[0] for alias in node.names}
    return bound, used
