"""Edits expressions: wraps, replaces, or assigns another value."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from npulint.fix.model import FixRefused
from npulint.fix.python import levels
from npulint.fix.python.lexing import Lexed
from npulint.fix.python.templates import Filled, Templates, shares_parentheses
from npulint.fix.python.tree import Tree
from npulint.judge.findings import Edit


def replaced(tree: Tree, node: ast.AST, template: str) -> list[Edit]:
    """The edits that replace the expression at a place by a template."""
    expression = _expression(tree, node)
    return rewritten(tree, expression, Templates(tree, expression, expression).expression(template))


def leaves_nothing(tree: Tree, node: ast.AST, edits: Sequence[Edit]) -> bool:
    """Whether a replacement leaves a statement without effect: ``x = x``, or a name alone."""
    statement = tree.parent(node)
    if len(edits) != 1 or not isinstance(statement, ast.Expr | ast.Assign) or statement.value is not node:
        return False
    text = edits[0].text
    if isinstance(statement, ast.Expr):
        return all(part.isidentifier() for part in text.split("."))
    return len(statement.targets) == 1 and tree.text(statement.targets[0]) == text


def valued(tree: Tree, node: ast.AST, template: str) -> list[Edit]:
    """The edits that replace the right side of the assignment, or the value of the argument, at a place by a
    template."""
    old = value_of(tree, node)
    return rewritten(tree, old, Templates(tree, old, old).expression(template))


def rewritten(tree: Tree, old: ast.expr, filled: Filled) -> list[Edit]:
    """The edits that replace an expression by a filled template; unchanged parts are not edited."""
    if shares_parentheses(tree, old):
        raise FixRefused("generator")
    start, end = tree.outer(old)
    filled = filled.within(levels.required(tree.parent(old), tree.field(old), old))
    if filled.around is not None:
        before, behind = filled.around
        if (start, end) != tree.range(old) and before.endswith("(") and behind.startswith(")"):
            before, behind = before[:-1], behind[1:]  # its parentheses become those of the call
        before, behind = tree.apart(start, start, before), tree.apart(end, end, behind)
        edits = [tree.edit(start, start, before)] if before else []
        return edits + ([tree.edit(end, end, behind)] if behind else [])
    new = Lexed(filled.text, 0, len(filled.text))
    written = [tree.source[a:b] for a, b in tree.tokens(old).comments if start <= a < end]
    if written != [filled.text[a:b] for a, b in new.comments]:
        raise FixRefused("comment")
    if filled.text == tree.source[start:end]:
        return []
    return [tree.edit(start, end, tree.apart(start, end, filled.text))]


def widest(tree: Tree, node: ast.AST) -> ast.AST:
    """The largest arithmetic expression that contains the one at a place."""
    parent = tree.parent(node)
    while isinstance(parent, ast.BinOp | ast.UnaryOp):
        node, parent = parent, tree.parent(parent)
    return node


def conjunction(tree: Tree, node: ast.AST) -> ast.AST:
    """The ``and`` of which the expression at a place is an operand."""
    parent = tree.parent(node)
    if not isinstance(parent, ast.BoolOp) or not isinstance(parent.op, ast.And):
        raise FixRefused("no-expression")
    return parent


def condition(tree: Tree, node: ast.AST) -> ast.AST:
    """The condition of the ``if`` statement whose first block the expression at a place is in."""
    statement: ast.AST | None = tree.statement(node)
    while statement is not None and not isinstance(statement, ast.If):
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            break
        inner, statement = statement, tree.parent(statement)
        if isinstance(statement, ast.If) and inner in statement.body:
            return statement.test
    raise FixRefused("no-expression")


def value_of(tree: Tree, node: ast.AST) -> ast.expr:
    """The value assigned at a place; raises `FixRefused` where several targets are assigned."""
    if isinstance(node, ast.keyword | ast.NamedExpr):
        return node.value
    statement: ast.AST | None = node
    if not isinstance(node, ast.stmt):
        statement = tree.parent(node)
        if isinstance(statement, ast.Tuple | ast.List) and isinstance(tree.parent(statement), ast.Assign):
            return _element(tree, statement, node)
        if tree.field(node) not in ("target", "targets"):
            raise FixRefused("no-value")
    if isinstance(statement, ast.Assign):
        if len(statement.targets) > 1:
            raise FixRefused("chained")
        return statement.value
    if isinstance(statement, ast.AnnAssign) and statement.value is not None:
        return statement.value
    if isinstance(statement, ast.AugAssign):
        return statement.value
    raise FixRefused("no-value")


def _element(tree: Tree, targets: ast.Tuple | ast.List, node: ast.AST) -> ast.expr:
    """The element of a tuple or list that is assigned to one of as many targets."""
    statement = tree.parent(targets)
    assert isinstance(statement, ast.Assign)
    values = statement.value
    if len(statement.targets) > 1:
        raise FixRefused("chained")
    if not isinstance(values, ast.Tuple | ast.List) or len(values.elts) != len(targets.elts):
        raise FixRefused("no-value")
    if any(isinstance(expression, ast.Starred) for expression in (*values.elts, *targets.elts)):
        raise FixRefused("no-value")
    return next(value for target, value in zip(targets.elts, values.elts, strict=True) if target is node)


def _expression(tree: Tree, node: ast.AST) -> ast.expr:
    if not isinstance(node, ast.expr) or not isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
        raise FixRefused("no-expression")
    if isinstance(node, ast.Starred | ast.Slice) or isinstance(tree.parent(node), ast.pattern):
        raise FixRefused("no-expression")
    return node
