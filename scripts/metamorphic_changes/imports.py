"""Other orders and other forms of imports."""

from __future__ import annotations

import ast
import builtins
import keyword
import sys
from collections.abc import Iterator

from scripts.metamorphic_changes.scopes import (
    assigned_attributes,
    declared_global,
    finds_names_by_text,
    is_used_elsewhere,
    module_names,
    names_in_formats,
    names_of,
    other_bindings,
    text_constants,
)
from scripts.metamorphic_changes.source import Edit, Program, Source, Variant

_IMPORTS = (ast.Import, ast.ImportFrom)
_INDEPENDENT = frozenset((*sys.stdlib_module_names, "numpy", "yaml", "tqdm")) - {"__future__", "this", "antigravity"}
"""Modules whose import changes nothing that another import depends on."""
_MODULES_AS_NAMES = frozenset(("PIL", "matplotlib"))
"""Packages with modules in capitals, or modules that must be imported by their own name."""
_VARYING = frozenset(("sys", "signal", "warnings"))
"""Modules with attributes that programs and interpreters replace."""


def reordered_imports(program: Program) -> Iterator[Variant]:
    """Two imports that stand together, at least one of them of the standard library, are in the opposite order."""
    own = {names[0] for path in program.sources if (names := module_names(path))}
    for source in program.sources.values():
        for first, second in zip(source.tree.body, source.tree.body[1:], strict=False):
            if not isinstance(first, _IMPORTS) or not isinstance(second, _IMPORTS):
                continue
            is_alone = source.is_alone(first, first) and source.is_alone(second, second)
            if is_alone and _are_independent(first, second, own):
                swapped = source.replace(first, source.text(second)), source.replace(second, source.text(first))
                yield Variant(source.location(first), swapped)


def _are_independent(first: ast.Import | ast.ImportFrom, second: ast.Import | ast.ImportFrom, own: set[str]) -> bool:
    modules = [_modules(first), _modules(second)]
    names, others = set(other_bindings(first)), set(other_bindings(second))
    is_future = any("__future__" in group for group in modules)
    is_harmless = any(group <= _INDEPENDENT - own for group in modules)
    return is_harmless and not is_future and not names & others and "*" not in names | others


def _modules(node: ast.Import | ast.ImportFrom) -> set[str]:
    """The packages that a statement imports; a dot for those of its own folder."""
    if isinstance(node, ast.ImportFrom):
        return {"." if node.level else (node.module or "").partition(".")[0]}
    return {alias.name.partition(".")[0] for alias in node.names}


def imported_by_name(program: Program) -> Iterator[Variant]:
    """An attribute of an imported module is imported itself: ``from x import y`` and ``y`` for ``x.y``."""
    for source in _writable_sources(program):
        bound = list(other_bindings(source.tree))
        for node in source.tree.body:
            if not isinstance(node, ast.Import) or not source.is_alone(node, node):
                continue
            for alias in node.names:
                name = alias.asname or alias.name
                if "." in name or bound.count(name) > 1 or alias.name in _VARYING:
                    continue
                yield from _attributes_imported(program, source, node, alias, name)


def _writable_sources(program: Program) -> Iterator[Source]:
    """The modules whose names can be imported in another form: not those whose imports replace attributes of others."""
    replacing = any("transfer_to_npu" in source.words for source in program.sources.values())
    if not replacing:
        yield from (source for source in program.sources.values() if not finds_names_by_text(source))


def _attributes_imported(
    program: Program, source: Source, node: ast.Import, alias: ast.alias, name: str
) -> Iterator[Variant]:
    uses: dict[str, list[ast.Attribute]] = {}
    for read in names_of(source, name):
        parent = source.parents[read]
        if not isinstance(read.ctx, ast.Load) or not isinstance(parent, ast.Attribute):
            return  # the module itself is a value
        uses.setdefault(parent.attr, []).append(parent)
    total = sum(len(nodes) for nodes in uses.values())
    if name in names_in_formats(source):
        return
    for attribute, nodes in uses.items():
        if not _may_be_name(program, source, alias.name, attribute):
            continue
        edits = [source.replace(use, attribute) for use in nodes]
        imported = f"from {alias.name} import {attribute}"
        if len(nodes) == total and len(node.names) == 1 and not is_used_elsewhere(program, source, name):
            edits.append(source.replace(node, imported))
        else:
            assert node.end_lineno is not None
            edits.append(source.insert(node.end_lineno + 1, f"{imported}\n"))
        spellings = (alias.name, name)  # messages quote what is written
        names = {text: attribute for module in spellings for text in (module, f"{module}.{attribute}")}
        yield Variant(source.location(node), tuple(edits), names=names)


def _may_be_name(program: Program, source: Source, module: str, attribute: str) -> bool:
    """Whether an attribute of a module is the same whenever it is read, and its name free for a variable."""
    words = [node.id for node in source.nodes if isinstance(node, ast.Name)]
    is_free = attribute not in words and attribute not in other_bindings(source.tree)
    is_name = not keyword.iskeyword(attribute) and not hasattr(builtins, attribute)
    return is_free and is_name and not _is_private(attribute) and _is_constant(program, module, attribute)


def _is_private(name: str) -> bool:
    return name.startswith("__")


def _is_constant(program: Program, module: str, attribute: str) -> bool:
    """Whether no file assigns the attribute; in a module of the project only functions and classes are constant."""
    if "setattr" in program.words or attribute in {*declared_global(program), *assigned_attributes(program)}:
        return False
    own = [source for path, source in program.sources.items() if module in module_names(path)]
    return not own or all(_defines_once(source, attribute) for source in own)


def _defines_once(source: Source, name: str) -> bool:
    defined = [n for n in source.tree.body if isinstance(n, ast.FunctionDef | ast.ClassDef) and n.name == name]
    stored = [n for n in names_of(source, name) if not isinstance(n.ctx, ast.Load)]
    return len(defined) == 1 and not stored and list(other_bindings(source.tree)).count(name) == 1


def imported_as_module(program: Program) -> Iterator[Variant]:
    """What was imported by its name is read from the imported module: ``import x`` and ``x.y`` for ``y``."""
    for source in _writable_sources(program):
        bound, texts, formats = list(other_bindings(source.tree)), text_constants(source), names_in_formats(source)
        for node in source.tree.body:
            if not isinstance(node, ast.ImportFrom) or node.level or not node.module or not source.is_alone(node, node):
                continue
            for alias in node.names:
                name = alias.asname or alias.name
                nodes = names_of(source, name)
                is_plain = name != "*" and bound.count(name) == 1 and name not in texts | formats and bool(nodes)
                if not is_plain or not _is_attribute(node.module, alias.name, source, nodes):
                    continue
                if not _is_constant(program, node.module, alias.name) or is_used_elsewhere(program, source, name):
                    continue
                if _is_module_name_free(source, node.module):
                    yield _as_module(source, node, alias, nodes)


def _is_attribute(module: str, attribute: str, source: Source, nodes: list[ast.Name]) -> bool:
    """Whether an imported name is certainly no module, which would not be imported with the one around it."""
    package = module.partition(".")[0]
    if package in _MODULES_AS_NAMES or package == "__future__" or package in _VARYING:
        return False
    called = all(isinstance(call := source.parents[node], ast.Call) and call.func is node for node in nodes)
    loaded = all(isinstance(node.ctx, ast.Load) for node in nodes)
    return loaded and (called or attribute[:1].isupper())


def _is_module_name_free(source: Source, module: str) -> bool:
    """Whether the first part of a dotted name means the package of that name, or nothing, in a module."""
    head = module.partition(".")[0]
    for node in source.nodes:
        if isinstance(node, ast.Import):
            names = [(alias.asname or alias.name.partition(".")[0], alias.asname) for alias in node.names]
            if any(name == head and asname for name, asname in names):
                return False
    others = [node for node in source.nodes if not isinstance(node, ast.Import)]
    bound = {name for node in others for name in _bound_by(node)}
    return head not in bound


def _bound_by(node: ast.AST) -> set[str]:
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        return {node.id}
    if isinstance(node, ast.ImportFrom):
        return {alias.asname or alias.name for alias in node.names}
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {node.name}
    if isinstance(node, ast.Global | ast.Nonlocal):
        return set(node.names)
    if isinstance(node, ast.ExceptHandler) and node.name:
        return {node.name}
    return {node.arg} if isinstance(node, ast.arg) else set()


def _as_module(source: Source, node: ast.ImportFrom, alias: ast.alias, nodes: list[ast.Name]) -> Variant:
    edits: list[Edit] = [source.replace(name, f"{node.module}.{alias.name}") for name in nodes]
    rest = [other for other in node.names if other is not alias]
    statement = f"import {node.module}"
    if rest:
        listed = ", ".join(f"{other.name} as {other.asname}" if other.asname else other.name for other in rest)
        statement = f"from {node.module} import {listed}\n{statement}"
    edits.append(source.replace(node, statement))
    module = node.module or ""
    names = dict.fromkeys((module, f"{module}.{alias.name}", alias.asname or alias.name), alias.name)
    return Variant(source.location(node), tuple(edits), names=names)
