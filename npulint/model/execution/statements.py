"""Executes statements: branches, loops, and what ends a path."""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Callable, Sequence
from typing import Any, Final

from npulint.model.abstract_values.value import NONE, Value
from npulint.model.execution import classes, exceptions, items, modules, patterns
from npulint.model.execution.assignments import assign, augment, delete
from npulint.model.execution.calls import make_function
from npulint.model.execution.loops import Turns, leave, repeat
from npulint.model.execution.machine import Arguments, Dead, Loop, Machine
from npulint.model.execution.names import bind
from npulint.model.execution.narrowing import assume
from npulint.model.execution.truth import truth

_MOST_TURNS = 300  # of a loop that are executed one by one
_MOST_EARLY_ENDS = 24


def execute(m: Machine, body: Sequence[ast.stmt]) -> None:
    """Execute statements in order. Raises `Dead` where none goes on to what follows."""
    for statement in body:
        m.step()
        _HANDLERS[statement.__class__](m, statement)


def _nothing(m: Machine, node: ast.stmt) -> None:
    return None


def _expression(m: Machine, node: ast.Expr) -> None:
    m.evaluate(node.value)


def _assign(m: Machine, node: ast.Assign) -> None:
    value = m.evaluate(node.value)
    for target in node.targets:
        assign(m, target, value)


def _annotated(m: Machine, node: ast.AnnAssign) -> None:
    if m.frame.scope.is_class and isinstance(node.target, ast.Name):
        classes.annotate(m, node.target.id, node.annotation)
    if node.value is not None:
        assign(m, node.target, m.evaluate(node.value))


def _delete(m: Machine, node: ast.Delete) -> None:
    for target in node.targets:
        delete(m, target)


def _define(m: Machine, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    decorators = [m.evaluate(decorator) for decorator in node.decorator_list]
    made = make_function(m, node, node.name)
    for decorator in reversed(decorators):
        made = m.call(decorator, Arguments([made]), node)
    bind(m, node.name, made)


def _define_class(m: Machine, node: ast.ClassDef) -> None:
    decorators = [m.evaluate(decorator) for decorator in node.decorator_list]
    made = classes.make_class(m, node)
    for decorator in reversed(decorators):
        made = m.call(decorator, Arguments([made]), node)
    bind(m, node.name, made)


# -- branches


def _if(m: Machine, node: ast.If) -> None:
    answer = truth(m, m.evaluate(node.test))
    if answer is not None:
        execute(m, node.body if answer else node.orelse)
        return

    def taken(holds: bool) -> None:
        assume(m, node.test, holds)
        execute(m, node.body if holds else node.orelse)

    m.branch([lambda: taken(True), lambda: taken(False)])


def _assert(m: Machine, node: ast.Assert) -> None:
    answer = truth(m, m.evaluate(node.test))
    if answer:
        return
    if answer is False:
        m.throw(m.exception("AssertionError", [] if node.msg is None else [m.evaluate(node.msg)]))
    m.may_throw("AssertionError")
    assume(m, node.test, True)


def _match(m: Machine, node: ast.Match) -> None:
    _match_from(m, node, m.evaluate(node.subject), 0)


def _match_from(m: Machine, node: ast.Match, subject: Value, index: int) -> None:
    if index == len(node.cases):
        return
    case = node.cases[index]
    captures: patterns.Captures = {}
    answer = patterns.matches(m, case.pattern, subject, captures)
    if answer is False:
        _match_from(m, node, subject, index + 1)
        return

    def guarded(matched: bool | None) -> None:
        patterns.bind_all(m, captures)
        held = matched if case.guard is None else truth(m, m.evaluate(case.guard))
        if case.guard is None or held:
            execute(m, case.body)
        elif held is False:
            _match_from(m, node, subject, index + 1)
        else:
            m.branch([lambda: execute(m, case.body), lambda: _match_from(m, node, subject, index + 1)])

    if answer:
        guarded(True)
    else:
        m.branch([lambda: guarded(None), lambda: _match_from(m, node, subject, index + 1)])


# -- loops


def _turn(m: Machine, loop: Loop, body: Sequence[ast.stmt]) -> None:
    """Execute the body of a loop once."""
    loop.continues = []
    try:
        execute(m, body)
        goes_on = True
    except Dead:
        goes_on = False
    continues, loop.continues = loop.continues, []
    if continues or not goes_on:
        leave(m, continues, goes_on)


def _for(m: Machine, node: ast.For | ast.AsyncFor) -> None:
    source = m.evaluate(node.iter)
    loop, frame = Loop(), m.frame

    def take(item: Value) -> None:
        frame.loops.append(loop)
        try:
            assign(m, node.target, item)
            _turn(m, loop, node.body)
        finally:
            frame.loops.pop()

    try:
        items.iterate(m, source, take)
        execute(m, node.orelse)
        goes_on = True
    except Dead:
        goes_on = False
    if loop.breaks or not goes_on:
        leave(m, loop.breaks, goes_on)


def _while(m: Machine, node: ast.While) -> None:
    loop, frame = Loop(), m.frame
    frame.loops.append(loop)
    try:
        goes_on = _turns(m, node, loop)
    finally:
        frame.loops.pop()
    if goes_on:
        try:
            execute(m, node.orelse)
        except Dead:
            goes_on = False
    if loop.breaks or not goes_on:
        leave(m, loop.breaks, goes_on)


def _turns(m: Machine, node: ast.While, loop: Loop) -> bool:
    """Execute a loop until its condition is false; False if that never happens."""
    try:
        turns = Turns(m)
        for _ in range(_MOST_TURNS):
            answer = truth(m, m.evaluate(node.test))
            if answer is False:
                return True
            if answer is None or len(loop.breaks) > _MOST_EARLY_ENDS or not turns.go_on():
                break
            base = m.store.fork()
            try:
                _turn(m, loop, node.body)
            except Dead:
                base.pins -= 1
                raise
            same = not m.store.changed(base, m.store.layer) and not loop.breaks
            m.store.meet(base, [m.store.layer])
            if same:
                m.endless()
                return False
    except Dead:
        return False
    return _any_turns(m, node, loop)


def _any_turns(m: Machine, node: ast.While, loop: Loop) -> bool:
    """Execute a loop whose length is not known."""
    is_first = True
    exits: list[Any] = []

    def turn() -> None:
        nonlocal is_first
        answer = truth(m, m.evaluate(node.test))
        if answer is not True:
            assume_false_base = m.store.fork()
            assume(m, node.test, False)
            exits.append(m.store.captured())
            m.store.other_branch(assume_false_base)
            assume_false_base.pins -= 1
            if answer is False:
                raise Dead
            assume(m, node.test, True)
        is_first = False
        _turn(m, loop, node.body)

    with contextlib.suppress(Dead):
        repeat(m, turn)
    if not exits:
        if not loop.breaks:
            m.endless()
        return False
    leave(m, exits, False)
    return True


# -- what ends a path


def _return(m: Machine, node: ast.Return) -> None:
    value = NONE if node.value is None else m.evaluate(node.value)
    m.frame.returns.append(m.outcome(value))
    raise Dead


def _break(m: Machine, node: ast.Break) -> None:
    m.frame.loops[-1].breaks.append(m.store.captured())
    raise Dead


def _continue(m: Machine, node: ast.Continue) -> None:
    m.frame.loops[-1].continues.append(m.store.captured())
    raise Dead


_HANDLERS: Final[dict[type, Callable[[Machine, Any], None]]] = {
    ast.Expr: _expression,
    ast.Assign: _assign,
    ast.AugAssign: augment,
    ast.AnnAssign: _annotated,
    ast.If: _if,
    ast.For: _for,
    ast.AsyncFor: _for,
    ast.While: _while,
    ast.Return: _return,
    ast.Break: _break,
    ast.Continue: _continue,
    ast.Pass: _nothing,
    ast.Global: _nothing,
    ast.Nonlocal: _nothing,
    ast.Delete: _delete,
    ast.Assert: _assert,
    ast.Raise: exceptions.raise_,
    ast.Try: exceptions.try_,
    ast.With: exceptions.with_,
    ast.AsyncWith: exceptions.with_,
    ast.FunctionDef: _define,
    ast.AsyncFunctionDef: _define,
    ast.ClassDef: _define_class,
    ast.Import: modules.import_,
    ast.ImportFrom: modules.import_from,
    ast.Match: _match,
}
if hasattr(ast, "TryStar"):  # since Python 3.11
    _HANDLERS[ast.TryStar] = exceptions.try_
if hasattr(ast, "TypeAlias"):  # since Python 3.12
    _HANDLERS[ast.TypeAlias] = _nothing
