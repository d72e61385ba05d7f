"""Makes a function that is one formula of its argument call another function instead."""

from __future__ import annotations

import ast

from npulint.fix.model import FixRefused
from npulint.fix.python.tree import Tree
from npulint.judge.findings import Edit


def called_instead(tree: Tree, node: ast.AST, name: str) -> list[Edit]:
    """The edits that let the function around a place return a call of `name` with its only parameter. Raises
    `FixRefused` if it does more than to compute a result from it."""
    function = _function(tree, node)
    parameter = _only_parameter(function)
    formula = function.body[1:] if ast.get_docstring(function, clean=False) is not None else function.body
    if not formula or not isinstance(formula[-1], ast.Return) or not all(map(_names_part, formula[:-1])):
        raise FixRefused("no-statement")
    start, end = tree.range(formula[0])[0], tree.range(formula[-1])[1]
    if tree.lexed.comment_in(start, end):
        raise FixRefused("comment")
    return [tree.edit(start, end, f"return {name}({parameter})")]


def _function(tree: Tree, node: ast.AST) -> ast.FunctionDef:
    while not isinstance(node, ast.FunctionDef):
        if node is tree.module or isinstance(node, ast.Lambda | ast.AsyncFunctionDef | ast.ClassDef):
            raise FixRefused("place")
        node = tree.parent(node)
    return node


def _only_parameter(function: ast.FunctionDef) -> str:
    given = function.args
    names = [node.arg for node in (*given.posonlyargs, *given.args) if node.arg != "self"]
    if len(names) != 1 or given.vararg or given.kwonlyargs or given.kwarg:
        raise FixRefused("argument")
    return names[0]


def _names_part(statement: ast.stmt) -> bool:
    """Whether a statement only gives a part of the formula a name."""
    return isinstance(statement, ast.Assign) and all(isinstance(target, ast.Name) for target in statement.targets)
