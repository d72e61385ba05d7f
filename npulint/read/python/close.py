"""The close reading: where in calls and dict displays of several lines each argument and entry stands."""

from __future__ import annotations

import ast

import msgspec

from npulint.facts.code import Bind, Call, Code, Table

_DEEP = 8
_Place = tuple[int, int, int, int]


def read_closely(code: Code, tree: ast.Module) -> Code:
    """The facts of a source with the places of what stands in its long calls and displays."""
    calls: dict[_Place, ast.Call] = {}
    dicts: dict[tuple[int, int], ast.Dict] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and node.lineno != node.end_lineno:
            calls[_place(node)] = node
        elif isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.Dict):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                dicts[target.lineno, target.col_offset + 1] = node.value
    if not calls and not dicts:
        return code
    return msgspec.structs.replace(
        code,
        calls=[_call(call, calls) for call in code.calls] if calls else code.calls,
        binds=[_bind(bind, dicts) for bind in code.binds] if dicts else code.binds,
    )


def _call(call: Call, nodes: dict[_Place, ast.Call]) -> Call:
    node = nodes.get((call.line, call.column, call.end_line, call.end_column))
    if node is None or len(node.args) != len(call.args) or len(node.keywords) != len(call.keywords):
        return call
    spots = tuple(_place(part) for part in (*node.args, *(keyword.value for keyword in node.keywords)))
    return msgspec.structs.replace(call, spots=spots)


def _bind(bind: Bind, nodes: dict[tuple[int, int], ast.Dict]) -> Bind:
    node = nodes.get((bind.line, bind.column)) if isinstance(bind.value, Table) else None
    if node is None or not isinstance(bind.value, Table):
        return bind
    return msgspec.structs.replace(bind, value=_table(bind.value, node, 0))


def _table(table: Table, node: ast.Dict, depth: int) -> Table:
    if len(table.values) != len(node.values) or depth > _DEEP:
        return table
    values = tuple(
        _table(value, inner, depth + 1) if isinstance(value, Table) and isinstance(inner, ast.Dict) else value
        for value, inner in zip(table.values, node.values, strict=True)
    )
    return Table(table.keys, values, tuple(_place(inner) for inner in node.values))


def _place(node: ast.expr) -> _Place:
    return node.lineno, node.col_offset + 1, node.end_lineno or node.lineno, (node.end_col_offset or 0) + 1
