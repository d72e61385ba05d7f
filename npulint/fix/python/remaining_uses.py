"""Detects names that are used but no longer bound after a fix."""

from __future__ import annotations

import ast
import symtable
from functools import lru_cache

import msgspec

from npulint.fix.model import FixRefused, Plan, Text
from npulint.fix.python.tree import Range, Tree, parsed, tree_of
from npulint.fix.source import edited_text

_OWN = ("self", "cls")
_SCOPES = (
    *(ast.Module, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda),
    *(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp),
)
_Binding = tuple[ast.AST | None, str]
_NOTHING: _Binding = (None, "")


class _Names(msgspec.Struct):
    """The names of a file: those that it binds and uses anywhere, the attributes of its own objects that it binds and
    uses, and the names that no scope of it binds although it is used there (None: unknown)."""

    bound: set[str]
    used: set[str]
    attributes: set[str]
    used_attributes: set[str]
    unbound: set[str] | None


def still_bound(text: Text, plan: Plan) -> None:
    """Raise `FixRefused` if a fix removes the binding of a name that the file still uses."""
    tree = tree_of(text)
    ranges = [tree.offsets(edit.span) for edit in plan.edits]
    if not _takes_last_binding(text, tree, ranges):
        return
    changed = edited_text(text.text, plan.edits)
    before = _names_of(text)
    try:
        after = _names(parsed(changed), changed)
    except FixRefused:
        raise FixRefused("broken") from None
    imported: set[str] = set()
    for request in plan.imports:
        imported |= _names(parsed(request.statement), request.statement).bound
    lost = (before.bound - after.bound - imported) & after.used
    lost |= (before.attributes - after.attributes) & after.used_attributes
    if before.unbound is not None and after.unbound is not None:
        lost |= (after.unbound - before.unbound - imported) & before.bound
    if lost:
        raise FixRefused("still-used")


def _takes_last_binding(text: Text, tree: Tree, ranges: list[Range]) -> bool:
    """Whether a change of some ranges concerns all bindings of a name in its scope. The cheaper question: most of what
    is changed stands in a scope that binds the name again."""
    places = _bindings(text)
    for start, end, node in tree.nodes:
        if _meets(start, end, ranges):
            of_name = places.get(_binding(tree, node), ())
            if of_name and all(_meets(*place, ranges) for place in of_name):
                return True
    return False


@lru_cache(maxsize=8)
def _bindings(text: Text) -> dict[_Binding, list[Range]]:
    """The ranges of the nodes that bind a name in a scope."""
    tree = tree_of(text)
    bindings: dict[_Binding, list[Range]] = {}
    for start, end, node in tree.nodes:
        binding = _binding(tree, node)
        if binding != _NOTHING:
            bindings.setdefault(binding, []).append((start, end))
    return bindings


def _binding(tree: Tree, node: ast.AST) -> _Binding:
    """The scope and the name that a node binds in it, of an attribute with its object."""
    name = ""
    if isinstance(node, ast.Name):
        name = node.id if isinstance(node.ctx, ast.Store) else ""
    elif isinstance(node, ast.Attribute):
        own = isinstance(node.ctx, ast.Store) and isinstance(node.value, ast.Name)
        name = ast.unparse(node) if own else ""
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        name = node.name
    elif isinstance(node, ast.alias):
        name = node.asname or node.name.partition(".")[0]
    if not name:
        return _NOTHING
    around = tree.parent(node)
    while not isinstance(around, _SCOPES):
        around = tree.parent(around)
    return around, name


@lru_cache(maxsize=8)
def _names_of(text: Text) -> _Names:
    return _names(tree_of(text).module, text.text)


def _meets(start: int, end: int, ranges: list[Range]) -> bool:
    return any(first < end and start < last for first, last in ranges if first < last)


def _names(module: ast.Module, text: str) -> _Names:
    names = _Names(set(), set(), set(), set(), _unbound(text))
    for node in ast.walk(module):
        if isinstance(node, ast.Name):
            (names.used if isinstance(node.ctx, ast.Load) else names.bound).add(node.id)
        elif isinstance(node, ast.Attribute):
            if isinstance(node.value, ast.Name) and node.value.id in _OWN:
                (names.used_attributes if isinstance(node.ctx, ast.Load) else names.attributes).add(node.attr)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.bound.add(node.name)
            if isinstance(node, ast.ClassDef):
                names.attributes |= _members(node)
        elif isinstance(node, ast.arg):
            names.bound.add(node.arg)
        elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
            names.bound.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names.bound |= {alias.asname or alias.name.split(".")[0] for alias in node.names}
    return names


def _members(node: ast.ClassDef) -> set[str]:
    """The names that the body of a class binds."""
    named = {
        statement.name
        for statement in node.body
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    }
    simple = (
        part
        for statement in node.body
        if isinstance(statement, ast.Assign | ast.AnnAssign)
        for part in ast.walk(statement)
    )
    return named | {part.id for part in simple if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load)}


def _unbound(text: str) -> set[str] | None:
    """The names that are used where no scope binds them, such as builtins; None if the scopes are invalid."""
    try:
        module = symtable.symtable(text, "module", "exec")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    used: set[str] = set()
    assigned = {symbol.get_name() for symbol in module.get_symbols() if _is_bound(symbol)}
    waiting = [module]
    while waiting:
        scope = waiting.pop()
        waiting += scope.get_children()
        for symbol in scope.get_symbols():
            if scope is not module and symbol.is_declared_global() and symbol.is_assigned():
                assigned.add(symbol.get_name())
            if symbol.is_referenced() and (symbol.is_global() or (scope is module and not _is_bound(symbol))):
                used.add(symbol.get_name())
    return used - assigned


def _is_bound(symbol: symtable.Symbol) -> bool:
    return symbol.is_assigned() or symbol.is_imported() or symbol.is_namespace()
