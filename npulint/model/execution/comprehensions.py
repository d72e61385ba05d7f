"""Comprehensions and generator expressions."""

from __future__ import annotations

import ast
from collections.abc import Callable

from npulint.model.abstract_values.value import UNKNOWN, Obj, Value
from npulint.model.execution import items
from npulint.model.execution.assignments import assign
from npulint.model.execution.machine import Frame, Machine
from npulint.model.execution.narrowing import assume
from npulint.model.execution.scopes import ComprehensionNode, comprehension_scope
from npulint.model.execution.truth import truth


def of_list(m: Machine, node: ast.ListComp) -> Value:
    """The value of a list comprehension."""
    made, owner = _empty(m, "list", node)
    _run(m, node, lambda: items.append(m, owner, m.evaluate(node.elt)))
    return made


def of_set(m: Machine, node: ast.SetComp) -> Value:
    """The value of a set comprehension."""
    made, owner = _empty(m, "set", node)
    _run(m, node, lambda: items.add(m, owner, m.evaluate(node.elt)))
    return made


def of_dict(m: Machine, node: ast.DictComp) -> Value:
    """The value of a dict comprehension."""
    made, owner = _empty(m, "dict", node)

    def add() -> None:
        key = m.evaluate(node.key)
        items.set_item(m, owner, key, m.evaluate(node.value))

    _run(m, node, add)
    return made


def of_generator(m: Machine, node: ast.GeneratorExp) -> Value:
    """A generator; its first iterable is evaluated now, the rest when it is consumed."""
    m.frame.capture()
    frame = _frame(m, node)
    source = m.evaluate(node.generators[0].iter)
    m.heap.put(frame.locals, ".0", source)
    return Value((m.heap.make("generator", "<genexpr>", data=frame),))


def run_generator_expression(m: Machine, frame: Frame) -> None:
    """Execute a generator expression whose consumer is set."""
    node = frame.node
    assert isinstance(node, ast.GeneratorExp) and frame.consume is not None
    consume = frame.consume
    outer, m.frame = m.frame, frame
    try:
        _level(m, node, 0, m.heap.get(frame.locals, ".0"), lambda: consume(m.evaluate(node.elt)))
    finally:
        m.frame = outer


def _empty(m: Machine, kind: str, node: ast.AST) -> tuple[Value, Obj]:
    made = m.heap.sequence(kind, (), node) if kind == "list" else m.heap.mapping((), kind, node)
    owner = made.single
    assert isinstance(owner, Obj)
    return made, owner


def _frame(m: Machine, node: ComprehensionNode) -> Frame:
    scope = m.scopes.get(node)
    if scope is None:
        scope = m.scopes[node] = comprehension_scope(node)
    return Frame(m.frame.module, scope, m.heap.make("frame", "<comprehension>"), m.frame, node)


def _run(m: Machine, node: ComprehensionNode, add: Callable[[], object]) -> None:
    source = m.evaluate(node.generators[0].iter)
    outer, m.frame = m.frame, _frame(m, node)
    m.frame.loops = outer.loops
    m.frame.returns = outer.returns
    try:
        _level(m, node, 0, source, add)
    finally:
        m.frame = outer


def _level(m: Machine, node: ComprehensionNode, level: int, source: Value, add: Callable[[], object]) -> None:
    generator = node.generators[level]

    def take(item: Value) -> None:
        assign(m, generator.target, item)
        _conditions(m, generator.ifs, 0, inner)

    def inner() -> None:
        if level + 1 == len(node.generators):
            add()
        else:
            _level(m, node, level + 1, m.evaluate(node.generators[level + 1].iter), add)

    items.iterate(m, source, take)


def _conditions(m: Machine, tests: list[ast.expr], index: int, inner: Callable[[], None]) -> None:
    if index == len(tests):
        inner()
        return
    test = tests[index]
    answer = truth(m, m.evaluate(test))
    if answer:
        _conditions(m, tests, index + 1, inner)
    elif answer is None:

        def held() -> Value:
            assume(m, test, True)
            _conditions(m, tests, index + 1, inner)
            return UNKNOWN

        m.maybe(held)
