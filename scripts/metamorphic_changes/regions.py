"""Runs of statements that stand together in a block, with the names that they read and bind."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from scripts.metamorphic_changes.scopes import Scope, is_docstring, is_plain, scope_of
from scripts.metamorphic_changes.source import Source

LONGEST = 4
"""Statements of a region, apart from whole blocks."""
_BLOCKS = ("body", "orelse", "finalbody")
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_FIXED = (
    *(ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Global, ast.Nonlocal),
    *(ast.Return, ast.Yield, ast.YieldFrom, ast.Await, ast.AsyncFor, ast.AsyncWith, ast.Delete, ast.NamedExpr),
    *(ast.Match, ast.AnnAssign),
)
"""What does another thing in another function."""
_DEFERRED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.GeneratorExp)


class Region(NamedTuple):
    """Statements of one block, the block, the index of the first of them, and the function or module they run in."""

    source: Source
    scope: Scope
    block: list[ast.stmt]
    start: int
    statements: list[ast.stmt]

    @property
    def lines(self) -> tuple[int, int]:
        """The first and the last line."""
        return self.source.lines_of(self.statements[0], self.statements[-1])

    @property
    def location(self) -> str:
        """Where the region begins, as ``path:line``."""
        return f"{self.source.path}:{self.lines[0]}"

    def nodes(self) -> Iterator[ast.AST]:
        """All nodes of the statements."""
        for statement in self.statements:
            yield from ast.walk(statement)

    def names(self, context: type[ast.expr_context]) -> list[str]:
        """The names that the region reads or binds, without those that only its comprehensions bind."""
        return list(
            dict.fromkeys(
                node.id
                for node in self.nodes()
                if isinstance(node, ast.Name)
                and isinstance(node.ctx, context)
                and (context is ast.Load or scope_of(self.source, node) is self.scope)
            )
        )


def regions(source: Source) -> Iterator[Region]:
    """The runs of at most four statements and the whole blocks of functions and of the module, in lines of their own.
    Left out are the blocks of classes, decorated functions, docstrings and imports from the future."""
    for owner in source.nodes:
        if isinstance(owner, ast.ClassDef) or not is_plain(source, owner):
            continue
        for name in _BLOCKS:
            block = getattr(owner, name, None)
            if isinstance(block, list) and block:
                yield from _runs(source, block)


def _runs(source: Source, block: list[ast.stmt]) -> Iterator[Region]:
    scope = scope_of(source, block[0])
    if not isinstance(scope, ast.Module | ast.FunctionDef):
        return
    fixed = [_is_fixed_here(source, statement) for statement in block]
    for start in range(len(block)):
        for end in range(start + 1, len(block) + 1):
            if any(fixed[start:end]):
                break
            whole = start == 0 and end == len(block)
            if (end - start <= LONGEST or whole) and source.is_alone(block[start], block[end - 1]):
                yield Region(source, scope, block, start, block[start:end])


def _is_fixed_here(source: Source, node: ast.stmt) -> bool:
    future = isinstance(node, ast.ImportFrom) and node.module == "__future__"
    guard = isinstance(node, ast.If) and "__name__" in source.text(node.test)
    return (
        future or guard or is_docstring(node) or any(isinstance(n, ast.Global | ast.Nonlocal) for n in ast.walk(node))
    )


class Interface(NamedTuple):
    """The values that a function made of a region takes and returns."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


def interface(region: Region, closed: bool) -> Interface | None:
    """What a region needs to run in a function of its own: in one that sees the variables around it, or (if not
    `closed`) in one that is passed all of them. None if it would mean something else there, or if that is unclear."""
    if not _is_movable(region):
        return None
    own = frozenset() if closed else _names_of_scope(region.scope).own
    outside, repeated = _names_outside(region), _is_repeated(region)
    stored = region.names(ast.Store)
    inputs = [name for name in region.names(ast.Load) if name in own and name not in stored]
    outputs: list[str] = []
    for name in stored:
        is_kept = any(_assigns(statement, name) for statement in region.statements)
        is_read_before = not _is_assigned_first(region, name)
        if name not in outside and not (is_read_before and repeated):
            outputs += [name] if is_kept else []  # nothing around the region has a value of it
        elif is_read_before:
            inputs.append(name)
            outputs.append(name)
        elif is_kept:
            outputs.append(name)
        else:
            return None
    if _names_of_scope(region.scope).deferred & {*stored, *inputs}:
        return None
    bound = all(_is_bound_before(region, name) for name in inputs)
    return Interface(tuple(inputs), tuple(outputs)) if bound else None


def _is_movable(region: Region) -> bool:
    for node in region.nodes():
        if isinstance(node, _FIXED) or (isinstance(node, ast.ExceptHandler) and node.name):
            return False
        if isinstance(node, ast.Name) and node.id in ("super", "__class__"):
            return False
        if isinstance(node, ast.Break | ast.Continue) and not _loops_inside(region, node):
            return False
    if _names_of_scope(region.scope).declares:
        return False
    return not any(_may_swallow(parent) for parent in _ancestors_in_scope(region))


def _loops_inside(region: Region, node: ast.AST) -> bool:
    for parent in region.source.ancestors(node):
        if isinstance(parent, _LOOPS):
            return any(parent in ast.walk(statement) for statement in region.statements)
    return False


def _is_repeated(region: Region) -> bool:
    return any(isinstance(parent, _LOOPS) for parent in _ancestors_in_scope(region))


def _ancestors_in_scope(region: Region) -> Iterator[ast.AST]:
    for parent in region.source.ancestors(region.statements[0]):
        if parent is region.scope:
            return
        yield parent


def _may_swallow(node: ast.AST) -> bool:
    """Whether a statement may catch an exception after which variables are read."""
    if isinstance(node, ast.Try) or type(node).__name__ == "TryStar":
        return True
    texts = [ast.unparse(item.context_expr) for item in node.items] if isinstance(node, ast.With) else []
    return any("suppress" in text or "raises" in text for text in texts)


class _ScopeNames(NamedTuple):
    """How often a function or module has each name, the names that it binds (none of a module, which every function
    sees), those that functions, lambdas and generators inside of it have, and whether it deletes or declares names."""

    counts: Counter[str]
    own: frozenset[str]
    deferred: frozenset[str]
    deletes: bool
    declares: bool


@lru_cache(maxsize=64)
def _names_of_scope(scope: Scope) -> _ScopeNames:
    nodes = list(ast.walk(scope))
    counts = Counter(node.id for node in nodes if isinstance(node, ast.Name))
    later = {inner for node in nodes if isinstance(node, _DEFERRED) and node is not scope for inner in ast.walk(node)}
    deferred = frozenset(node.id for node in later if isinstance(node, ast.Name))
    deletes = any(isinstance(node, ast.Delete) for node in nodes)
    declares = any(isinstance(node, ast.Global | ast.Nonlocal) for node in nodes)
    if isinstance(scope, ast.Module):
        return _ScopeNames(counts, frozenset(), deferred, deletes, False)
    inside = (node for statement in scope.body for node in ast.walk(statement))
    own = frozenset((*(node.arg for node in _arguments(scope)), *_bound(inside)))
    return _ScopeNames(counts, own, deferred, deletes, declares)


def _bound(nodes: Iterator[ast.AST]) -> set[str]:
    names: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.alias):
            names.add(node.asname or node.name.partition(".")[0])
        elif isinstance(node, ast.ExceptHandler) and node.name:
            names.add(node.name)
    return names


def _names_outside(region: Region) -> set[str]:
    inside = Counter(node.id for node in region.nodes() if isinstance(node, ast.Name))
    names = set(_names_of_scope(region.scope).counts - inside)
    return names if isinstance(region.scope, ast.Module) else names | {node.arg for node in _arguments(region.scope)}


def _is_assigned_first(region: Region, name: str) -> bool:
    """Whether the region gives a name a value before it reads it."""
    for statement in region.statements:
        names = [node for node in ast.walk(statement) if isinstance(node, ast.Name) and node.id == name]
        if not names:
            continue
        if isinstance(statement, ast.Assign):
            return _assigns(statement, name) and not any(isinstance(node.ctx, ast.Load) for node in names)
        if isinstance(statement, ast.With):
            items = [node for item in statement.items for node in ast.walk(item.context_expr)]
            return _assigns(statement, name) and not any(node in items for node in names)
        if isinstance(statement, ast.For):
            head = {*ast.walk(statement.iter)}
            target = any(isinstance(node, ast.Name) and node.id == name for node in ast.walk(statement.target))
            return target and not statement.orelse and not any(node in head for node in names)
        return False
    return True


def _assigns(statement: ast.stmt, name: str) -> bool:
    """Whether a name certainly has a value from a statement."""
    targets: list[ast.expr] = []
    if isinstance(statement, ast.Assign):
        targets = statement.targets
    elif isinstance(statement, ast.With):
        targets = [item.optional_vars for item in statement.items if item.optional_vars is not None]
        if any(_may_swallow(statement) for _ in targets):
            return False
    return any(
        isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id == name
        for target in targets
        for node in ast.walk(target)
    )


def _is_bound_before(region: Region, name: str) -> bool:
    """Whether a name certainly has a value where the region begins."""
    scope = region.scope
    if _names_of_scope(scope).deletes:
        return False
    if isinstance(scope, ast.FunctionDef) and any(node.arg == name for node in _arguments(scope)):
        return True
    child: ast.AST = region.statements[0]
    for parent in region.source.ancestors(child):
        for field in _BLOCKS:
            block = getattr(parent, field, None)
            if isinstance(block, list) and child in block:
                before = block[: block.index(child)]
                if any(_assigns(statement, name) for statement in before):
                    return True
        if isinstance(parent, ast.For | ast.With) and child in parent.body and _binds_in_head(parent, name):
            return True
        if parent is scope:
            return False
        child = parent
    return False


def _arguments(function: ast.FunctionDef) -> Iterator[ast.arg]:
    return (node for node in ast.walk(function.args) if isinstance(node, ast.arg))


def _binds_in_head(statement: ast.For | ast.With, name: str) -> bool:
    if isinstance(statement, ast.With):
        return _assigns(statement, name)
    return any(isinstance(node, ast.Name) and node.id == name for node in ast.walk(statement.target))
