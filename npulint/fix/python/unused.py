"""Imports that became unused by fixes: existing ones without uses, and added ones that are no longer needed."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

import msgspec

from npulint.core.lazy_regex import lazy_compile
from npulint.fix.python.statements import listed_names, without
from npulint.fix.python.tree import Tree
from npulint.judge.findings import Edit

# Packages without import side effects that are loaded anyway; apex for the NPU lacks the classes.
_QUIET = ("torch", "apex", "tensorflow")
_ADDED = ("npu_bridge.npu_init", "os")  # added by fixes for their names only
_DYNAMIC = frozenset(("eval", "exec", "globals", "locals", "vars"))
_KEPT = lazy_compile(r"\bnoqa\b|\bnoinspection\b|pylint:|\bisort:")
_DEVICE = lazy_compile(r"(?<!i)npu|cuda")  # no input
_REFERENCE = lazy_compile(r"^[\w.\[\]|]+(?:, ?[\w.\[\]|]+)*$")


class _Imported(msgspec.Struct, frozen=True):
    """A name bound by a top-level import: the `number`-th of its statement."""

    statement: ast.Import | ast.ImportFrom
    number: int
    origin: str
    name: str


def without_unused(before: Tree, after: Tree, exported: Callable[[str], bool]) -> list[Edit]:
    """The edits that remove imports which were used before the fixes, or added by them, and are unused now. Names that
    other files may use (`exported`) stay."""
    if looks_names_up(after.module):
        return []
    old, new = read_names(before.module), read_names(after.module)
    had = {imported.name for imported in _imported(before.module)}
    unused: dict[ast.Import | ast.ImportFrom, set[int]] = {}
    for imported in _imported(after.module):
        if not new[imported.name] and (
            _is_lost(imported, after, old, exported) if imported.name in had else imported.origin in _ADDED
        ):
            unused.setdefault(imported.statement, set()).add(imported.number)
    edits: list[Edit] = []
    for statement, gone in unused.items():
        if len(gone) == len(statement.names):
            edits += without(after, statement)
        else:
            edits += listed_names(after, statement).changed(gone, ())
    return [*edits, *_needless(before, after)]


def _is_lost(imported: _Imported, after: Tree, old: Counter[str], exported: Callable[[str], bool]) -> bool:
    """Whether a name from a package without import side effects lost its last use, also in other files."""
    inner = isinstance(imported.statement, ast.ImportFrom) or "." in imported.origin
    quiet = inner and imported.origin.partition(".")[0] in _QUIET and not getattr(imported.statement, "level", 0)
    kept = after.path.rpartition("/")[2] == "__init__.py" or _is_kept(after, imported.statement)
    return quiet and old[imported.name] > 0 and not kept and not exported(imported.name)


def looks_up(text: str, module: str, name: str) -> bool:
    """Whether a file may use a name of a module: by ``from module import name``, a star, or as an attribute."""
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
    """How often names are read in a file, also by strings that contain them."""
    reads: Counter[str] = Counter()
    for node in ast.walk(module):
        if isinstance(node, ast.Name):
            reads[node.id] += isinstance(node.ctx, ast.Load)
        elif isinstance(node, ast.Global | ast.Nonlocal):
            reads.update(node.names)
        elif isinstance(node, ast.FunctionDef):
            reads[node.name] += 1
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and _REFERENCE.match(node.value):
            reads.update(re.findall(r"\w+", node.value))
    return reads


def looks_names_up(module: ast.Module) -> bool:
    """Whether a file may use names dynamically."""
    named = {node.id for node in ast.walk(module) if isinstance(node, ast.Name)}
    own = {node.name for node in ast.walk(module) if isinstance(node, ast.FunctionDef)}
    return bool(_DYNAMIC & named - own)


def _is_kept(tree: Tree, statement: ast.stmt) -> bool:
    """Whether a comment in the lines of a statement prevents its removal (``noqa``)."""
    start, end = tree.range(statement)
    return _KEPT.search(tree.source[tree.line_start(start) : tree.line_end(end)]) is not None


def _needless(before: Tree, after: Tree) -> Sequence[Edit]:
    """The edits that remove an added ``import torch_npu`` when nothing names CUDA or the NPU any more."""
    added = [node for node in after.module.body if _is_adapter(node)]
    if len(added) != 1 or any(_is_adapter(node) for node in before.module.body):
        return ()
    old, new = ([word for node in ast.walk(tree.module) for word in _words(node)] for tree in (before, after))
    named = any(_DEVICE.search(word) for word in new)
    return without(after, added[0]) if not named and any("cuda" in word for word in old) else ()


def _is_adapter(node: ast.AST) -> bool:
    return isinstance(node, ast.Import) and [(name.name, name.asname) for name in node.names] == [("torch_npu", None)]


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
