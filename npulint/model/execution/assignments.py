"""What assignments, deletions and augmented assignments write."""

from __future__ import annotations

import ast

from npulint.model.abstract_values.value import Value
from npulint.model.execution import attributes, items
from npulint.model.execution.machine import Machine
from npulint.model.execution.names import bind, look_up, unbind


def assign(m: Machine, target: ast.expr, value: Value) -> None:
    """Execute ``target = value``."""
    if isinstance(target, ast.Name):
        bind(m, target.id, value.through(m.path, target.lineno))
    elif isinstance(target, (ast.Tuple, ast.List)):
        _unpack(m, target.elts, value)
    elif isinstance(target, ast.Attribute):
        attributes.set_value(m, m.evaluate(target.value), m.mangled(target.attr), value.through(m.path, target.lineno))
    elif isinstance(target, ast.Subscript):
        holder = m.evaluate(target.value)
        items.store_item(m, holder, m.evaluate(target.slice), value.through(m.path, target.lineno))
    elif isinstance(target, ast.Starred):
        assign(m, target.value, value)


def _unpack(m: Machine, targets: list[ast.expr], value: Value) -> None:
    content = items.listed(m, value)
    star = next((index for index, node in enumerate(targets) if isinstance(node, ast.Starred)), None)
    values = content.items
    if values is None:
        m.may_throw("ValueError")
        for target in targets:
            is_rest = isinstance(target, ast.Starred)
            assign(m, target, m.heap.sequence_of_any("list", content.each) if is_rest else content.each)
        return
    if (len(values) != len(targets)) if star is None else (len(values) < len(targets) - 1):
        m.throw_new("ValueError", "not the number of values to unpack")
    if star is None:
        for target, item in zip(targets, values, strict=True):
            assign(m, target, item)
        return
    after = len(targets) - star - 1
    rest = values[star : len(values) - after]
    parts = [*values[:star], m.heap.sequence("list", rest), *values[len(values) - after :]]
    for target, item in zip(targets, parts, strict=True):
        assign(m, target, item)


def augment(m: Machine, node: ast.AugAssign) -> None:
    """Execute ``target op= value``."""
    target = node.target
    if isinstance(target, ast.Name):
        before = look_up(m, target.id)
        bind(m, target.id, _combined(m, node, before))
    elif isinstance(target, ast.Attribute):
        holder = m.evaluate(target.value)
        before = attributes.get(m, holder, m.mangled(target.attr))
        attributes.set_value(m, holder, m.mangled(target.attr), _combined(m, node, before))
    elif isinstance(target, ast.Subscript):
        holder = m.evaluate(target.value)
        key = m.evaluate(target.slice)
        before = items.get_item(m, holder, key, target)
        items.store_item(m, holder, key, _combined(m, node, before))


def _combined(m: Machine, node: ast.AugAssign, before: Value) -> Value:
    given = m.evaluate(node.value)
    return m.augmented(node.op, before, given, node).through(m.path, node.lineno)


def delete(m: Machine, target: ast.expr) -> None:
    """Execute ``del target``."""
    if isinstance(target, ast.Name):
        unbind(m, target.id)
    elif isinstance(target, ast.Attribute):
        attributes.delete(m, m.evaluate(target.value), m.mangled(target.attr))
    elif isinstance(target, ast.Subscript):
        holder = m.evaluate(target.value)
        items.delete_item(m, holder, m.evaluate(target.slice))
    elif isinstance(target, (ast.Tuple, ast.List)):
        for part in target.elts:
            delete(m, part)
