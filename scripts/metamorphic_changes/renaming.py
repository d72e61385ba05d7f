"""Other names of variables and of imported modules."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from scripts.metamorphic_changes.scopes import (
    finds_names_by_text,
    is_plain,
    is_used_elsewhere,
    names_in_formats,
    names_of,
    other_bindings,
    scope_of,
    text_constants,
)
from scripts.metamorphic_changes.source import Edit, Program, Source, Variant


def renamed_variable(program: Program) -> Iterator[Variant]:
    """A variable of a function, or one of a module that no other file reads, has another name."""
    for source in program.sources.values():
        if finds_names_by_text(source):
            continue
        functions = [node for node in source.nodes if isinstance(node, ast.FunctionDef) and is_plain(source, node)]
        scopes: list[ast.Module | ast.FunctionDef] = [source.tree, *functions]
        for scope in scopes:
            for name in _variables(program, source, scope):
                yield _renamed(program, source, name, names_of(source, name, scope), "other_variable")


def _variables(program: Program, source: Source, scope: ast.Module | ast.FunctionDef) -> Iterator[str]:
    stored = [node for node in ast.walk(scope) if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)]
    bound = set(other_bindings(scope))
    formats, texts = names_in_formats(source), text_constants(source)
    for name in dict.fromkeys(node.id for node in stored):
        own = all(
            isinstance(node.ctx, ast.Store) and scope_of(source, node) is scope for node in stored if node.id == name
        )
        if not own or name in bound or name in formats or (name.startswith("__") and name.endswith("__")):
            continue
        if isinstance(scope, ast.FunctionDef):
            if not _is_in_head(scope, name):
                yield name
        elif name not in texts and not is_used_elsewhere(program, source, name):
            yield name


def _is_in_head(function: ast.FunctionDef, name: str) -> bool:
    """Whether a name is read outside of the body: by a default value, a decorator or an annotation."""
    inside = {node for statement in function.body for node in ast.walk(statement)}
    return any(isinstance(node, ast.Name) and node.id == name and node not in inside for node in ast.walk(function))


def _renamed(program: Program, source: Source, name: str, nodes: list[ast.Name], new: str, *edits: Edit) -> Variant:
    new = program.new_name(new)
    location = f"{source.path}:{min(node.lineno for node in nodes)}"
    return Variant(location, (*(source.replace(node, new) for node in nodes), *edits), names={new: name})


def renamed_import(program: Program) -> Iterator[Variant]:
    """An imported module, function or class has another name in the module that imports it."""
    for source in program.sources.values():
        if finds_names_by_text(source):
            continue
        bound = list(other_bindings(source.tree))
        texts, formats = text_constants(source), names_in_formats(source)
        for node in source.tree.body:
            if not isinstance(node, ast.Import | ast.ImportFrom) or _is_future(node):
                continue
            for alias in node.names:
                name = alias.asname or alias.name
                if name == "*" or "." in name or bound.count(name) > 1 or name in texts | formats:
                    continue
                nodes = names_of(source, name)
                loads = all(isinstance(read.ctx, ast.Load) for read in nodes)
                if nodes and loads and not is_used_elsewhere(program, source, name):
                    new = program.new_name("other_import")
                    edit = Edit(source.path, *source.span(alias), f"{alias.name} as {new}")
                    yield _renamed(program, source, name, nodes, "other_import", edit)


def _is_future(node: ast.Import | ast.ImportFrom) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"
