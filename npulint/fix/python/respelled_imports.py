"""Respells imports of names for the NPU: ``from torch.npu.amp import autocast``."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from npulint.fix.model import FixRefused
from npulint.fix.python.tree import Tree
from npulint.fix.spelling import OF_AMP, Spelling

Replacement = tuple[int, int, str]
"""Start and end offsets, and the new text."""


def respelled_import(tree: Tree, node: ast.Import | ast.ImportFrom, spelling: Spelling) -> Iterator[Replacement]:
    """The replacements in a file for one of its imports, whose module or names begin with ``torch.npu``. Raises
    `FixRefused`."""
    kind = _kind(node)
    start, end = tree.range(node)
    if tree.tokens(node).comment_in(start, end):
        raise FixRefused("comment")
    names = ", ".join(_written("amp" if kind == "module" else alias.name, alias.asname) for alias in node.names)
    if spelling.helper is not None and not spelling.accelerator:
        yield start, end, f"from {spelling.helper.name} import {names}"
        return
    yield start, end, f"from torch import {names}" if kind == "module" else f"from torch.amp import {names}"
    for alias in node.names:
        local = alias.asname or ("amp" if kind == "module" else alias.name)
        yield from _with_type(tree, local, kind, spelling)


def _kind(node: ast.Import | ast.ImportFrom) -> str:
    """``module`` for the module ``torch.npu.amp``, ``names`` for names in it."""
    if isinstance(node, ast.Import):
        one = node.names[0]
        if len(node.names) == 1 and one.name == "torch.npu.amp" and one.asname:
            return "module"
    elif node.module == "torch.npu" and [alias.name for alias in node.names] == ["amp"]:
        return "module"
    elif node.module == "torch.npu.amp" and all(alias.name in OF_AMP for alias in node.names):
        return "names"
    raise FixRefused("changes-gpu")


def _written(name: str, asname: str | None) -> str:
    return name if asname in (None, name) else f"{name} as {asname}"


def _with_type(tree: Tree, local: str, kind: str, spelling: Spelling) -> Iterator[Replacement]:
    """The type of the device as the first argument of each call of an imported name."""
    for _, _, node in tree.nodes:
        if not isinstance(node, ast.Name) or node.id != local:
            continue
        used: ast.AST = node
        if kind == "module":
            used = tree.parent(node)
            if not isinstance(used, ast.Attribute) or used.attr not in OF_AMP:
                raise FixRefused("changes-gpu")
        call = tree.parent(used)
        if not isinstance(call, ast.Call) or call.func is not used or call.args:
            raise FixRefused("changes-gpu")
        place = tree.range(used)[1] + 1
        if tree.source[place - 1] != "(":
            raise FixRefused("place")
        yield place, place, spelling.type + (", " if call.keywords else "")
