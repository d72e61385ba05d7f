"""Statements that run in a function or a method of their own, which is called where they were."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from scripts.metamorphic_changes.regions import Interface, Region, interface, regions
from scripts.metamorphic_changes.scopes import finds_names_by_text, is_used_elsewhere, reads_frames
from scripts.metamorphic_changes.source import INDENT, Edit, Program, Source, Variant


def moved_into_function(program: Program) -> Iterator[Variant]:
    """Statements are in a function that is defined in front of them and called at once."""
    name = program.new_name("run_part")
    for region in _movable_regions(program):
        needs = interface(region, closed=True)
        if needs is not None and _leaves_nothing(program, region, needs):
            margin = region.source.margin(region.lines[0])
            call = _call(margin, name, needs)
            head = f"{margin}def {name}({', '.join(needs.inputs)}):\n"
            yield _replaced(region, head + _body(region, needs, INDENT) + call)


def moved_into_method(program: Program) -> Iterator[Variant]:
    """Statements of a method are in another method of its class, others in the method of a class of their own."""
    method, name = program.new_name("run_part"), program.new_name("Part")
    for region in _movable_regions(program):
        if _is_in_method(region):
            yield from _in_own_class(region, method)
        elif not _has_private_names(region) and "self" not in region.names(ast.Load):
            needs = interface(region, closed=True)
            if needs is not None and _leaves_nothing(program, region, needs):
                margin = region.source.margin(region.lines[0])
                head = f"{margin}class {name}:\n{margin}{INDENT}def {method}({', '.join(('self', *needs.inputs))}):\n"
                call = _call(margin, f"{name}().{method}", needs)
                yield _replaced(region, head + _body(region, needs, INDENT * 2) + call)


def _movable_regions(program: Program) -> Iterator[Region]:
    for source in program.sources.values():
        if not finds_names_by_text(source) and not reads_frames(source):
            yield from regions(source)


def _leaves_nothing(program: Program, region: Region, needs: Interface) -> bool:
    """Whether no other file reads what the module would lack: variables that remain in the function."""
    lost = set(region.names(ast.Store)) - set(needs.outputs)
    is_global = isinstance(region.scope, ast.Module)
    return not (is_global and any(is_used_elsewhere(program, region.source, name) for name in lost))


def _body(region: Region, needs: Interface, by: str) -> str:
    margin = region.source.margin(region.lines[0])
    results = f"{margin}{by}return {', '.join(needs.outputs)}\n" if needs.outputs else ""
    return f"{region.source.indented(*region.lines, by)}\n{results}"


def _call(margin: str, callee: str, needs: Interface, inputs: str | None = None) -> str:
    values = f"{', '.join(needs.outputs)} = " if needs.outputs else ""
    return f"{margin}{values}{callee}({', '.join(needs.inputs) if inputs is None else inputs})\n"


def _replaced(region: Region, text: str, *edits: Edit) -> Variant:
    return Variant(region.location, (*edits, replaced_lines(region.source, *region.lines, text)))


def replaced_lines(source: Source, first: int, last: int, text: str) -> Edit:
    """The edit that puts other whole lines in the place of some."""
    end = min(source.starts[last], len(source.data))
    return Edit(source.path, source.starts[first - 1], end, text)


def _is_in_method(region: Region) -> bool:
    function = region.scope
    parent = region.source.parents.get(function)
    return isinstance(function, ast.FunctionDef) and isinstance(parent, ast.ClassDef) and bool(function.args.args)


def _in_own_class(region: Region, name: str) -> Iterator[Variant]:
    function, source = region.scope, region.source
    assert isinstance(function, ast.FunctionDef)
    owner = function.args.args[0].arg
    needs = interface(region, closed=False)
    is_static = function.name in ("__new__", "__init_subclass__", "__class_getitem__")
    if needs is None or is_static or owner in needs.outputs or not source.is_alone(function, function):
        return
    inputs = [parameter for parameter in needs.inputs if parameter != owner]
    line = source.lines_of(function, function)[0]
    margin = source.margin(line)
    head = f"{margin}def {name}({', '.join((owner, *inputs))}):\n"
    moved = _dedented(region, needs, margin + INDENT)
    if moved is None or source.has_remark(line):
        return
    call = _call(source.margin(region.lines[0]), f"{owner}.{name}", needs, ", ".join(inputs))
    yield _replaced(region, call, source.insert(line, f"{head}{moved}\n"))


def _dedented(region: Region, needs: Interface, margin: str) -> str | None:
    """The statements with another margin and a return; None if they cannot be moved to the left by text alone."""
    old = region.source.margin(region.lines[0])
    if not old.startswith(margin):
        return None
    lines = []
    first, last = region.lines
    inside = region.source.lines_in_strings
    for number in range(first, last + 1):
        text = region.source.lines[number - 1].decode()
        is_moved = number not in inside and text.startswith(old)
        lines.append(f"{margin}{text[len(old) :]}" if is_moved else text)
    results = [f"{margin}return {', '.join(needs.outputs)}"] if needs.outputs else []
    return "\n".join([*lines, *results, ""])


def _has_private_names(region: Region) -> bool:
    """Whether the statements have names that mean something else inside of a class."""
    words = (getattr(node, "id", "") or getattr(node, "attr", "") for node in region.nodes())
    return any(word.startswith("__") and not word.endswith("__") for word in words)
