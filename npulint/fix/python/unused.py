"""Imports that a file does not use because of its fixes: those that lost their last use, and those that came for
something that is gone again."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

import msgspec

from npulint.findings import Edit
from npulint.fix.python.statements import listed_names, without
from npulint.fix.python.tree import Tree
from npulint.lazy_regex import lazy_compile

# What only defines names when it is imported, and is loaded long before; apex for the NPU lacks the classes.
_QUIET = ("torch", "apex", "tensorflow")
_ADDED = ("npu_bridge.npu_init", "os")  # what fixes import for its names alone
_DYNAMIC = frozenset(("eval", "exec", "globals", "locals", "vars"))
_KEPT = lazy_compile(r"\bnoqa\b|\bnoinspection\b|pylint:|\bisort:")
_DEVICE = lazy_compile(r"(?<!i)npu|cuda")  # no input
_REFERENCE = lazy_compile(r"^[\w.\[\]|]+(?:, ?[\w.\[\]|]+)*$")


class _Imported(msgspec.Struct, frozen=True):
    """A name that an import at the top level of a file binds: the `number`-th of its statement."""

    statement: ast.Import | ast.ImportFrom
    number: int
    origin: str
    name: str


def without_unused(before: Tree, after: Tree, exported: Callable[[str], bool]) -> list[Edit]:
    """What takes imports out of a file that it used before its fixes, or has got by them, and does not use. Names
    that it had stay where others may look them up: `exported` tells whether another file does."""
    if looks_names_up(after.module):
        return []
    old, new = read_names(before.module), read_names(after.module)
    had = {one.name for one in _imported(before.module)}
    found: dict[ast.Import | ast.ImportFrom, set[int]] = {}
    for one in _imported(after.module):
        if not new[one.name] and (_is_lost(one, after, old, exported) if one.name in had else one.origin in _ADDED):
            found.setdefault(one.statement, set()).add(one.number)
    edits: list[Edit] = []
    for statement, gone in found.items():
        if len(gone) == len(statement.names):
            edits += without(after, statement)
        else:
            edits += listed_names(after, statement).changed(gone, ())
    return [*edits, *_needless(before, after)]


def _is_lost(one: _Imported, after: Tree, old: Counter[str], exported: Callable[[str], bool]) -> bool:
    """Whether a name that the file had from a quiet package has lost its last use, and nobody else wants it."""
    inner = isinstance(one.statement, ast.ImportFrom) or "." in one.origin
    quiet = inner and one.origin.partition(".")[0] in _QUIET and not getattr(one.statement, "level", 0)
    kept = after.path.rpartition("/")[2] == "__init__.py" or _is_kept(after, one.statement)
    return quiet and old[one.name] > 0 and not kept and not exported(one.name)


def looks_up(text: str, module: str, name: str) -> bool:
    """Whether a file may take a name from a module: by ``from module import name`` or a star, or as an attribute."""
    word, own = re.escape(name), re.escape(module)
    return re.search(rf"\b{own}\s+import\b[^\n]*(?:\*|\(|\\|\b{word}\b)|\b{own}\.{word}\b", text) is not None


def _imported(module: ast.Module) -> Iterable[_Imported]:
    for node in module.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            for number, alias in enumerate(node.names):
                origin = alias.name if isinstance(node, ast.Import) else node.module or ""
                name = alias.asname or (alias.name.partition(".")[0] if isinstance(node, ast.Import) else alias.name)
                if name != "*" and (alias.asname or "." not in alias.name):  # `import a.b` also stands for other parts
                    yield _Imported(node, number, origin, name)


def read_names(module: ast.Module) -> Counter[str]:
    """How often names are read in a file, also by texts that name them."""
    found: Counter[str] = Counter()
    for node in ast.walk(module):
        if isinstance(node, ast.Name):
            found[node.id] += isinstance(node.ctx, ast.Load)
        elif isinstance(node, ast.Global | ast.Nonlocal):
            found.update(node.names)
        elif isinstance(node, ast.FunctionDef):
            found[node.name] += 1
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and _REFERENCE.match(node.value):
            found.update(re.findall(r"\w+", node.value))
    return found


def looks_names_up(module: ast.Module) -> bool:
    """Whether a file may use names that it does not spell."""
    named = {node.id for node in ast.walk(module) if isinstance(node, ast.Name)}
    own = {node.name for node in ast.walk(module) if isinstance(node, ast.FunctionDef)}
    return bool(_DYNAMIC & named - own)


def _is_kept(tree: Tree, statement: ast.stmt) -> bool:
    """Whether a comment in the lines of a statement says that somebody wants it so."""
    start, end = tree.range(statement)
    return _KEPT.search(tree.source[tree.line_start(start) : tree.line_end(end)]) is not None


def _needless(before: Tree, after: Tree) -> Sequence[Edit]:
    """``import torch_npu`` that came for a call which is gone again: nothing is left that names CUDA or the NPU."""
    added = [node for node in after.module.body if _is_adapter(node)]
    if len(added) != 1 or any(_is_adapter(node) for node in before.module.body):
        return ()
    old, new = ([word for node in ast.walk(tree.module) for word in _words(node)] for tree in (before, after))
    named = any(_DEVICE.search(word) for word in new)
    return without(after, added[0]) if not named and any("cuda" in word for word in old) else ()


def _is_adapter(node: ast.AST) -> bool:
    return isinstance(node, ast.Import) and [(one.name, one.asname) for one in node.names] == [("torch_npu", None)]


def _words(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Name):
        return [node.id.lower()]
    if isinstance(node, ast.Attribute):
        return [node.attr.lower()]
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [node.value.lower()]
    if isinstance(node, ast.Import | ast.ImportFrom):
        own = node.module if isinstance(node, ast.ImportFrom) and node.module else ""
        return [own, *(alias.name for alias in node.names if alias.name != "torch_npu")]
    return []
