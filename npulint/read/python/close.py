"""Adds spans of arguments and dict entries in calls and displays of several lines."""

from __future__ import annotations

import ast

import msgspec

from npulint.facts.code import Assignment, Call, Code, Return, SequenceDisplay, Table, Value

_DEEP = 8
_DISPLAYS = (ast.Dict, ast.List, ast.Tuple)
_Place = tuple[int, int, int, int]


def read_closely(code: Code, tree: ast.Module) -> Code:
    """The facts of a source with spans for the arguments of long calls and the entries of dict displays."""
    calls: dict[_Place, ast.Call] = {}
    assigned: dict[tuple[int, int], ast.expr] = {}
    returned: dict[int, ast.expr] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            if node.lineno != node.end_lineno:
                calls[_place(node)] = node
        elif isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, _DISPLAYS):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                assigned[target.lineno, target.col_offset + 1] = node.value
        elif isinstance(node, ast.Return) and isinstance(node.value, _DISPLAYS):
            returned[node.lineno] = node.value
    return msgspec.structs.replace(
        code,
        calls=[_call(call, calls) for call in code.calls] if calls else code.calls,
        assignments=[_bind(bind, assigned) for bind in code.assignments] if assigned else code.assignments,
        returns=[_return(return_record, returned) for return_record in code.returns] if returned else code.returns,
    )


def _call(call: Call, nodes: dict[_Place, ast.Call]) -> Call:
    node = nodes.get((call.line, call.column, call.end_line, call.end_column))
    if node is None or len(node.args) != len(call.args) or len(node.keywords) != len(call.keywords):
        return call
    keyword_values = [keyword.value for keyword in node.keywords]
    return msgspec.structs.replace(
        call,
        args=tuple(_placed(value, part, 0) for value, part in zip(call.args, node.args, strict=True)),
        keywords=tuple((k, _placed(v, part, 0)) for (k, v), part in zip(call.keywords, keyword_values, strict=True)),
        argument_spans=tuple(_place(part) for part in (*node.args, *keyword_values)),
    )


def _bind(bind: Assignment, nodes: dict[tuple[int, int], ast.expr]) -> Assignment:
    node = nodes.get((bind.line, bind.column))
    return bind if node is None else msgspec.structs.replace(bind, value=_placed(bind.value, node, 0))


def _return(return_record: Return, nodes: dict[int, ast.expr]) -> Return:
    node = nodes.get(return_record.line)
    return (
        return_record
        if node is None
        else msgspec.structs.replace(return_record, value=_placed(return_record.value, node, 0))
    )


def _placed(value: Value, node: ast.expr, depth: int) -> Value:
    """A display with the spans of the entries of the dict displays in it."""
    if depth > _DEEP:
        return value
    if (
        isinstance(value, SequenceDisplay)
        and isinstance(node, ast.List | ast.Tuple)
        and len(value.items) == len(node.elts)
    ):
        items = zip(value.items, node.elts, strict=True)
        return SequenceDisplay(tuple(_placed(item, inner, depth + 1) for item, inner in items))
    if isinstance(value, Table) and isinstance(node, ast.Dict) and len(value.values) == len(node.values):
        values = zip(value.values, node.values, strict=True)
        return Table(
            value.keys,
            tuple(_placed(item, inner, depth + 1) for item, inner in values),
            tuple(_place(inner) for inner in node.values),
        )
    return value


def _place(node: ast.expr) -> _Place:
    return node.lineno, node.col_offset + 1, node.end_lineno or node.lineno, (node.end_col_offset or 0) + 1
