"""Values that are given a name first, or that are written where their name was."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from scripts.metamorphic_changes.regions import Region, regions
from scripts.metamorphic_changes.scopes import (
    declared_global,
    finds_names_by_text,
    is_used_elsewhere,
    names_in_formats,
    names_of,
    other_bindings,
    scope_of,
)
from scripts.metamorphic_changes.source import Edit, Program, Source, Variant

_VALUED = (ast.Assign, ast.Return, ast.Expr)
_NO_VALUE = (ast.Starred, ast.GeneratorExp, ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)
_LATER = (
    *(ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp),
    *(ast.IfExp, ast.BoolOp, ast.NamedExpr, ast.JoinedStr, ast.Compare),
)
"""Expressions that may evaluate a part of them later, several times, or not at all."""


def split_assignment(program: Program) -> Iterator[Variant]:
    """An argument of a call is assigned to a variable in front of the statement."""
    name, varying = program.new_name("argument"), declared_global(program)
    for region in _single_statements(program):
        source, statement = region.source, region.statements[0]
        call = statement.value if isinstance(statement, _VALUED) else None
        line = region.lines[0]
        if not isinstance(call, ast.Call) or not _is_dotted(call.func) or source.has_remark(line):
            continue
        for value in _first_values(call, varying):
            assignment = source.insert(line, f"{source.margin(line)}{name} = {_in_parentheses(source.text(value))}\n")
            yield Variant(region.location, (assignment, source.replace(value, name)))


def _single_statements(program: Program) -> Iterator[Region]:
    """Statements one by one, without those of regions that other changes leave alone."""
    for source in program.sources.values():
        if not finds_names_by_text(source):
            yield from (region for region in regions(source) if len(region.statements) == 1)


def _is_dotted(node: ast.expr) -> bool:
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


def _first_values(call: ast.Call, varying: set[str]) -> Iterator[ast.expr]:
    """The arguments before which nothing is evaluated but constants, and names whose values do not change."""
    for value in [*call.args, *(keyword.value for keyword in call.keywords)]:
        if not any(isinstance(node, _NO_VALUE) for node in ast.walk(value)):
            yield value
        if not _is_stable(value, varying) or any(keyword.arg is None for keyword in call.keywords):
            return


def _in_parentheses(text: str) -> str:
    return f"({text})" if "\n" in text or "," in text else text


def inlined_variable(program: Program) -> Iterator[Variant]:
    """A variable that is assigned once and read once, in the next statement, is replaced by its value."""
    varying = declared_global(program)
    for region in _single_statements(program):
        source, assignment = region.source, region.statements[0]
        position = region.start + 1
        if not isinstance(assignment, ast.Assign) or position >= len(region.block):
            continue
        following = region.block[position]
        name = _only_target(program, region, assignment)
        reads = [node for node in ast.walk(following) if isinstance(node, ast.Name) and node.id == name]
        if not name or len(reads) != 1 or not isinstance(following, _VALUED):
            continue
        edit = _inlined(source, assignment, following, reads[0], varying)
        line = region.lines[0]
        if edit is not None and not source.has_remark(line) and not source.has_remark(line + 1):
            yield Variant(region.location, edit)


def _only_target(program: Program, region: Region, assignment: ast.Assign) -> str:
    """The name that a statement binds; empty unless nothing else binds it and one other node reads it."""
    target = assignment.targets[0]
    source, scope = region.source, region.scope
    if len(assignment.targets) > 1 or not isinstance(target, ast.Name) or scope_of(source, target) is not scope:
        return ""
    name = target.id
    is_global = isinstance(scope, ast.Module)
    if len(names_of(source, name, scope)) != 2 or name in {*other_bindings(scope), *names_in_formats(source)}:
        return ""
    return "" if is_global and is_used_elsewhere(program, source, name) else name


def _inlined(
    source: Source, assignment: ast.Assign, following: ast.stmt, read: ast.Name, varying: set[str]
) -> tuple[Edit, ...] | None:
    value = assignment.value
    if any(isinstance(node, _NO_VALUE) and not isinstance(node, ast.GeneratorExp) for node in ast.walk(value)):
        return None
    if not isinstance(read.ctx, ast.Load) or not _is_evaluated_first(source, following, read, varying):
        return None
    if b"#" in source.data[source.span(assignment)[1] : source.span(following)[0]]:
        return None
    removed = Edit(source.path, source.span(assignment)[0], source.span(following)[0], "")
    return removed, source.replace(read, f"({source.text(value)})")


def _is_evaluated_first(source: Source, statement: ast.stmt, read: ast.Name, varying: set[str]) -> bool:
    """Whether a statement evaluates nothing before a name but constants, stable names and functions of libraries."""
    child: ast.AST = read
    for parent in source.ancestors(read):
        if isinstance(parent, ast.Assign) and child in parent.targets:
            return child is parent.targets[0] and _is_stable(parent.value, varying)  # the value is evaluated first
        if parent is statement:
            return True
        if isinstance(parent, _LATER):
            return False
        order = _evaluated(parent)
        before = order[: order.index(child)]
        if isinstance(parent, ast.Call) and before and _is_library(source, parent.func):
            before = before[1:]
        if not all(_is_stable(node, varying) for node in before):
            return False
        child = parent
    return False


def _is_stable(node: ast.AST, varying: set[str]) -> bool:
    """Whether an expression is the same whenever it is evaluated."""
    value = node.value if isinstance(node, ast.keyword) else node
    return isinstance(value, ast.Constant) or (isinstance(value, ast.Name) and value.id not in varying)


def _evaluated(node: ast.AST) -> list[ast.AST]:
    """The parts of an expression in the order in which they are evaluated."""
    if isinstance(node, ast.Dict):
        pairs = zip(node.keys, node.values, strict=True)
        return [part for pair in pairs for part in pair if part is not None]
    return [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr | ast.keyword)]


def _is_library(source: Source, function: ast.expr) -> bool:
    """Whether a function is an attribute of an imported module, by its dotted name."""
    node = function
    while isinstance(node, ast.Attribute):
        node = node.value
    imported = {
        alias.asname or alias.name.partition(".")[0]
        for statement in source.tree.body
        if isinstance(statement, ast.Import)
        for alias in statement.names
    }
    return isinstance(node, ast.Name) and node.id in imported
