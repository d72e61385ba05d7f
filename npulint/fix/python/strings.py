"""Replaces words in string literals."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from npulint.fix.model import FixRefused
from npulint.fix.python.lexing import Lexed, parts_of
from npulint.fix.python.tree import Range, Tree
from npulint.judge.findings import Edit, FixStep


def retexted(tree: Tree, node: ast.AST, step: FixStep) -> list[Edit]:
    """The edits that replace a word in string literals at a place: in the arguments, parameters or values that `in`
    names, else in the place's own literals, else in all within it."""
    part, to = step.words["part"], step.words["to"]
    within = step.words.get("in", "").split()
    roots = [root for word in within for root in _named(tree, node, word)] if within else _roots(tree, node)
    for deep in (False, True):
        edits = []
        for root in dict.fromkeys(roots):
            for literal in _literals(root, deep):
                edits += _reworded(tree, literal, part, to)
        if edits:
            return list(dict.fromkeys(edits))
        if not deep and not within:
            roots = [node]
    constants = [value for root in roots for value in _constant(tree, root)]
    edits = [edit for value in dict.fromkeys(constants) for edit in _reworded(tree, value, part, to)]
    if not edits:
        raise FixRefused("no-text")
    return edits


def _constant(tree: Tree, node: ast.AST) -> Iterator[ast.expr]:
    """The literal of a name that the file binds once, at module level."""
    if isinstance(node, ast.Name):
        stores = [
            name
            for _, _, name in tree.nodes
            if isinstance(name, ast.Name) and name.id == node.id and not isinstance(name.ctx, ast.Load)
        ]
        statement = tree.parent(stores[0]) if len(stores) == 1 else None
        if isinstance(statement, ast.Assign) and statement in tree.module.body and len(statement.targets) == 1:
            yield from (
                constant
                for constant in [statement.value]
                if isinstance(constant, ast.Constant) and isinstance(constant.value, str)
            )


def _named(tree: Tree, node: ast.AST, word: str) -> Iterator[ast.AST]:
    """The nodes for a word of `in`: an argument by position or name, a parameter's default, or the value."""
    if isinstance(node, ast.keyword):
        node = tree.parent(node)
    if word == "value":
        yield from (root for head_expression in _head_expressions(node) for root in _roots(tree, head_expression))
    elif isinstance(node, ast.Call):
        if word.isdigit() and int(word) < len(node.args):
            before = node.args[: int(word)]
            if not any(isinstance(argument, ast.Starred) for argument in before):
                yield node.args[int(word)]
        yield from (keyword.value for keyword in node.keywords if keyword.arg == word)
    elif isinstance(node, ast.stmt):
        for part in ast.walk(node):
            if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) and part.lineno == node.lineno:
                yield from _default(part.args, word)
        yield from _in_call(tree, node, word)


def _head_expressions(node: ast.AST) -> list[ast.AST]:
    """The head expressions of a condition or loop; else the node itself."""
    if not isinstance(node, ast.If | ast.For | ast.While | ast.With):
        return [node]
    return [statement for statement in node.body if statement.lineno == node.lineno] or [node]


def _in_call(tree: Tree, node: ast.stmt, word: str) -> Iterator[ast.AST]:
    value = getattr(node, "value", None)
    if isinstance(value, ast.Call):
        yield from _named(tree, value, word)


def _default(args: ast.arguments, name: str) -> Iterator[ast.expr]:
    positional = [*args.posonlyargs, *args.args]
    pairs = [*zip(positional[len(positional) - len(args.defaults) :], args.defaults, strict=True)]
    pairs += [(arg, default) for arg, default in zip(args.kwonlyargs, args.kw_defaults, strict=True) if default]
    yield from (default for arg, default in pairs if arg.arg == name)


def _roots(tree: Tree, node: ast.AST) -> list[ast.AST]:
    """The expressions to search for the literal: the arguments of a call, the assigned or returned value."""
    if isinstance(node, ast.Call):
        return [*node.args, *(keyword.value for keyword in node.keywords)]
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return [default for default in (*node.args.defaults, *node.args.kw_defaults) if default is not None]
    if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.Return | ast.NamedExpr | ast.keyword):
        return [node.value] if node.value is not None else []
    if isinstance(node, ast.expr) and isinstance(getattr(node, "ctx", None), ast.Store):
        statement = tree.statement(node)
        value = getattr(statement, "value", None)
        return [value] if value is not None else [node]
    if isinstance(node, ast.If | ast.While):
        return [node.test]
    return [node]


def _literals(root: ast.AST, deep: bool) -> Iterator[ast.expr]:
    """The string literals of an expression in order; unless `deep`, without keys, indices and arguments of inner calls,
    but with literals whose methods are called."""
    stack: list[ast.AST] = [root]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)):
            assert isinstance(node, ast.expr)
            yield node
            if deep:
                stack += reversed([part for part in ast.iter_child_nodes(node) if not isinstance(part, ast.Constant)])
        elif deep or (node is root and isinstance(node, ast.Compare)):
            stack += reversed(list(ast.iter_child_nodes(node)))
        elif isinstance(node, ast.Call):
            if isinstance(node.func, ast.Attribute):
                stack.append(node.func.value)
        elif isinstance(node, ast.Dict):
            stack += reversed(node.values)
        elif isinstance(node, ast.Subscript):
            stack.append(node.value)
        elif isinstance(node, ast.expr | ast.keyword) and not isinstance(node, ast.Attribute | ast.Lambda):
            stack += reversed(list(ast.iter_child_nodes(node)))


def _reworded(tree: Tree, literal: ast.expr, part: str, to: str) -> list[Edit]:
    tokens = tree.tokens(literal)
    start, end = tree.range(literal)
    word = re.compile(rf"(?<!\w){re.escape(part)}(?!\w)" if part[:1].isalnum() else re.escape(part))
    edits = []
    for first, last in tokens.strings:
        if first < start or last > end:
            continue
        prefix, quote = parts_of(tree.source, first)
        formatted = bool(set(prefix) & set("fFtT"))
        body = first + len(prefix) + len(quote), last - len(quote)
        skipped = Lexed(tree.source, first, last).fields if formatted else []
        for match in word.finditer(tree.source, *body):
            if any(begin <= match.start() < stop for begin, stop in skipped):
                continue
            if _escaped(tree.source, match.start(), body):
                continue
            if set(to) & set("\\\n" + quote[0] + ("{}" if formatted else "")) or (
                "b" in prefix.lower() and not to.isascii()
            ):
                raise FixRefused("no-text")
            edits.append(tree.edit(*match.span(), to))
    return edits


def _escaped(source: str, place: int, body: Range) -> bool:
    """Whether a backslash before an offset escapes its first character."""
    count = 0
    while place - count - 1 >= body[0] and source[place - count - 1] == "\\":
        count += 1
    return count % 2 == 1
