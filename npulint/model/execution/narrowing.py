"""What a condition that holds says of the values in it."""

from __future__ import annotations

import ast
from typing import Final

from npulint.model.abstract_values.value import ABSENT, FALSE, TRUE, Obj, Value
from npulint.model.execution.machine import Dead, Exhausted, Machine
from npulint.model.execution.truth import truth

_PURE: Final = (
    ast.Name,
    ast.Attribute,
    ast.Subscript,
    ast.Constant,
    ast.Compare,
    ast.BoolOp,
    ast.UnaryOp,
    ast.BinOp,
    ast.Tuple,
    ast.List,
    ast.Set,
    ast.expr_context,
    ast.cmpop,
    ast.boolop,
    ast.unaryop,
    ast.operator,
)
_PURE_CALLS: Final = frozenset(("isinstance", "len", "bool", "hasattr", "callable", "str", "int", "float"))
_MOST = 6  # alternatives that are tried


def assume(m: Machine, test: ast.expr, holds: bool) -> None:
    """Exclude the alternatives of names and attributes with which a condition would not be `holds`."""
    parts = _conjuncts(test, holds)
    if len(parts) > 1 and not _is_pure(test):
        return  # what a later part calls may change what an earlier one has seen
    for part, value in parts:
        _narrow(m, part, value)


def _conjuncts(test: ast.expr, holds: bool) -> list[tuple[ast.expr, bool]]:
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _conjuncts(test.operand, not holds)
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) is holds:
        return [pair for part in test.values for pair in _conjuncts(part, holds)]
    return [(test, holds)]


def _narrow(m: Machine, test: ast.expr, holds: bool) -> None:
    if isinstance(test, ast.NamedExpr):
        test = test.target
    if not _is_pure(test):
        return
    places = {ast.dump(part): part for part in ast.walk(test) if isinstance(part, (ast.Name, ast.Attribute))}
    for place in places.values():
        if isinstance(place.ctx, ast.Load) and not _is_prefix(place, test):
            _narrow_place(m, place, test, holds)


def _is_pure(test: ast.expr) -> bool:
    for part in ast.walk(test):
        if isinstance(part, ast.Call):
            if not (isinstance(part.func, ast.Name) and part.func.id in _PURE_CALLS) or part.keywords:
                return False
        elif not isinstance(part, _PURE):
            return False
    return True


def _is_prefix(place: ast.expr, test: ast.expr) -> bool:
    """Whether it is only the function of a call."""
    return any(isinstance(part, ast.Call) and part.func is place for part in ast.walk(test))


def _narrow_place(m: Machine, place: ast.Name | ast.Attribute, test: ast.expr, holds: bool) -> None:
    cell = _cell(m, place)
    if cell is None:
        return
    owner, key, value = cell
    alternatives = value.alternatives
    if value.is_open and value.hint == "bool" and not alternatives and test is place:
        m.store.write(owner, key, TRUE if holds else FALSE)
        return
    if len(alternatives) + value.is_open < 2 or len(alternatives) > _MOST:
        return
    kept = [
        alternative
        for alternative in alternatives
        if alternative is ABSENT or _may_be(m, owner, key, value.of((alternative,)), test, holds)
    ]
    if len(kept) < len(alternatives) and (kept or value.is_open):
        m.store.write(owner, key, value.of(tuple(kept)))


def _may_be(m: Machine, owner: Obj, key: object, value: Value, test: ast.expr, holds: bool) -> bool:
    closed = Value(value.alternatives, False, value.reason, "", value.origin)
    guards, m.guards = m.guards, []
    regions, m.store.regions = m.store.regions, []
    ends = len(m.ends)
    base = m.store.fork()
    try:
        m.store.write(owner, key, closed)
        return truth(m, m.evaluate(test)) is not (not holds)
    except (Dead, Exhausted):
        return True
    finally:
        del m.ends[ends:]
        m.guards, m.store.regions = guards, regions
        base.pins -= 1
        m.store.resume(base)


def _cell(m: Machine, place: ast.Name | ast.Attribute) -> tuple[Obj, object, Value] | None:
    """The cell that a name or attribute is read from, with what it holds; None for others."""
    if isinstance(place, ast.Name):
        return m.cell_of_name(place.id)
    holder: Value | None
    if isinstance(place.value, ast.Name):
        cell = m.cell_of_name(place.value.id)
        holder = None if cell is None else cell[2]
    elif isinstance(place.value, ast.Attribute):
        cell = _cell(m, place.value)
        holder = None if cell is None else cell[2]
    else:
        return None
    single = None if holder is None else holder.single
    if not isinstance(single, Obj) or single.kind not in ("instance", "module") or single.many:
        return None
    value = m.heap.get(single, place.attr)
    return None if value.single is ABSENT or value.may_be_absent else (single.store, place.attr, value)
