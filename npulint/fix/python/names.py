"""Renames callees and names, and resolves the names by which a file knows modules."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from npulint.fix.model import FixRefused
from npulint.fix.python.tree import Tree, is_dotted
from npulint.judge.findings import Edit, FixStep

_SAME_MODULE = {
    "tensorflow": ("tensorflow.compat.v1", "tensorflow.compat.v2")
}  # alternative modules with the same names

Segment = tuple[str, int]
"""A segment of a dotted name, and its offset."""


def module_name(tree: Tree, module: str) -> str:
    """The dotted name by which a file knows a module; raises `FixRefused` if it has none."""
    names = {target: name for name, target in imported(tree.module)}
    for spelling in (module, *_SAME_MODULE.get(module, ())):
        if spelling in names:
            return names[spelling]
    parent, _, last = module.rpartition(".")
    while parent:
        if parent in names:
            return f"{names[parent]}.{last}"
        parent, _, part = parent.rpartition(".")
        last = f"{part}.{last}"
    raise FixRefused("module")


def imported(module: ast.Module) -> Iterator[tuple[str, str]]:
    """(name, target) of every module-level import, first ones last."""
    statements: list[ast.AST] = list(module.body)
    bindings: list[tuple[str, str]] = []
    while statements:
        node = statements.pop(0)
        if isinstance(node, ast.Import):
            bindings += [
                (a.asname or a.name.split(".")[0], a.name if a.asname else a.name.split(".")[0]) for a in node.names
            ]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            bindings += [(a.asname or a.name, f"{node.module}.{a.name}") for a in node.names if a.name != "*"]
        elif isinstance(node, ast.If | ast.Try | ast.With):
            statements[:0] = [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.stmt)]
    return reversed(bindings)


def renamed(tree: Tree, node: ast.AST, to: str) -> list[Edit]:
    """The edits that rename the callee or dotted name at a place."""
    named = node.func if isinstance(node, ast.Call) else node
    if isinstance(named, ast.Name) and not isinstance(named.ctx, ast.Load):
        raise FixRefused("name")
    if not isinstance(named, ast.Name | ast.Attribute):
        raise FixRefused("name")
    if isinstance(tree.parent(named), ast.pattern) and "." not in to:
        raise FixRefused("name")  # a plain name in a pattern is assigned
    return _whole(tree, named, to)


def _whole(tree: Tree, named: ast.expr, to: str) -> list[Edit]:
    start, end = tree.range(named)
    if tree.tokens(named).comment_in(start, end):
        raise FixRefused("comment")
    return [tree.edit(start, end, tree.apart(start, end, to))] if tree.source[start:end] != to else []


def keeps_receiver(node: ast.AST) -> bool:
    """Whether the receiver of a callee is an expression whose replacement would drop code."""
    named = node.func if isinstance(node, ast.Call) else node
    return not is_dotted(named)


# -- parts of names -------------------------------------------------------------------------------


def renamed_part(tree: Tree, node: ast.AST, step: FixStep) -> list[Edit]:
    """The edits that rename one segment of the callee, assigned name or import at a place."""
    part, to = step.words["part"].split("."), step.words["to"]
    if isinstance(node, ast.alias):
        node = tree.parent(node)
    if isinstance(node, ast.Import | ast.ImportFrom):
        return _renamed_import(tree, node, part, to)
    named: ast.AST = node
    if isinstance(node, ast.Call):
        named = node.func
    elif isinstance(node, ast.keyword | ast.NamedExpr | ast.stmt):
        raise FixRefused("name")
    segments = list(_segments(tree, named))
    matches = _found(segments, part)
    if len(matches) > 1 and isinstance(node, ast.Call) and matches[-1] + len(part) == len(segments):
        matches = matches[-1:]
    if not matches:
        return _renamed_where_imported(tree, named, part, to)
    if len(matches) > 1:
        raise FixRefused("ambiguous")
    begin, last = segments[matches[0]], segments[matches[0] + len(part) - 1]
    if matches[0] == 0 and _rooted_in_name(named) and not _bound(tree.module, to.split(".")[0]):
        raise FixRefused("module")
    start, end = begin[1], last[1] + len(last[0])
    if tree.tokens(named).comment_in(start, end):
        raise FixRefused("comment")
    return [tree.edit(start, end, to)]


def _segments(tree: Tree, node: ast.AST) -> Iterator[Segment]:
    """The segments of a dotted name in order: a, b, c for ``a.b[0].c``; those before a call are omitted."""
    segments: list[Segment] = []
    tree.tokens(node)
    while True:
        if isinstance(node, ast.Attribute):
            segments.append(_written(tree, node.attr, tree.range(node)[1] - len(node.attr)))
            node = node.value
        elif isinstance(node, ast.Subscript):
            node = node.value
        elif isinstance(node, ast.Name):
            segments.append(_written(tree, node.id, tree.range(node)[0]))
            break
        else:
            break
    return reversed(segments)


def _written(tree: Tree, name: str, start: int) -> Segment:
    if not tree.source.startswith(name, start):
        raise FixRefused("place")  # an identifier that Python normalizes (NFKC)
    return name, start


def _found(segments: list[Segment], part: list[str]) -> list[int]:
    names = [name for name, _ in segments]
    return [place for place in range(len(names) - len(part) + 1) if names[place : place + len(part)] == part]


def _rooted_in_name(node: ast.AST) -> bool:
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return isinstance(node, ast.Name)


def _bound(module: ast.Module, name: str) -> bool:
    return any(bound == name for bound, _ in imported(module))


# -- imports --------------------------------------------------------------------------------------


def _renamed_import(tree: Tree, node: ast.Import | ast.ImportFrom, part: list[str], to: str) -> list[Edit]:
    edits: list[Edit] = []
    if isinstance(node, ast.ImportFrom) and node.module:
        edits += _renamed_in(tree, _dotted_at(tree, tree.range(node)[0], node.module), part, to)
    for alias in node.names:
        segments = _dotted_at(tree, tree.range(alias)[0] - 1, alias.name) if alias.name != "*" else []
        renaming = _renamed_in(tree, segments, part, to)
        bound = alias.asname is None and segments and segments[0][1] == tree.range(alias)[0]
        if renaming and bound and segments[0][0] == part[0]:
            renaming += _uses(tree, part[0], to.split(".")[0])
        edits += renaming
    if not edits:
        raise FixRefused("no-part")
    return edits


def _renamed_where_imported(tree: Tree, named: ast.AST, part: list[str], to: str) -> list[Edit]:
    """The edits that rename a segment hidden by an import, which also affects other names of that import. Imports from
    the renamed module itself are refused if the names may be missing."""
    if not _rooted_in_name(named):
        raise FixRefused("no-part")
    root = next(name for name, _ in _segments(tree, named))
    edits: list[Edit] = []
    for _, _, node in tree.nodes:
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            path = node.module.split(".")
            if root in (alias.asname or alias.name for alias in node.names) and _holds(path, part):
                if path[-len(part) :] == part and len(node.names) > 1:
                    raise FixRefused("ambiguous")
                edits += _renamed_in(tree, _dotted_at(tree, tree.range(node)[0], node.module), part, to)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.asname == root and _holds(alias.name.split("."), part):
                    edits += _renamed_in(tree, _dotted_at(tree, tree.range(alias)[0] - 1, alias.name), part, to)
    if len(edits) != 1:
        raise FixRefused("no-part" if not edits else "ambiguous")
    return edits


def _holds(path: list[str], part: list[str]) -> bool:
    return any(path[place : place + len(part)] == part for place in range(len(path) - len(part) + 1))


def _renamed_in(tree: Tree, segments: list[Segment], part: list[str], to: str) -> list[Edit]:
    matches = _found(segments, part)
    if len(matches) > 1:
        raise FixRefused("ambiguous")
    if not matches:
        return []
    last = segments[matches[0] + len(part) - 1]
    return [tree.edit(segments[matches[0]][1], last[1] + len(last[0]), to)]


def _dotted_at(tree: Tree, place: int, name: str) -> list[Segment]:
    """The segments of a dotted name in the tokens from `place` on."""
    parts = name.split(".")
    segments: list[Segment] = []
    while len(segments) < len(parts):
        token = tree.lexed.after(place)
        text = tree.lexed.text(token)
        if not text:
            raise FixRefused("place")
        if text == parts[len(segments)]:
            segments.append((text, token[0]))
        elif segments and text != ".":
            segments = []
        place = token[1]
    return segments


def _uses(tree: Tree, name: str, to: str) -> list[Edit]:
    """The edits that rename the uses of an imported name; the file may not bind either name otherwise."""
    edits, bindings = [], 0
    for _, _, node in tree.nodes:
        if isinstance(node, ast.Name) and node.id in (name, to):
            if node.id == to or not isinstance(node.ctx, ast.Load):
                raise FixRefused("name-taken")
            tree.tokens(node)
            edits.append(tree.edit(*tree.range(node), to))
        elif isinstance(node, ast.alias):
            bound = node.asname or node.name.split(".")[0]
            bindings += bound == name
            if bound == to:
                raise FixRefused("name-taken")
        elif _binds(node) & {name, to}:
            raise FixRefused("name-taken")
    if bindings > 1:
        raise FixRefused("name-taken")
    return edits


def _binds(node: ast.AST) -> set[str]:
    """The names bound by a definition, parameter or declaration."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.ExceptHandler):
        return {node.name} if node.name else set()
    if isinstance(node, ast.arg):
        return {node.arg}
    return set(node.names) if isinstance(node, ast.Global | ast.Nonlocal) else set()
