"""Whether names that a change no longer binds are still used."""

from __future__ import annotations

import ast
from itertools import accumulate

from npulint.fix.model import Plan, Refused, Text
from npulint.fix.python.tree import parsed, tree_of


def still_bound(text: Text, plan: Plan) -> None:
    """Raise `Refused` where a file that is changed so would use a name that it bound before only."""
    before, _ = _names(tree_of(text).module)
    try:
        after, used = _names(parsed(_applied(text.text, plan)))
    except Refused:
        raise Refused("broken") from None
    for wish in plan.imports:
        after |= _names(parsed(wish.statement))[0]
    if (before - after) & used:
        raise Refused("still-used")


def _applied(source: str, plan: Plan) -> str:
    starts = [0, *accumulate(len(line) + 1 for line in source.split("\n"))]
    for edit in sorted(plan.edits, key=lambda one: one.span, reverse=True):
        start = starts[edit.span.line - 1] + edit.span.column - 1
        end = starts[edit.span.end_line - 1] + edit.span.end_column - 1
        source = source[:start] + edit.text + source[end:]
    return source


def _names(module: ast.Module) -> tuple[set[str], set[str]]:
    """The names that a file binds anywhere, and those that it uses."""
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
