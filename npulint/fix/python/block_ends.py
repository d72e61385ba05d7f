"""Ends of functions and scripts that are reached whenever nothing fails."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from npulint.fix.model import FixRefused
from npulint.fix.python.tree import Tree

_INNER = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_ENDING = frozenset(("exit", "_exit", "quit", "abort", "execv", "execvp"))


def reached_end(tree: Tree, statement: ast.stmt, text: str) -> ast.stmt:
    """The last statement of the block of one. Raises `FixRefused` (``unreachable``) if that may not be reached, or if
    the block does not bind what a text reads as arguments of its calls."""
    block = tree.block(statement)
    parts = [part for node in block for part in _own_parts(node)]
    top = isinstance(tree.parent(statement), ast.Module | ast.FunctionDef)
    if not top or any(map(_leaves, parts)):
        raise FixRefused("unreachable")
    bound = {part.id for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}
    if not _given(text) <= bound:
        raise FixRefused("unreachable")
    return block[-1]


def _own_parts(statement: ast.stmt) -> Iterator[ast.AST]:
    """A statement and its parts, without those of functions and classes defined in it."""
    waiting: list[ast.AST] = [statement]
    while waiting:
        part = waiting.pop()
        yield part
        if not isinstance(part, _INNER):
            waiting += ast.iter_child_nodes(part)


def _leaves(part: ast.AST) -> bool:
    """Whether the block may be left here without an exception."""
    if isinstance(part, ast.While):
        endless = isinstance(part.test, ast.Constant) and bool(part.test.value)
        return endless and not any(isinstance(node, ast.Break) for node in ast.walk(part))
    if isinstance(part, ast.Call):
        return ast.unparse(part.func).rpartition(".")[2] in _ENDING or ast.unparse(part.func).endswith("app.run")
    return isinstance(part, ast.Return | ast.Yield | ast.YieldFrom)


def _given(text: str) -> set[str]:
    calls = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call))
    return {
        part.id for call in calls for argument in call.args for part in ast.walk(argument) if isinstance(part, ast.Name)
    }
