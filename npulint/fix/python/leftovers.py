"""What fixes leave behind that served only what they took out: names that they imported and then needed no more, and
questions about devices whose answer nothing reads."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterable

from npulint.findings import Edit
from npulint.fix.python.statements import is_idle, listed_names, without
from npulint.fix.python.tree import Tree

_PLAIN = ("npu_bridge.npu_init", "os")  # importing them once more, or no more, changes nothing
_QUERIES = frozenset(
    ("list_physical_devices", "list_logical_devices", "get_visible_devices", "list_local_devices", "device_count")
)
_DYNAMIC = frozenset(("eval", "exec", "globals", "locals", "vars"))

_Imported = tuple[ast.Import | ast.ImportFrom, int, str]


def left_over(before: Tree, after: Tree, exported: Callable[[str], bool]) -> list[Edit]:
    """What takes them out. `exported` tells whether another file may look a name up."""
    old, new = _reads(before.module), _reads(after.module)
    if _DYNAMIC & new.keys():
        return []
    edits = _imports(before, after, new)
    if after.path.rpartition("/")[2] != "__init__.py":
        for statement, name in _questions(after):
            if old[name] and not new[name] and _bound_once(after, name) and not exported(name):
                edits += without(after, statement) if _is_one_of_several(after, statement) else []
    return edits


def _imports(before: Tree, after: Tree, reads: Counter[str]) -> list[Edit]:
    had = {name for _, _, name in _imported(before.module)}
    gone: dict[ast.Import | ast.ImportFrom, set[int]] = {}
    for statement, number, name in _imported(after.module):
        if name not in had and not reads[name]:
            gone.setdefault(statement, set()).add(number)
    edits: list[Edit] = []
    for statement, numbers in gone.items():
        if len(numbers) == len(statement.names):
            edits += without(after, statement)
        else:
            edits += listed_names(after, statement).changed(numbers, ())
    return edits


def _imported(module: ast.Module) -> Iterable[_Imported]:
    """The names that a file imports at its top level from what is plain: statement, which, name."""
    for node in module.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            for number, alias in enumerate(node.names):
                origin = alias.name if isinstance(node, ast.Import) else node.module
                if origin in _PLAIN and alias.name != "*":
                    yield node, number, alias.asname or alias.name


def _questions(tree: Tree) -> Iterable[tuple[ast.Assign, str]]:
    """The statements that do nothing but name the devices there are, and that name."""
    for _, _, node in tree.nodes:
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            asked = any(
                isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute) and part.func.attr in _QUERIES
                for part in ast.walk(node.value)
            )
            if asked and is_idle(node.value):
                yield node, node.targets[0].id


def _is_one_of_several(tree: Tree, statement: ast.stmt) -> bool:
    """Whether its block holds more than a statement."""
    return len(tree.block(statement)) > 1


def _bound_once(tree: Tree, name: str) -> bool:
    stored = (node for _, _, node in tree.nodes if isinstance(node, ast.Name) and node.id == name)
    return sum(not isinstance(node.ctx, ast.Load) for node in stored) == 1


def _reads(module: ast.Module) -> Counter[str]:
    """How often names are read in a file, also by texts that consist of them."""
    found: Counter[str] = Counter()
    for node in ast.walk(module):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            found[node.id] += 1
        elif isinstance(node, ast.Global | ast.Nonlocal):
            found.update(node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isidentifier():
            found[node.value] += 1
    return found
