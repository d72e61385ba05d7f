"""Calls of the program's functions, methods, classes and generators."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Final, NamedTuple

from npulint.model.abstract_values.value import ABSENT, NONE, UNKNOWN, Const, Obj, Value, joined, unknown
from npulint.model.execution import items, iterators, unsure
from npulint.model.execution.machine import (
    MOST_CALLS,
    NO_KIND,
    SAME_CALLS,
    Arguments,
    Dead,
    Exhausted,
    Frame,
    Machine,
    Unbounded,
)
from npulint.model.execution.scopes import FunctionNode, Scope, function_scope

# Partial functions: a function with arguments; those by keyword stand in a dict that the program may change.


def make_partial(m: Machine, function: Value, given: Arguments) -> Value:
    """What ``functools.partial`` gives for a function and its arguments."""
    made = m.heap.make("partial", data=(function, Arguments(given.positional, {}, given.rest, given.options)))
    made.items = m.heap.mapping(given.keywords.items())
    return Value((made,))


def function_of(partial: Obj) -> Value:
    """The function that a partial calls."""
    function: Value = partial.data[0]
    return function


def keywords_of(partial: Obj) -> Value:
    """The dict of the arguments that a partial passes by keyword."""
    assert partial.items is not None
    return partial.items


def given_by(m: Machine, partial: Obj) -> Arguments:
    """The arguments that a partial passes now."""
    given: Arguments = partial.data[1]
    keywords = keywords_of(partial).single
    if isinstance(keywords, Obj) and m.heap.is_exact(keywords):
        entries = {key: value for key, value in m.heap.entries(keywords) if isinstance(key, str)}
        if len(entries) == len(m.heap.layout_of(keywords).keys):
            return Arguments(given.positional, entries, given.rest, given.options)
    return Arguments(given.positional, {}, given.rest, UNKNOWN)


class FunctionData(NamedTuple):
    """What a function object is made of: its syntax, the scope that it was defined in, and the values of its
    defaults by parameter."""

    node: FunctionNode
    frame: Frame
    defaults: dict[str, Value]
    scope: Scope
    owner: Obj | None


def make_function(m: Machine, node: FunctionNode, name: str) -> Value:
    """A new function object."""
    defaults: dict[str, Value] = {}
    arguments = node.args
    positional = [*arguments.posonlyargs, *arguments.args]
    for parameter, default in zip(
        positional[len(positional) - len(arguments.defaults) :], arguments.defaults, strict=True
    ):
        defaults[parameter.arg] = m.evaluate(default)
    for parameter, keyword_default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        if keyword_default is not None:
            defaults[parameter.arg] = m.evaluate(keyword_default)
    scope = m.scopes.get(node)
    if scope is None:
        scope = m.scopes[node] = function_scope(node)
    owner = m.frame.locals if m.frame.scope.is_class else m.frame.owner
    m.frame.capture()
    made = m.heap.make("function", name)
    made.data = FunctionData(node, m.frame, defaults, scope, owner)
    return Value((made,))


# -- calling

_REPLACED: Final = ("__code__", "__defaults__", "__kwdefaults__")
"""What makes another function of one where it is set."""


def call(m: Machine, callee: Value, arguments: Arguments, site: ast.AST | None = None) -> Value:
    """What a call gives. Raises `Dead` where it never returns."""

    def unseen() -> Value:
        return m.unseen(f"{callee.reason}()" if callee.reason else "", arguments.all())

    return items.each(m, callee, lambda alternative: call_one(m, alternative, arguments, site), unseen)


def call_one(m: Machine, alternative: Const | Obj, arguments: Arguments, site: ast.AST | None) -> Value:
    """What a call of one alternative gives."""
    if isinstance(alternative, Const):
        m.throw_new("TypeError", f"'{type(alternative.value).__name__}' object is not callable")
    kind = alternative.kind
    if kind == "function":
        return call_function(m, alternative, arguments)
    if kind == "method":
        return _call_method(m, alternative, arguments, site)
    if kind == "class":
        return m.instantiate(alternative, arguments, site)
    if kind == "symbol":
        return m.call_library(alternative.name, arguments, site)
    if kind == "partial":
        function, given = function_of(alternative), given_by(m, alternative)
        if not given.is_exact:
            return m.unseen("partial()", [function, *given.all(), *arguments.all()])
        merged = Arguments(
            [*given.positional, *arguments.positional],
            {**given.keywords, **arguments.keywords},
            arguments.rest,
            arguments.options,
        )
        return call(m, function, merged, site)
    if kind == "instance":
        method = m.class_attribute(alternative, "__call__")
        if method is not None:
            return call(m, method, arguments, site)
        if m.extends_unseen(alternative):
            return m.call_unseen_instance(alternative, arguments)
        m.throw_new("TypeError", f"'{alternative.name}' object is not callable")
    handler = m.kinds.get(kind, NO_KIND).call
    if handler is not None:
        return handler(m, alternative, arguments, site)
    return m.unseen("", [Value((alternative,)), *arguments.all()])


def _call_method(m: Machine, obj: Obj, arguments: Arguments, site: ast.AST | None) -> Value:
    if isinstance(obj.data, tuple):
        function, receiver = obj.data
        given = arguments.with_first(receiver)
        if isinstance(function, Obj) and function.kind == "function":
            return call_function(m, function, given)
        return call_one(m, function, given, site)
    return m.call_built_in(obj.name, obj.data, arguments, site)


def call_function(m: Machine, function: Obj, arguments: Arguments) -> Value:
    """What a function of the program gives."""
    data: FunctionData = function.data
    if any(m.heap.get(function, name).single is not ABSENT for name in _REPLACED):
        unsure.execute(m, lambda: _enter(m, function, Arguments(rest=UNKNOWN, options=UNKNOWN)))
        return UNKNOWN
    nested = m.calls.count(function)
    if data.node in m.recursive:
        if nested:
            return m.unseen("", arguments.all())
        return _call_recursive(m, function, arguments)
    if nested >= SAME_CALLS:
        raise Unbounded(data.node)
    if len(m.calls) >= MOST_CALLS:
        raise Exhausted
    return _enter(m, function, arguments)


def _call_recursive(m: Machine, function: Obj, arguments: Arguments) -> Value:
    """A function that calls itself without a bound that is followed: once with what is given, and any number of times
    with what is not known."""
    results: list[Value] = []
    m.may_not_return = True
    m.may_throw("RecursionError")
    unsure.execute(m, lambda: results.append(_enter(m, function, arguments)))
    unsure.execute(m, lambda: _enter(m, function, Arguments(rest=UNKNOWN, options=UNKNOWN)))
    return UNKNOWN if not results else results[0].joined(UNKNOWN)


def _enter(m: Machine, function: Obj, arguments: Arguments) -> Value:
    data: FunctionData = function.data
    m.step()
    names = m.heap.make("frame", function.name)
    frame = Frame(data.frame.module, data.scope, names, data.frame, data.node)
    frame.owner, frame.function = data.owner, function
    bind_arguments(m, frame, data, arguments, function.name)
    if data.scope.yields:
        return Value((m.heap.make("generator", function.name, data=frame),))
    if isinstance(data.node, ast.AsyncFunctionDef):
        return Value((m.heap.make("coroutine", function.name, data=frame),))
    return run_frame(m, frame)


def run_frame(m: Machine, frame: Frame) -> Value:
    """Execute the body of a function; what it returns."""
    caller, m.frame = m.frame, frame
    assert frame.function is not None
    m.calls.append(frame.function)
    node = frame.node
    try:
        if isinstance(node, ast.Lambda):
            return m.evaluate(node.body)
        assert isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        try:
            m.execute(node.body)
            frame.returns.append(m.outcome(NONE))
        except Dead:
            pass
    finally:
        m.calls.pop()
        m.frame = caller
    if not frame.is_captured:
        frame.locals.kind = "left"
    returns, frame.returns = frame.returns, []
    if not returns:
        raise Dead
    m.store.release([outcome.layer for outcome in returns])
    m.store.join([outcome.layer for outcome in returns])
    return joined([outcome.value for outcome in returns])


def bind_arguments(m: Machine, frame: Frame, data: FunctionData, arguments: Arguments, name: str) -> None:
    """Bind the parameters of a function, or raise TypeError as Python does."""
    node = data.node.args
    names = frame.locals
    positional = [parameter.arg for parameter in (*node.posonlyargs, *node.args)]
    given = dict(zip(positional, arguments.positional, strict=False))
    extra = arguments.positional[len(positional) :]
    keywords = dict(arguments.keywords)
    if extra and node.vararg is None:
        m.throw_new(
            "TypeError",
            f"{name}() takes {len(positional)} positional arguments but {len(arguments.positional)} were given",
        )
    keyword_names = [parameter.arg for parameter in (*node.args, *node.kwonlyargs)]
    for key in keyword_names:
        if key in keywords:
            if key in given:
                m.throw_new("TypeError", f"{name}() got multiple values for argument '{key}'")
            given[key] = keywords.pop(key)
    if keywords and node.kwarg is None:
        m.throw_new("TypeError", f"{name}() got an unexpected keyword argument '{next(iter(keywords))}'")
    if not arguments.is_exact:
        m.may_throw("TypeError")
    for key in [*positional, *(kwonlyarg.arg for kwonlyarg in node.kwonlyargs)]:
        m.heap.put(names, key, _given(m, key, given, data, arguments, name))
    if node.vararg is not None:
        if arguments.rest is not None:
            bound = m.heap.sequence_of_any("tuple", joined([*extra, arguments.rest]))
        else:
            bound = m.heap.sequence("tuple", extra)
        m.heap.put(names, node.vararg.arg, bound)
    if node.kwarg is not None:
        bound = m.heap.mapping(keywords.items())
        owner = bound.single
        if arguments.options is not None and isinstance(owner, Obj):
            m.heap.set_any(owner, arguments.options)
        m.heap.put(names, node.kwarg.arg, bound)


def _given(m: Machine, key: str, given: dict[str, Value], data: FunctionData, arguments: Arguments, name: str) -> Value:
    if key in given:
        return given[key]
    default = data.defaults.get(key)
    open_parts = [value for value in (arguments.rest, arguments.options) if value is not None]
    if open_parts:
        return joined([*open_parts, *([] if default is None else [default])])
    if default is None:
        m.throw_new("TypeError", f"{name}() missing 1 required positional argument: '{key}'")
    return default


def zero_argument_super(m: Machine, node: ast.Call) -> Value | None:
    """The value of ``super()`` within a method; None elsewhere."""
    frame: Frame | None = m.frame
    while frame is not None and not isinstance(frame.node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        frame = frame.outer
    if frame is None or frame.owner is None or not isinstance(frame.node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return None
    parameters = [*frame.node.args.posonlyargs, *frame.node.args.args]
    if not parameters:
        return None
    instance = m.heap.get(frame.locals, parameters[0].arg).single
    if not isinstance(instance, Obj):
        return unknown("super()")
    return Value((m.heap.make("super", data=(frame.owner, instance)),))


# -- generators and coroutines


def iterate_generator(m: Machine, generator: Obj, consume: Callable[[Value], object], thrown_in: bool = False) -> None:
    """Execute a generator from its beginning, handing over what it yields. `thrown_in`: exceptions of the consumer are
    raised in the generator."""
    iterators.use(m, generator, lambda: _produce(m, generator.data, consume, thrown_in), consume)


def _produce(m: Machine, frame: Frame, consume: Callable[[Value], object], thrown_in: bool) -> None:
    consumer, guards = m.frame, len(m.guards)

    def take(value: Value) -> Value:
        producer, m.frame = m.frame, consumer
        own_guards = m.guards
        if not thrown_in:  # what the consumer raises does not go through the generator
            m.guards = own_guards[:guards]
        left = _early_ends(consumer)
        try:
            consume(value)
        except Dead:
            _note_left(m, frame, thrown_in)
            raise
        finally:
            m.frame, m.guards = producer, own_guards
        if _early_ends(consumer) != left:
            _note_left(m, frame, thrown_in)
        return NONE

    frame.consume = take
    try:
        run_generator(m, frame)
    finally:
        frame.consume = None


def _early_ends(frame: Frame) -> tuple[int, int]:
    """How often a frame, or the loop in it, was left."""
    return len(frame.returns), len(frame.loops[-1].breaks) if frame.loops else 0


def _note_left(m: Machine, frame: Frame, thrown_in: bool) -> None:
    """A generator that is left early runs what stands in its ``finally`` and ``with``, which is not followed."""
    node = frame.node
    if not thrown_in and node is not None and any(isinstance(part, (ast.Try, ast.With)) for part in ast.walk(node)):
        m.lost = True


def run_generator(m: Machine, frame: Frame) -> None:
    """Execute the body of a generator whose consumer is set."""
    if isinstance(frame.node, ast.GeneratorExp):
        m.run_generator_expression(frame)
    else:
        run_frame(m, frame)


def yield_value(m: Machine, value: Value) -> Value:
    """Hand a value to who consumes the generator that is being executed."""
    frame: Frame | None = m.frame
    while frame is not None and frame.consume is None and not frame.scope.yields:
        frame = frame.outer
    if frame is None or frame.consume is None:
        m.may_throw()
        return UNKNOWN
    return frame.consume(value)


def awaited(m: Machine, value: Value) -> Value:
    """What ``await value`` gives."""

    def of(alternative: Const | Obj) -> Value:
        if isinstance(alternative, Obj) and alternative.kind == "coroutine":
            return run_frame(m, alternative.data)
        m.may_throw()
        return UNKNOWN

    return items.each(m, value, of, lambda: unknown(value.reason))


def awaited_if_needed(m: Machine, value: Value) -> Value:
    """The result of a coroutine; other values as they are."""
    obj = value.single
    return awaited(m, value) if isinstance(obj, Obj) and obj.kind == "coroutine" else value
