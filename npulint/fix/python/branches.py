"""Removes a branch of an ``if`` statement."""

from __future__ import annotations

import ast

from npulint.fix.python.tree import Tree
from npulint.judge.findings import Edit

_OPPOSITE = {
    ast.Is: "is not",
    ast.IsNot: "is",
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.In: "not in",
    ast.NotIn: "in",
}


def turned_round(tree: Tree, statement: ast.stmt) -> list[Edit]:
    """The edits that remove the first branch of ``if … else …``, given its only statement, and negate the condition;
    empty where the result would not be idiomatic."""
    around = tree.parent(statement)
    if not isinstance(around, ast.If) or tree.field(statement) != "body" or len(around.body) > 1 or not around.orelse:
        return []
    start = tree.range(statement)[0]
    colon = tree.lexed.before(tree.range(around.orelse[0])[0])
    word = tree.lexed.before(colon[0])
    if tree.lexed.text(word) != "else" or not tree.leads(word[0]) or not tree.leads(start):
        return []
    begin, end = tree.line_start(start), tree.line_end(colon[1]) + 1
    if tree.source[colon[1] : end].strip() or tree.lexed.comment_in(tree.outer(around.test)[1], end):
        return []
    return [_opposite(tree, around.test), tree.edit(begin, end, "")]


def _opposite(tree: Tree, test: ast.expr) -> Edit:
    start, end = tree.outer(test)
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return tree.edit(tree.range(test)[0], tree.outer(test.operand)[0], "")
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and type(test.ops[0]) in _OPPOSITE:
        between = tree.outer(test.left)[1], tree.outer(test.comparators[0])[0]
        return tree.edit(*between, f" {_OPPOSITE[type(test.ops[0])]} ")
    if (
        isinstance(test, ast.BoolOp | ast.IfExp | ast.Lambda | ast.NamedExpr | ast.Compare)
        and start == tree.range(test)[0]
    ):
        return tree.edit(start, end, f"not ({tree.source[start:end]})")
    return tree.edit(start, start, tree.apart(start, start, "not "))
