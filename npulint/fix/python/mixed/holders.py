"""A class that holds an optimizer and steps it: a gradient scaler asks it for the parameter groups."""

from __future__ import annotations

import ast

from npulint.facts.model import Span
from npulint.fix.model import FixRefused
from npulint.fix.python.tree import Tree
from npulint.judge.findings import Edit


def with_groups(tree: Tree, line: int, column: int) -> Edit:
    """The edit that gives the class around a call ``self.optimizer.step()`` the parameter groups of its optimizer,
    above the method that steps. Raises `FixRefused` (``callers``) for other code."""
    start, _ = tree.offsets(Span(line, column, line, column))
    calls = [node for begin, _, node in tree.nodes if begin == start and isinstance(node, ast.Call)]
    around: ast.AST | None = calls[0] if calls else None
    while around is not None and not isinstance(around, ast.FunctionDef):
        around = tree.parent(around)
    held = calls[0].func if calls else None
    if around is None or not isinstance(held, ast.Attribute) or around.decorator_list:
        raise FixRefused("callers")
    place = tree.range(around)[0]
    if not isinstance(tree.parent(around), ast.ClassDef) or not tree.leads(place):
        raise FixRefused("callers")
    indent = tree.indent(place)
    inner = tree.indent(tree.range(around.body[0])[0]) if around.body[0].lineno > around.lineno else f"{indent}    "
    lines = (
        f"{indent}@property",
        f"{indent}def param_groups(self):",
        f"{inner}return {tree.text(held.value)}.param_groups",
        "",
        "",
    )
    top = tree.line_start(place)
    return tree.edit(top, top, "\n".join(lines))
