"""Refuses to take away what the rest of the file needs: a setting that it reads, an effect of computing a value."""

from __future__ import annotations

import ast

from npulint.fix.model import FixRefused
from npulint.fix.python.tree import Tree, is_dotted

_ACTING = frozenset(
    """next pop popitem popleft append extend insert remove discard add update setdefault clear read readline readlines
    write input print send recv put get_next step system run call check_call check_output Popen""".split()
)
"""The last segments of calls that change something besides giving a value."""


def unread(tree: Tree, setting: str) -> None:
    """Raise `FixRefused` (``still-read``) if code of the file reads an attribute of this name; `setting` is dotted, and
    its last two segments count."""
    segments = setting.split(".")[-2:]
    for _, _, node in tree.nodes:
        if isinstance(node, ast.Attribute) and node.attr == segments[-1] and is_dotted(node):
            same = tree.text(node).split(".")[-len(segments) :] == segments
            if same and not _is_written(tree, node):
                raise FixRefused("still-read")


def without_effect(value: ast.expr) -> None:
    """Raise `FixRefused` (``effects``) if computing a value may do more than that: ``next(sizes)``."""
    for part in ast.walk(value):
        if isinstance(part, ast.Call):
            name = part.func.id if isinstance(part.func, ast.Name) else getattr(part.func, "attr", "")
            if name in _ACTING:
                raise FixRefused("effects")
        elif isinstance(part, ast.NamedExpr | ast.Await | ast.Yield | ast.YieldFrom):
            raise FixRefused("effects")


def _is_written(tree: Tree, node: ast.AST) -> bool:
    """Whether an attribute, or one of it, is assigned or deleted and not read."""
    while isinstance(node, ast.Attribute):
        if not isinstance(node.ctx, ast.Load):
            return True
        node = tree.parent(node)
    return False
