"""Removes device checks and GPU options whose result is unused after fixes."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable

from npulint.fix.python.statements import is_idle, without
from npulint.fix.python.tree import Tree
from npulint.fix.python.unused import looks_names_up, read_names
from npulint.judge.findings import Edit

_QUERIES = frozenset(
    "list_physical_devices list_logical_devices get_visible_devices list_local_devices device_count GPUOptions".split()
)


def without_unread(before: Tree, after: Tree, exported: Callable[[str], bool]) -> list[Edit]:
    """The edits that remove them. `exported` says whether another file may use a name."""
    if looks_names_up(after.module) or after.path.rpartition("/")[2] == "__init__.py":
        return []
    old, new = read_names(before.module), read_names(after.module)
    edits: list[Edit] = []
    for statement, name in _device_checks(after):
        one_of_several = len(after.block(statement)) > 1
        if one_of_several and old[name] and not new[name] and _bound_once(after, name) and not exported(name):
            edits += without(after, statement)
    return edits


def _device_checks(tree: Tree) -> Iterable[tuple[ast.Assign, str]]:
    """Assignments of available devices or GPU options without side effects, and the assigned name."""
    for _, _, node in tree.nodes:
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            checked = any(
                isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute) and part.func.attr in _QUERIES
                for part in ast.walk(node.value)
            )
            if checked and is_idle(node.value):
                yield node, node.targets[0].id


def _bound_once(tree: Tree, name: str) -> bool:
    stored = (node for _, _, node in tree.nodes if isinstance(node, ast.Name) and node.id == name)
    return sum(not isinstance(node.ctx, ast.Load) for node in stored) == 1
