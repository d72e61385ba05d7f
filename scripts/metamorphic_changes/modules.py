"""Functions that are defined in a new module, or in the `__init__` of a new package, and imported from there."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import PurePosixPath

from scripts.metamorphic_changes.moving import replaced_lines
from scripts.metamorphic_changes.scopes import (
    declared_global,
    finds_names_by_text,
    global_names,
    importers,
    module_names,
    other_bindings,
    reads_frames,
)
from scripts.metamorphic_changes.source import Program, Source, Variant

_OF_MODULE = frozenset(("__name__", "__file__", "__spec__", "__package__", "__doc__", "__dict__"))


def moved_into_module(program: Program) -> Iterator[Variant]:
    """A function is in a new module next to its own, which imports it."""
    yield from _moved(program, "{}.py")


def moved_into_package(program: Program) -> Iterator[Variant]:
    """A function is in the `__init__` of a new package next to its module, which imports it."""
    yield from _moved(program, "{}/__init__.py")


def _moved(program: Program, file: str) -> Iterator[Variant]:
    name = program.new_name("moved_part")
    for source in program.sources.values():
        if finds_names_by_text(source) or reads_frames(source) or _is_patched(program, source):
            continue
        assigned = declared_global(program)
        module = _module_to_import(program, source, name)
        path = str(PurePosixPath(source.path).with_name(name)) if module else ""
        for node in source.tree.body:
            if not module or not isinstance(node, ast.FunctionDef) or not source.is_alone(node, node):
                continue
            imports = _needed_imports(source, node, assigned)
            first, last = source.lines_of(node, node)
            if imports is None or source.has_remark(first):
                continue
            text = "\n".join([*imports, *(["", ""] if imports else []), source.text(node), ""])
            edit = replaced_lines(source, first, last, f"from {module} import {node.name}\n")
            new = file.format(path)
            names = {new: source.path, name: _stem(source)}
            yield Variant(source.location(node), (edit,), {new: text}, names, splits=True)


def _stem(source: Source) -> str:
    return PurePosixPath(source.path).stem


def _is_patched(program: Program, source: Source) -> bool:
    """Whether attributes of the module may be assigned from elsewhere: the function would still see its own."""
    last = (module_names(source.path) or ("",))[0]
    assigned = (
        node
        for other in program.sources.values()
        for node in other.nodes
        if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load)
    )
    return any(ast.unparse(node.value).endswith(last) for node in assigned)


def _module_to_import(program: Program, source: Source, name: str) -> str:
    """By what name the module imports one next to it: as others import the module; empty if they do not agree."""
    stem, folder = _stem(source), PurePosixPath(source.path).parent
    own_names = module_names(source.path)
    if stem == "__init__" or not stem.isidentifier():
        return ""
    used: set[str] = set()
    for other in importers(program, source):
        used |= _prefixes(other, stem, own_names)
    siblings = any(isinstance(node, ast.ImportFrom) and node.level for node in source.nodes)
    if f"{folder}/__init__.py" in program.files or siblings:
        used.add(".")
    if len(used) > 1:
        return ""
    prefix = used.pop() if used else ""
    return f"{prefix}{name}"


def _prefixes(other: Source, stem: str, own_names: tuple[str, ...]) -> set[str]:
    """What stands before the name of the module where another module imports it: ``a.b.``, or a dot for a relative
    import."""
    prefixes: set[str] = set()
    for node in other.nodes:
        if isinstance(node, ast.Import):
            dotted = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            dotted = [node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.ImportFrom):
            last = (node.module or "").rpartition(".")[2]
            if stem in (last, *(alias.name for alias in node.names)):
                prefixes.add(".")
            continue
        else:
            continue
        prefixes |= {name[: -len(stem)] for name in dotted if name in own_names}
    return prefixes


def _needed_imports(source: Source, function: ast.FunctionDef, assigned: set[str]) -> list[str] | None:
    """The import statements for all that a function reads from its module; None if it reads anything else, or if an
    import may mean something else in another folder."""
    start, end = source.span(function)
    text = source.data[start:end].decode()
    nodes = list(ast.walk(function))
    if function.decorator_list or any(isinstance(node, ast.Global | ast.ImportFrom | ast.Import) for node in nodes):
        return None
    missing = global_names(text)
    if missing & (_OF_MODULE | assigned) or any(isinstance(node, ast.Name) and node.id in _OF_MODULE for node in nodes):
        return None
    if list(other_bindings(source.tree)).count(function.name) > 1:
        return None
    statements: list[str] = []
    stored = {n.id for n in source.nodes if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
    for node in source.tree.body[: source.tree.body.index(function)]:
        if isinstance(node, ast.ImportFrom) and (node.level or node.module == "__future__"):
            continue
        if not isinstance(node, ast.Import | ast.ImportFrom):
            continue
        names = {alias.asname or alias.name.partition(".")[0] for alias in node.names}
        if "*" in names or names & missing:
            statements.append(ast.unparse(node))
            missing -= names - stored
    return statements if not missing or _may_be_starred(statements, missing, stored, source) else None


def _may_be_starred(imports: list[str], missing: set[str], stored: set[str], source: Source) -> bool:
    """Whether the names that remain can only come from a star import of the module."""
    is_starred = any(text.endswith("import *") for text in imports)
    return is_starred and not missing & (stored | set(other_bindings(source.tree)))
