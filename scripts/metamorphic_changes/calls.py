"""Other forms of the arguments of calls of the project's own functions."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from scripts.metamorphic_changes.scopes import assigned_attributes, module_names, names_of, other_bindings
from scripts.metamorphic_changes.source import Edit, Program, Source, Variant


def keyword_arguments(program: Program) -> Iterator[Variant]:
    """Positional arguments of a function of the project are passed by their names."""
    for source, call, function, skipped in _own_calls(program):
        names = [argument.arg for argument in function.args.args][skipped:]
        if len(call.args) > len(names):
            continue
        for number in range(len(call.args)):
            edits = []
            for name, value in zip(names[number:], call.args[number:], strict=False):
                start = source.span(value)[0]
                edits.append(Edit(source.path, start, start, f"{name}="))
            if not any(isinstance(value, ast.GeneratorExp) for value in call.args):
                yield Variant(source.location(call), tuple(edits))


def reordered_keywords(program: Program) -> Iterator[Variant]:
    """Two keyword arguments of a function of the project are in the opposite order."""
    for source, call, function, _ in _own_calls(program):
        if function.args.kwarg is not None:
            continue
        for first, second in zip(call.keywords, call.keywords[1:], strict=False):
            if all(isinstance(argument.value, ast.Constant | ast.Name) for argument in (first, second)):
                edits = source.replace(first, source.text(second)), source.replace(second, source.text(first))
                yield Variant(source.location(call), edits)


def _own_calls(program: Program) -> Iterator[tuple[Source, ast.Call, ast.FunctionDef, int]]:
    """The calls of plain functions and methods of the project, with the number of parameters that they do not pass."""
    functions = {path: _own_functions(program, source) for path, source in program.sources.items()}
    methods = _own_methods(program)
    for source in program.sources.values():
        visible = {**_imported_functions(program, source, functions), **functions[source.path]}
        for call in source.nodes:
            if not isinstance(call, ast.Call) or _is_spread(call):
                continue
            if isinstance(call.func, ast.Name) and call.func.id in visible:
                yield source, call, visible[call.func.id], 0
            elif isinstance(call.func, ast.Attribute) and ast.unparse(call.func.value) == "self":
                method = methods.get(call.func.attr)
                if method is not None and source.parents.get(method) in [*source.ancestors(call)]:
                    yield source, call, method, 1


def _is_spread(call: ast.Call) -> bool:
    return any(isinstance(value, ast.Starred) for value in call.args) or any(k.arg is None for k in call.keywords)


def _is_plain_function(node: ast.stmt) -> bool:
    return isinstance(node, ast.FunctionDef) and not (node.decorator_list or node.args.vararg or node.args.posonlyargs)


def _own_functions(program: Program, source: Source) -> dict[str, ast.FunctionDef]:
    """The functions of a module that are always what their name means there."""
    bound = list(other_bindings(source.tree))
    return {
        node.name: node
        for node in source.tree.body
        if isinstance(node, ast.FunctionDef)
        and _is_plain_function(node)
        and bound.count(node.name) == 1
        and all(isinstance(name.ctx, ast.Load) for name in names_of(source, node.name))
        and not _is_assigned_as_attribute(program, node.name)
    }


def _is_assigned_as_attribute(program: Program, name: str) -> bool:
    return "setattr" in program.words or name in assigned_attributes(program)


def _imported_functions(
    program: Program, source: Source, functions: dict[str, dict[str, ast.FunctionDef]]
) -> dict[str, ast.FunctionDef]:
    imported: dict[str, ast.FunctionDef] = {}
    bound = list(other_bindings(source.tree))
    for node in source.tree.body:
        if not isinstance(node, ast.ImportFrom) or node.level:
            continue
        paths = [path for path in program.sources if node.module in module_names(path)]
        for alias in node.names if len(paths) == 1 else ():
            name = alias.asname or alias.name
            loads = all(isinstance(read.ctx, ast.Load) for read in names_of(source, name))
            if alias.name in functions[paths[0]] and bound.count(name) == 1 and loads:
                imported[name] = functions[paths[0]][alias.name]
    return imported


def _own_methods(program: Program) -> dict[str, ast.FunctionDef]:
    """The methods whose name only one definition of the project has."""
    definitions: dict[str, list[ast.FunctionDef]] = {}
    plain: dict[str, ast.FunctionDef] = {}
    for source in program.sources.values():
        for node in source.nodes:
            if isinstance(node, ast.FunctionDef):
                definitions.setdefault(node.name, []).append(node)
                if isinstance(source.parents[node], ast.ClassDef) and _is_plain_function(node):
                    plain[node.name] = node
    return {
        name: node
        for name, node in plain.items()
        if len(definitions[name]) == 1 and not _is_assigned_as_attribute(program, name)
    }
