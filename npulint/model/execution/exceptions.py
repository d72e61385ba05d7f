"""Exceptions: where they are raised, who catches them, and what runs in any case."""

from __future__ import annotations

import ast
import builtins
import contextlib
from collections.abc import Callable, Sequence
from typing import NoReturn

from npulint.model.abstract_values.store import Layer, Region
from npulint.model.abstract_values.value import ABSENT, ABSENT_VALUE, NONE, UNKNOWN, Absent, Const, Obj, Value, joined
from npulint.model.execution import attributes, calls, items
from npulint.model.execution.assignments import assign
from npulint.model.execution.loops import leave
from npulint.model.execution.machine import NO_KIND, Arguments, Dead, Frame, Guard, Machine, Outcome
from npulint.model.execution.names import bind, look_up_own, unbind
from npulint.model.execution.truth import truth


def raise_(m: Machine, node: ast.Raise) -> NoReturn:
    """Execute ``raise``."""
    if node.exc is None:
        m.throw(m.handled[-1] if m.handled else UNKNOWN)
    value = m.evaluate(node.exc)
    if node.cause is not None:
        m.evaluate(node.cause)
    m.throw(instance_of(m, value))


def instance_of(m: Machine, value: Value) -> Value:
    """The exception that is raised by its class or itself."""

    def of(alternative: Const | Obj) -> Value:
        is_class = isinstance(alternative, Obj) and (
            alternative.kind == "class" or (alternative.kind == "symbol" and is_exception(alternative.name))
        )
        return m.call(Value((alternative,)), Arguments()) if is_class else Value((alternative,))

    return items.each(m, value, of, lambda: UNKNOWN)


def is_exception(name: str) -> bool:
    """Whether a symbol is an exception class of Python itself."""
    builtin = getattr(builtins, name.removeprefix("builtins."), None)
    return isinstance(builtin, type) and issubclass(builtin, BaseException)


# -- try


def guarded(m: Machine, work: Callable[[], object]) -> tuple[bool, list[Outcome]]:
    """Do something whose exceptions are caught. Whether it goes on normally, and the states with exceptions: those that
    were surely raised on their path, and one (of an unknown exception) for what may be raised anywhere."""
    base = m.store.captured()
    region = Region(m.store.serial)
    guard = Guard(region)
    m.guards.append(guard)
    m.store.regions.append(region)
    m.store.layer = Layer(base, m.store.serial)
    try:
        work()
        goes_on = True
    except Dead:
        goes_on = False
    finally:
        m.guards.pop()
        m.store.regions.pop()
    end = m.store.layer
    outcomes = guard.raised
    m.store.release([base])
    if guard.possible:
        m.store.layer = m.store.overlay(base, region)
        layer = m.store.captured()
        outcomes = [*outcomes, Outcome(layer, _possible_error(m, guard.possible))]
    m.store.resume(end)
    return goes_on, outcomes


def _possible_error(m: Machine, names: set[str]) -> Value:
    if "" in names:
        return UNKNOWN
    alternatives: list[Const | Obj | Absent] = []
    for name in sorted(names):
        alternatives += m.exception(name).alternatives
        obj = alternatives[-1]
        assert isinstance(obj, Obj)
        m.heap.set_any(obj, UNKNOWN)
        m.heap.set(obj, "args", UNKNOWN)
    return Value(tuple(alternatives))


class Paths:
    """The ways out of a function or loop that are taken within a part of the program, to be sent through what runs in
    any case."""

    def __init__(self, m: Machine) -> None:
        self._frame: Frame = m.frame
        self._loop = m.frame.loops[-1] if m.frame.loops else None
        self._counts = self._lengths()

    def _lists(self) -> list[list[object]]:
        lists: list[list[object]] = [self._frame.returns]  # type: ignore[list-item]
        if self._loop is not None:
            lists += [self._loop.breaks, self._loop.continues]  # type: ignore[list-item]
        return lists

    def _lengths(self) -> list[int]:
        return [len(outcomes) for outcomes in self._lists()]

    def taken(self) -> list[tuple[list[object], object]]:
        """The new ways out with the lists that they were taken from."""
        ways: list[tuple[list[object], object]] = []
        for listed, count in zip(self._lists(), self._counts, strict=True):
            ways += [(listed, way) for way in listed[count:]]
            del listed[count:]
        return ways

    def through(self, m: Machine, work: Callable[[], object]) -> None:
        """Do something on each of the new ways out."""
        for listed, way in self.taken():
            layer = way.layer if isinstance(way, Outcome) else way
            assert isinstance(layer, Layer)
            m.store.release([layer])
            m.store.layer = Layer(layer, m.store.serial)
            try:
                work()
            except Dead:
                continue
            end = m.store.captured()
            listed.append(Outcome(end, way.value) if isinstance(way, Outcome) else end)


def try_(m: Machine, node: ast.Try) -> None:
    """Execute ``try`` with its handlers, ``else`` and ``finally``."""
    if type(node).__name__ == "TryStar":  # groups of exceptions are not followed
        m.lost = True
    if not node.finalbody:
        _try_except(m, node)
        return
    paths = Paths(m)
    goes_on, outcomes = guarded(m, lambda: _try_except(m, node))
    _finally(m, paths, goes_on, outcomes, lambda: m.execute(node.finalbody))


def _finally(m: Machine, paths: Paths, goes_on: bool, outcomes: Sequence[Outcome], work: Callable[[], object]) -> None:
    """Do what runs in any case: after the normal end, before a return or a break, and before an exception goes on."""
    normal = [m.store.captured()] if goes_on else []
    paths.through(m, work)
    for outcome in outcomes:
        m.store.release([outcome.layer])
        m.store.layer = Layer(outcome.layer, m.store.serial)
        try:
            work()
            rethrow(m, outcome.value)
        except Dead:
            pass
    if not normal:
        raise Dead
    m.store.release(normal)
    m.store.layer = Layer(normal[0], m.store.serial)
    work()


def rethrow(m: Machine, error: Value) -> NoReturn:
    """Let an exception go on outwards; one that is only possible ends the program where nothing catches it."""
    if error.is_open and not m.guards:
        raise Dead
    m.throw(error)


def _try_except(m: Machine, node: ast.Try) -> None:
    if not node.handlers:
        m.execute(node.body)
        m.execute(node.orelse)
        return
    goes_on, outcomes = guarded(m, lambda: m.execute(node.body))
    ends: list[Layer] = []
    if goes_on:
        try:
            m.execute(node.orelse)
            ends.append(m.store.captured())
        except Dead:
            pass
    for outcome in outcomes:
        m.store.release([outcome.layer])
        m.store.layer = Layer(outcome.layer, m.store.serial)
        ends += _handled(m, node.handlers, outcome.value)
    leave(m, ends, False)


def _handled(m: Machine, handlers: Sequence[ast.ExceptHandler], error: Value) -> list[Layer]:
    """The states in which the handlers of an exception end."""
    ends: list[Layer] = []
    rest = error
    for handler in handlers:
        try:
            taken, rest_after = _split(m, rest, handler.type)
        except Dead:  # what a handler names cannot be evaluated: that exception goes on instead
            return ends
        if taken is None:
            continue
        base = m.store.fork()
        try:
            _handle(m, handler, taken)
            ends.append(m.store.captured())
        except Dead:
            pass
        base.pins -= 1
        m.store.other_branch(base)
        if rest_after is None:
            return ends
        rest = rest_after
    try:
        rethrow(m, rest)
    except Dead:
        return ends


def _handle(m: Machine, handler: ast.ExceptHandler, error: Value) -> None:
    m.handled.append(error)
    try:
        if handler.name:
            bind(m, handler.name, error)
        m.execute(handler.body)
    finally:
        m.handled.pop()
    if handler.name and look_up_own(m, handler.name).single is not ABSENT:
        unbind(m, handler.name)


def _split(m: Machine, error: Value, caught: ast.expr | None) -> tuple[Value | None, Value | None]:
    """The part of an exception that a handler takes, and the part that goes on."""
    if caught is None:
        return error, None
    kinds = _classes(m, m.evaluate(caught))
    taken: list[Const | Obj] = []
    rest: list[Const | Obj] = []
    for alternative in error.alternatives:
        answer = None if alternative is ABSENT or not isinstance(alternative, Obj) else caught_by(m, alternative, kinds)
        if answer is not False:
            taken.append(alternative)  # type: ignore[arg-type]
        if not answer:
            rest.append(alternative)  # type: ignore[arg-type]
    all_names = {obj.name for obj in kinds or ()}
    takes_all = kinds is not None and bool(all_names & {"builtins.Exception", "builtins.BaseException"})
    is_taken = bool(taken) or error.is_open
    goes_on = bool(rest) or (error.is_open and not takes_all)
    return (
        Value(tuple(taken), error.is_open) if is_taken else None,
        Value(tuple(rest), error.is_open and not takes_all) if goes_on else None,
    )


def _classes(m: Machine, value: Value) -> list[Obj] | None:
    """The exception classes that a handler names; None if they are not known."""
    single = value.single
    if isinstance(single, Obj) and single.kind == "tuple":
        singles = [value.single for value in m.heap.items_of(single).items or (UNKNOWN,)]
        kinds = [obj for obj in singles if isinstance(obj, Obj)]
        if any(kind.kind == "tuple" for kind in kinds):
            m.lost = True  # Python refuses it where the exception comes
        return kinds if len(kinds) == len(singles) else None
    return [single] if isinstance(single, Obj) else None


def caught_by(m: Machine, error: Obj, kinds: list[Obj] | None) -> bool | None:
    """Whether an exception is of one of the classes; None if that is not known."""
    if kinds is None or error.cls is None:
        return None
    answer: bool | None = False
    for kind in kinds:
        is_of_kind = m.is_subclass(error.cls, kind)
        if is_of_kind:
            return True
        if is_of_kind is None:
            answer = None
    return answer


# -- in the place of Python


def split_outcome(m: Machine, outcome: Outcome, kinds: list[Obj], ends: list[Layer]) -> None:
    """Add the state of an exception to `ends` if it may be of one of the classes; else, or as well, let it go on."""
    answers = {caught_by(m, error, kinds) for error in outcome.value.alternatives if isinstance(error, Obj)}
    if outcome.value.is_open:
        answers.add(None)
    if answers != {False}:
        ends.append(outcome.layer)
    if answers != {True}:
        m.store.layer = Layer(outcome.layer, m.store.serial)
        with contextlib.suppress(Dead):
            rethrow(m, outcome.value)


def value_unless(m: Machine, work: Callable[[], Value], error: str, otherwise: Value) -> Value:
    """What a work gives, or something else where it raises an exception of a class of Python."""
    results: list[Value] = []
    goes_on, outcomes = guarded(m, lambda: results.append(work()))
    caught: list[Layer] = []
    end = m.store.layer
    for outcome in outcomes:
        split_outcome(m, outcome, [m.heap.symbol(f"builtins.{error}")], caught)
    m.store.resume(end)
    if caught:
        results.append(otherwise)
    leave(m, caught, goes_on)
    return joined(results)


def attribute_or_absent(m: Machine, alternative: Const | Obj, name: str) -> Value:
    """The attribute of an alternative, absent where it has none, or what computes it raises AttributeError."""
    if not isinstance(alternative, Obj) or alternative.kind not in ("instance", "module"):
        return attributes.attribute_of(m, alternative, name)
    return value_unless(m, lambda: attributes.attribute_of(m, alternative, name), "AttributeError", ABSENT_VALUE)


# -- with


def with_(m: Machine, node: ast.With | ast.AsyncWith) -> None:
    """Execute ``with``."""
    _with_from(m, node, 0)


def _with_from(m: Machine, node: ast.With | ast.AsyncWith, index: int) -> None:
    if index == len(node.items):
        m.execute(node.body)
        return
    item = node.items[index]
    context = m.evaluate(item.context_expr)
    frame = m.frame

    def body(entered: Value) -> None:
        current, m.frame = m.frame, frame
        try:
            if item.optional_vars is not None:
                assign(m, item.optional_vars, entered)
            _with_from(m, node, index + 1)
        finally:
            m.frame = current

    def of(alternative: Const | Obj) -> Value:
        _enter(m, alternative, body)
        return UNKNOWN

    def unseen() -> Value:
        _with_unseen(m, body)
        return UNKNOWN

    items.each(m, context, of, unseen)


def _with_unseen(m: Machine, body: Callable[[Value], None]) -> None:
    """Execute a block within a context manager that is not seen: what the block surely raises may go no further."""
    m.may_throw()
    goes_on, outcomes = guarded(m, lambda: body(UNKNOWN))
    ends = [m.store.captured()] if goes_on else []
    for outcome in outcomes:
        if not outcome.value.is_open:
            ends.append(outcome.layer)
        m.store.layer = Layer(outcome.layer, m.store.serial)
        with contextlib.suppress(Dead):
            rethrow(m, outcome.value)
    leave(m, ends, False)


def _enter(m: Machine, alternative: Const | Obj, body: Callable[[Value], None]) -> None:
    if isinstance(alternative, Obj):
        if alternative.kind == "generator_context":
            _with_generator(m, alternative.data, body)
            return
        if alternative.kind == "instance":
            enter, leave_ = m.class_attribute(alternative, "__enter__"), m.class_attribute(alternative, "__exit__")
            enter = enter or m.class_attribute(alternative, "__aenter__")
            leave_ = leave_ or m.class_attribute(alternative, "__aexit__")
            if enter is not None and leave_ is not None:
                _with_instance(m, enter, leave_, body)
                return
        enter_kind = m.kinds.get(alternative.kind, NO_KIND).enter
        if enter_kind is not None:
            enter_kind(m, alternative, body)
            return
    _with_unseen(m, body)


def _with_generator(m: Machine, generator: Obj, body: Callable[[Value], None]) -> None:
    """Execute a block within a generator that is a context manager. Where the block returns or breaks, the generator
    goes on as well; both ways are then one state."""
    ways: list[tuple[list[object], object]] = []
    ends_normally = False

    def block(value: Value) -> None:
        nonlocal ends_normally
        paths = Paths(m)
        try:
            body(value)
            ends_normally = True
            states = [m.store.captured()]
        except Dead:
            states = []
        ways.extend(paths.taken())
        states += [way.layer if isinstance(way, Outcome) else way for _, way in ways]  # type: ignore[misc]
        leave(m, states, False)

    calls.iterate_generator(m, generator, block, thrown_in=True)
    may_swallow = _catches(generator)
    for listed, way in ways:
        end = m.store.captured()
        listed.append(Outcome(end, way.value) if isinstance(way, Outcome) else end)
    if not ends_normally and not may_swallow:
        raise Dead
    if ways:
        m.store.layer = Layer(m.store.layer, m.store.serial)


def _catches(generator: Obj) -> bool:
    """Whether a generator may catch an exception of the block that it is around."""
    node = generator.data.node
    return any(isinstance(part, (ast.ExceptHandler, ast.With, ast.AsyncWith)) for part in ast.walk(node))


def _with_instance(m: Machine, enter: Value, exit_: Value, body: Callable[[Value], None]) -> None:
    def leave_with(error: Value) -> Value:
        kind = NONE if error is NONE else attributes.get(m, error, "__class__")
        return calls.awaited_if_needed(m, m.call(exit_, Arguments([kind, error, NONE if error is NONE else UNKNOWN])))

    with_object(m, lambda: calls.awaited_if_needed(m, m.call(enter, Arguments())), leave_with, body)


def with_object(
    m: Machine, enter: Callable[[], Value], exit_: Callable[[Value], Value], body: Callable[[Value], None]
) -> None:
    """Execute a block between `enter` and `exit_`, which is given the exception that leaves the block, or None; where
    it gives something true, the exception goes no further."""
    entered = enter()
    paths = Paths(m)
    goes_on, outcomes = guarded(m, lambda: body(entered))
    normal = [m.store.captured()] if goes_on else []
    paths.through(m, lambda: exit_(NONE))
    ends: list[Layer] = []
    for outcome in outcomes:
        m.store.release([outcome.layer])
        m.store.layer = Layer(outcome.layer, m.store.serial)
        ends += _closed(m, exit_, outcome.value)
    if normal:
        m.store.release(normal)
        m.store.layer = Layer(normal[0], m.store.serial)
        with contextlib.suppress(Dead):
            exit_(NONE)
            ends.append(m.store.captured())
    leave(m, ends, False)


def _closed(m: Machine, exit_: Callable[[Value], Value], error: Value) -> list[Layer]:
    """The states in which an exception goes no further."""
    try:
        answer = truth(m, exit_(error))
    except Dead:
        return []
    ends = [m.store.captured()] if answer is not False else []
    if answer is not True:
        m.store.layer = Layer(m.store.layer, m.store.serial)
        with contextlib.suppress(Dead):
            rethrow(m, error)
    return ends
