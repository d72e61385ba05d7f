"""The built-in functions."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable
from typing import Any, Final

from npulint.model.abstract_values import operators
from npulint.model.abstract_values.hosted import Unhosted, adopted, hosted, hosted_alternative
from npulint.model.abstract_values.objects import ITEMS, LAYOUT, Items, Layout
from npulint.model.abstract_values.value import (
    ABSENT,
    ABSENT_VALUE,
    EITHER,
    FALSE,
    NONE,
    TRUE,
    UNKNOWN,
    Const,
    Obj,
    Value,
    const,
    joined,
    truth_value,
    unknown,
)
from npulint.model.execution import attributes, expressions, items, iterators, texts
from npulint.model.execution.exceptions import attribute_or_absent, value_unless
from npulint.model.execution.library import containers
from npulint.model.execution.loops import leave, repeat
from npulint.model.execution.machine import Arguments, Dead, Frame, Loop, Machine
from npulint.model.execution.scopes import MODULE
from npulint.model.execution.truth import truth

Function = Callable[[Machine, Arguments, "ast.AST | None"], Value]


_MOST_TURNS = 200  # of an endless iterator that are executed one by one


def _first(arguments: Arguments, name: str = "") -> Value:
    value = arguments.get(0, name)
    return UNKNOWN if value is None else value


# -- sizes and numbers


def _len(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
    def of(alternative: Const | Obj) -> Value:
        if isinstance(alternative, Obj) and alternative.kind == "instance":
            method = m.class_attribute(alternative, "__len__")
            if method is not None:
                return m.call(method, Arguments())
        held = items.builtin_part(alternative)
        if isinstance(held, Const):
            try:
                return const(len(held.value))  # type: ignore[arg-type]
            except TypeError as error:
                m.throw_new("TypeError", str(error))
        if held.kind in ("list", "tuple"):
            content = m.heap.items_of(held).items
            return unknown("", "int") if content is None else const(len(content))
        if held.kind == "view":
            held = held.data[0]
        if held.kind in ("dict", "set"):
            return const(len(m.heap.entries(held))) if m.heap.is_exact(held) else unknown("", "int")
        if held.kind == "class" and held in m.enums:
            return const(len(m.enum_members(held)))
        m.may_throw("TypeError")
        return unknown("", "int")

    given = _first(arguments)

    def open_length() -> Value:
        m.may_throw("TypeError")
        return unknown(given.reason, "int")

    return items.each(m, given, of, open_length)


def _number(kind: type[int] | type[float]) -> Function:
    def number(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
        if not arguments.positional:
            return const(kind())
        given = arguments.positional[0]

        def of(alternative: Const | Obj) -> Value:
            if isinstance(alternative, Obj) and alternative.kind == "instance":
                method = m.class_attribute(alternative, f"__{kind.__name__}__")
                if method is not None:
                    return m.call(method, Arguments())
            try:
                plain: list[Any] = [hosted_alternative(alternative, m.heap)]
                plain += [hosted(value, m.heap) for value in arguments.positional[1:]]
                options = {key: hosted(value, m.heap) for key, value in arguments.keywords.items()}
                return const(kind(*plain, **options))
            except Unhosted:
                m.may_throw()
                return unknown("", kind.__name__)
            except (ValueError, TypeError, OverflowError) as error:
                m.throw_new(type(error).__name__, str(error))

        def anything() -> Value:
            m.may_throw("ValueError", "TypeError")
            return unknown(given.reason, kind.__name__)

        return items.each(m, given, of, anything)

    return number


def _bool(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
    if not arguments.positional:
        return FALSE
    given = arguments.positional[0]
    return items.each(m, given, lambda alternative: truth_value(truth(m, Value((alternative,)))), lambda: EITHER)


def _str(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
    if not arguments.positional:
        return const("")
    given = arguments.positional[0]
    if len(arguments.positional) > 1 or arguments.keywords:
        return unknown(given.reason, "str")
    return items.each(
        m, given, lambda alternative: texts.shown(m, Value((alternative,))), lambda: unknown(given.reason, "str")
    )


def _repr(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
    given = _first(arguments)
    return items.each(
        m,
        given,
        lambda alternative: texts.shown(m, Value((alternative,)), "repr"),
        lambda: unknown(given.reason, "str"),
    )


def _format(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
    spec = texts.known_text(arguments.positional[1]) if len(arguments.positional) > 1 else ""
    return unknown("", "str") if spec is None else texts.formatted(m, _first(arguments), spec)


def _plain(name: str, hint: str = "") -> Function:
    function = getattr(builtins, name)

    def plain(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
        def of_known() -> Value:
            args = [hosted(value, m.heap) for value in arguments.positional]
            options = {key: hosted(value, m.heap) for key, value in arguments.keywords.items()}
            if any(isinstance(arg, int) and arg.bit_length() > 4096 for arg in args):
                raise Unhosted
            return adopted(function(*args, **options), m.heap, site)

        return known_or_open(m, of_known, arguments, hint)

    return plain


_CALLABLE: Final = frozenset(("function", "method", "class", "partial", "instance", "generator", "lazy", "cached"))


def known_or_open(m: Machine, of_known: Callable[[], Value], arguments: Arguments, hint: str) -> Value:
    """What a function of Python gives where everything is known, an exception of its own included."""
    try:
        if not arguments.is_exact:
            raise Unhosted
        return of_known()
    except Unhosted:
        m.may_throw()
        called = [
            value
            for value in arguments.all()
            if any(isinstance(alternative, Obj) and alternative.kind in _CALLABLE for alternative in value.alternatives)
        ]
        if called:
            m.unseen("", called)
        reason = next((value.reason for value in arguments.all() if value.reason), "")
        return EITHER if hint == "bool" else unknown(reason, hint)
    except (MemoryError, RecursionError):
        return UNKNOWN
    except Exception as error:
        if type(error).__module__ != "builtins":
            m.may_throw()
            return UNKNOWN
        m.throw_new(type(error).__name__, str(error))


def _pow(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
    if len(arguments.positional) == 2:
        left, right = arguments.positional
        return expressions.binary(m, ast.Pow(), left, right, site or ast.Pass())
    return unknown("", "number")


def _extreme(name: str) -> Function:
    operator: ast.cmpop = ast.Gt() if name == "max" else ast.Lt()

    def extreme(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
        content = (
            items.listed(m, arguments.positional[0])
            if len(arguments.positional) == 1
            else Items(tuple(arguments.positional))
        )
        if content.items is None or not arguments.is_exact:
            m.may_throw()
            key = arguments.keywords.get("key", NONE)
            if key.single != Const(None):
                repeat(m, lambda: m.call(key, Arguments([content.any_item])))
            default = arguments.keywords.get("default")
            possible = content.any_item if content.items is None else joined([*content.items, UNKNOWN])
            return possible if default is None else joined([possible, default])
        if not content.items:
            default = arguments.keywords.get("default")
            if default is None:
                m.throw_new("ValueError", f"{name}() arg is an empty sequence")
            return default
        key = arguments.keywords.get("key", NONE)
        keys = content.items
        if key.single != Const(None):
            keys = tuple(m.call(key, Arguments([item])) for item in content.items)
        best, best_key = content.items[0], keys[0]
        for item, item_key in zip(content.items[1:], keys[1:], strict=True):
            answer = truth(m, expressions.compare(m, operator, item_key, best_key))
            if answer is None:
                best, best_key = _maybe_better(m, operator, best, best_key, item, item_key, keys is content.items)
            elif answer:
                best, best_key = item, item_key
        return best

    return extreme


def _maybe_better(
    m: Machine, operator: ast.cmpop, best: Value, best_key: Value, item: Value, item_key: Value, is_itself: bool
) -> tuple[Value, Value]:
    """The better of two of which it is not known; alternatives that surely lose are left out."""
    if not is_itself:
        return best.joined(item), best_key.joined(item_key)
    kept = []
    reached: ast.cmpop = ast.GtE() if isinstance(operator, ast.Gt) else ast.LtE()
    for mine, other, strict in ((item, best, operator), (best, item, reached)):
        alternatives = tuple(
            alternative
            for alternative in mine.alternatives
            if truth(m, expressions.compare(m, strict, Value((alternative,)), other)) is not False
        )
        if alternatives or mine.is_open:
            kept.append(mine.of(alternatives))
    merged = joined(kept)
    return merged, merged


def _sum(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
    content = items.listed(m, _first(arguments))
    total = arguments.get(1, "start") or const(0)
    if content.items is None:
        m.may_throw()
        return operators.hint_of(total, content.each, "add")
    for item in content.items:
        total = expressions.binary(m, ast.Add(), total, item, site or ast.Pass())
    return total


def _number_function(name: str) -> Function:
    """``round`` or ``abs``, of each alternative."""

    def number(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
        given = _first(arguments)

        def of(alternative: Const | Obj) -> Value:
            return _plain(name, "number")(
                m, Arguments([Value((alternative,)), *arguments.positional[1:]], arguments.keywords), site
            )

        def open_number() -> Value:
            m.may_throw("TypeError")
            return unknown(given.reason, "number")

        return items.each(m, given, of, open_number)

    return number


# -- iterables


def _sequence(kind: str) -> Function:
    def sequence(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
        if not arguments.positional:
            return m.heap.sequence(kind, (), site)
        return items.sequence_of(m, kind, items.listed(m, arguments.positional[0]), site)

    return sequence


def _set(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
    content = items.listed(m, arguments.positional[0]) if arguments.positional else Items(())
    return items.set_of(m, content, site)


def _frozenset(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
    made = _set(m, arguments, site)
    owner = made.single
    assert isinstance(owner, Obj)
    owner.name = "frozenset"
    return made


def _dict(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
    made = m.heap.mapping((), "dict", site)
    owner = made.single
    assert isinstance(owner, Obj)
    containers.METHODS["dict"]["update"](m, owner, arguments, site)
    return made


def _sorted(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
    obj = _first(arguments).single
    content = _sortable(m, _first(arguments))
    content = containers.sorted_items(
        m, content, arguments, isinstance(obj, Obj) and obj.kind in ("set", "dict", "view")
    )
    return items.sequence_of(m, "list", content, site)


def _sortable(m: Machine, value: Value) -> Items:
    """The items of an iterable in any order."""
    alternative = value.single
    held = items.builtin_part(alternative) if isinstance(alternative, (Const, Obj)) else None
    if isinstance(held, Obj) and held.kind == "view" and held.data[1] == "keys":
        held = held.data[0]
    if isinstance(held, Obj) and held.kind in ("dict", "set"):
        if not m.heap.is_exact(held):
            return Items(None, UNKNOWN)
        return Items(tuple(m.value_of_key(key) for key, _ in m.heap.entries(held)))
    return items.listed(m, value)


def _lazy(name: str) -> Function:
    def lazy(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
        return Value((m.heap.make("lazy", name, data=arguments),))

    return lazy


def iterate_lazy(m: Machine, lazy: Obj, consume: Callable[[Value], object]) -> None:
    """The items of what ``zip``, ``enumerate``, ``map``, ``filter``, ``reversed`` or ``iter`` gives."""
    iterators.use(m, lazy, lambda: _produce(m, lazy, consume), consume)


def _produce(m: Machine, lazy: Obj, consume: Callable[[Value], object]) -> None:
    arguments: Arguments = lazy.data
    name, given = lazy.name, arguments.positional
    if name == "enumerate":
        _enumerate(m, arguments, consume)
    elif name == "map" and len(given) == 2:
        items.iterate(m, given[1], lambda item: consume(m.call(given[0], Arguments([item]))))
    elif name == "filter":
        items.iterate(m, given[1], lambda item: _if_accepted(m, given[0], item, consume))
    elif name == "reversed":
        _reverse(m, given[0], consume)
    elif name == "iter":
        taken = iterators.taken_of_list(m, lazy)
        if taken is None:
            m.may_throw()
            repeat(m, lambda: consume(UNKNOWN))
            return
        source = items.get_item(m, given[0], m.heap.slice_of([const(taken), NONE, NONE])) if taken else given[0]
        items.iterate(m, source, consume)
    elif name in ("count", "cycle"):
        _produce_endlessly(m, lazy, consume)
    elif name == "chain":
        for part in given:
            items.iterate(m, part, consume)
    else:
        _zip(m, name, arguments, consume)


def _reverse(m: Machine, source: Value, consume: Callable[[Value], object]) -> None:
    """The items of a list that may change meanwhile, or of a copy of another iterable, from its end."""
    single = source.single
    held = items.builtin_part(single) if isinstance(single, (Const, Obj)) else None
    owner = held if isinstance(held, Obj) and held.kind == "list" else m.heap.make("list")
    if owner is not held:
        m.heap.put(owner, ITEMS, items.listed(m, source))
    content = m.heap.items_of(owner)
    for index in range(len(content.items or ()) - 1, -1, -1):
        if content.items is None or index >= len(content.items):
            break
        consume(content.items[index])
        content = m.heap.items_of(owner)
    if content.items is None:
        repeat(m, lambda: consume(content.any_item))


def _produce_endlessly(m: Machine, lazy: Obj, consume: Callable[[Value], object]) -> None:
    """The items of ``itertools.count`` and ``itertools.cycle``, which never end by themselves."""
    arguments: Arguments = lazy.data
    if lazy.name == "count":
        number, difference = arguments.get(0, "start") or const(0), arguments.get(1, "step") or const(1)
        for _ in range(_MOST_TURNS):
            consume(number)
            number = expressions.binary(m, ast.Add(), number, difference, ast.Pass())
        any_item = unknown("", number.hint or "number")
    else:
        content = items.listed(m, arguments.positional[0])
        if content.items == ():
            return
        for index in range(_MOST_TURNS if content.items is not None else 0):
            assert content.items is not None
            consume(content.items[index % len(content.items)])
        any_item = content.any_item
    repeat(m, lambda: consume(any_item))
    m.endless()
    raise Dead


def _enumerate(m: Machine, arguments: Arguments, consume: Callable[[Value], object]) -> None:
    counter = m.heap.make("frame", "<enumerate>")
    m.heap.put(counter, "n", arguments.get(1, "start") or const(0))

    def numbered(item: Value) -> None:
        number = m.heap.get(counter, "n")
        m.heap.put(counter, "n", expressions.binary(m, ast.Add(), number, const(1), ast.Pass()))
        consume(m.heap.sequence("tuple", [number, item]))

    items.iterate(m, arguments.positional[0], numbered)


def _if_accepted(m: Machine, function: Value, item: Value, consume: Callable[[Value], object]) -> None:
    result = item if function.single == Const(None) else m.call(function, Arguments([item]))
    answer = truth(m, result)
    if answer:
        consume(item)
    elif answer is None:
        m.maybe(lambda: consume(item))


def _zip(m: Machine, name: str, arguments: Arguments, consume: Callable[[Value], object]) -> None:
    """The rows of ``zip``, or what ``map`` makes of them: one item of each source at a time."""
    sources = [_iter(m, Arguments([given]), None) for given in arguments.positional[1 if name == "map" else 0 :]]
    end = Value((m.heap.make("end"),))

    def row(values: list[Value]) -> None:
        made = m.call(arguments.positional[0], Arguments(values)) if name == "map" else m.heap.sequence("tuple", values)
        consume(made)

    if not sources:
        return
    for _ in range(_MOST_TURNS):
        values: list[Value] = []
        for index, source in enumerate(sources):
            value = _next_or(m, source, end)
            if value.single is end.single:
                is_strict = truth(m, arguments.keywords.get("strict", FALSE))
                rest = (
                    [_next_or(m, other, end).single for other in sources[index + 1 :]] if is_strict is not False else []
                )
                if (is_strict is not False and values) or any(alternative is not end.single for alternative in rest):
                    if is_strict:
                        m.throw_new("ValueError", "zip() arguments have different lengths")
                    m.may_throw("ValueError")
                return
            values.append(value)
        if any(value.is_open or end.alternatives[0] in value.alternatives for value in values):
            break
        row(values)
    m.may_throw()
    repeat(m, lambda: row([UNKNOWN for _ in sources]))


def _next_or(m: Machine, source: Value, end: Value) -> Value:
    """The next item of an iterator, or `end`; unknown where it may be either."""
    obj = source.single
    if isinstance(obj, Obj) and obj.kind in ("generator", "lazy"):
        return iterators.next_item(m, obj, end)
    return UNKNOWN


def _range(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
    try:
        args = [hosted(value, m.heap) for value in arguments.positional]
        return const(range(*args))  # type: ignore[call-overload]
    except Unhosted:
        m.may_throw()
        return m.heap.sequence_of_any("list", unknown("", "int"), site)
    except (TypeError, ValueError) as error:
        m.throw_new(type(error).__name__, str(error))


def _quantified(stop: bool) -> Function:
    def quantified(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
        loop = Loop()
        frame = m.heap.make("frame", "<any>")
        m.heap.put(frame, "unsure", FALSE)

        def test(item: Value) -> None:
            answer = truth(m, item)
            if answer is stop:
                loop.breaks.append(m.store.captured())
                raise Dead
            if answer is None:

                def ends() -> None:
                    loop.breaks.append(m.store.captured())
                    raise Dead

                m.branch([ends, lambda: None])

        results: list[Value] = []
        try:
            items.iterate(m, _first(arguments), test)
            goes_on = True
            results.append(truth_value(not stop))
        except Dead:
            goes_on = False
        if loop.breaks:
            results.append(truth_value(stop))
        if loop.breaks or not goes_on:
            leave(m, loop.breaks, goes_on)
        return joined(results)

    return quantified


def _next(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
    obj = _first(arguments).single
    default = arguments.get(1)
    if isinstance(obj, Obj) and obj.kind == "instance":
        method = m.class_attribute(obj, "__next__")
        if method is not None and default is not None:
            return value_unless(m, lambda: m.call(method, Arguments()), "StopIteration", default)
        if method is not None:
            return m.call(method, Arguments())
    if isinstance(obj, Obj) and obj.kind in ("generator", "lazy"):
        return iterators.next_item(m, obj, default)
    if isinstance(obj, Obj) and obj.kind == "file":
        m.heap.put(obj, "<moved>", TRUE)
    m.may_throw()
    return UNKNOWN


def _iter(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
    given = _first(arguments)
    obj = given.single
    if given.is_open:
        m.may_throw("TypeError")
    if len(arguments.positional) > 1:
        return m.unseen("iter()", arguments.all())
    if isinstance(obj, Obj) and obj.kind in ("generator", "lazy"):
        return given
    if isinstance(obj, Obj) and obj.kind == "instance":
        method = m.class_attribute(obj, "__iter__")
        if method is not None:
            return m.call(method, Arguments())
    return Value((m.heap.make("lazy", "iter", data=Arguments([given])),))


# -- types


def _isinstance(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
    given, kinds = arguments.positional[0], _kinds(m, arguments.positional[1])
    if kinds is None:
        return EITHER

    def of(alternative: Const | Obj) -> Value:
        return truth_value(_any([m.is_instance(alternative, kind) for kind in kinds]))

    def hinted() -> Value:
        if not given.hint or given.hint == "number":
            return EITHER
        type_symbol = m.heap.symbol(f"builtins.{given.hint}")
        return truth_value(_any([m.is_subclass(type_symbol, kind) for kind in kinds]))

    return items.each(m, given, of, hinted)


def _any(answers: list[bool | None]) -> bool | None:
    return True if True in answers else None if None in answers else False


def _kinds(m: Machine, value: Value) -> list[Obj] | None:
    obj = value.single
    if not isinstance(obj, Obj):
        return None
    if obj.kind == "tuple":
        content = m.heap.items_of(obj).items
        if content is None:
            return None
        inner = [_kinds(m, item) for item in content]
        return None if None in inner else [kind for part in inner if part for kind in part]
    return [obj] if obj.kind in ("class", "symbol") else None


def _issubclass(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
    obj, kinds = arguments.positional[0].single, _kinds(m, arguments.positional[1])
    if kinds is None or not isinstance(obj, Obj):
        return EITHER
    return truth_value(_any([m.is_subclass(obj, kind) for kind in kinds]))


def _type(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
    if len(arguments.positional) != 1:
        return m.unseen("type()", arguments.all())
    given = arguments.positional[0]
    return items.each(m, given, lambda alternative: Value((m.type_of(alternative),)), lambda: unknown(given.reason))


def _callable(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
    def of(alternative: Const | Obj) -> Value:
        if isinstance(alternative, Const):
            return FALSE
        if alternative.kind in ("function", "method", "class", "partial"):
            return TRUE
        if alternative.kind == "instance":
            if m.class_attribute(alternative, "__call__") is not None:
                return TRUE
            return EITHER if m.extends_unseen(alternative) else FALSE
        return FALSE if alternative.kind in ("list", "tuple", "dict", "set", "module") else EITHER

    return items.each(m, _first(arguments), of, lambda: EITHER)


# -- attributes and names


def _getattr(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
    holder, default = arguments.positional[0], arguments.get(2)

    def of(name: Const | Obj) -> Value:
        if not isinstance(name, Const) or not isinstance(name.value, str):
            return any_attribute()
        if default is None:
            return attributes.get(m, holder, name.value)
        return items.each(
            m,
            holder,
            lambda alternative: with_default(alternative, str(name.value)),
            lambda: attributes.get(m, holder.of(()), str(name.value)).joined(default),
        )

    def with_default(alternative: Const | Obj, name: str) -> Value:
        assert default is not None
        value = attribute_or_absent(m, alternative, name)
        if (
            isinstance(alternative, Obj)
            and alternative.kind == "symbol"
            and m.heap.get(alternative, name).single is ABSENT
        ):
            return value.joined(default)  # it may not be there
        if not value.may_be_absent:
            return value
        return default if value.single is ABSENT else joined([value.without(ABSENT), default])

    def any_attribute() -> Value:
        m.may_throw("AttributeError")
        if any(
            isinstance(alternative, Obj) and alternative.cls is not None and alternative.cls.kind == "class"
            for alternative in holder.alternatives
        ):
            return m.unseen("getattr()", [holder])
        return joined([attributes.any_of(m, alternative) for alternative in holder.alternatives] + [UNKNOWN])

    return items.each(m, arguments.positional[1], of, any_attribute)


def _hasattr(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
    name = texts.known_text(arguments.positional[1])
    if name is None:
        return EITHER

    def of(alternative: Const | Obj) -> Value:
        if (
            isinstance(alternative, Obj)
            and alternative.kind == "symbol"
            and m.heap.get(alternative, name).single is ABSENT
        ):
            return EITHER
        value = attribute_or_absent(m, alternative, name)
        if value.single is ABSENT:
            return EITHER if name.startswith("__") else FALSE
        return EITHER if value.may_be_absent or value.is_open else TRUE

    return items.each(m, arguments.positional[0], of, lambda: EITHER)


def _setattr(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
    holder, name, value = arguments.positional[:3]

    def of(alternative: Const | Obj) -> Value:
        if isinstance(alternative, Const) and isinstance(alternative.value, str):
            attributes.set_value(m, holder, alternative.value, value)
        return NONE

    def any_name() -> Value:
        attributes.change_any(m, holder, "__setattr__", value.joined(UNKNOWN))
        return NONE

    return items.each(m, name, of, any_name)


def _delattr(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
    name = texts.known_text(arguments.positional[1])
    if name is not None:
        attributes.delete(m, arguments.positional[0], name)
    else:
        m.may_throw("AttributeError")
        attributes.change_any(m, arguments.positional[0], "__delattr__", ABSENT_VALUE)
    return NONE


def _vars(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
    if not arguments.positional:
        return _locals(m, arguments, site)
    return attributes.get(m, arguments.positional[0], "__dict__")


def _globals(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
    return Value((m.namespace(m.frame.module),))


def _locals(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
    frame = m.frame
    if frame.locals is frame.module or frame.scope.is_class:
        return Value((m.namespace(frame.locals),))
    entries = [(name, m.heap.get(frame.locals, name)) for name in sorted(frame.scope.locals)]
    made = m.heap.make("dict", site=site)
    m.heap.fill(made, [(name, value) for name, value in entries if value.single is not ABSENT])
    is_nested = frame.outer is not None and frame.outer.locals is not frame.module
    rest = UNKNOWN if is_nested else None  # what it uses of the functions around it is there as well
    m.heap.store.write(made, LAYOUT, Layout(m.heap.layout_of(made).keys, False, rest))
    return Value((made,))


def _print(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
    stream = arguments.keywords.get("file")
    sys = m.heap.symbol("sys")
    replaced = [m.heap.get(sys, name).without(ABSENT) for name in ("stdout", "stderr")]
    streams = [
        *([] if stream is None else [stream]),
        *(output for output in replaced if output.alternatives or output.is_open),
    ]
    if streams:
        m.unseen("print()", streams)
    for value in arguments.positional:
        if any(isinstance(alternative, Obj) and alternative.kind == "instance" for alternative in value.alternatives):
            texts.shown(m, value)
    return NONE


def _super(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
    if len(arguments.positional) == 2:
        cls, instance = arguments.positional[0].single, arguments.positional[1].single
        if isinstance(cls, Obj) and isinstance(instance, Obj):
            return Value((m.heap.make("super", data=(cls, instance)),))
    return unknown("super()")


def _property(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
    functions = (arguments.get(0, "fget") or NONE, arguments.get(1, "fset"), arguments.get(2, "fdel"))
    return Value((m.heap.make("property", data=functions),))


def _wrapped(kind: str) -> Function:
    def wrapped(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
        return Value((m.heap.make(kind, data=_first(arguments)),))

    return wrapped


def _object(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
    return Value((m.heap.make("instance", "object", m.heap.symbol("builtins.object"), site=site),))


def _import(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
    name = texts.known_text(_first(arguments, "name"))
    if name is None:
        m.forget_all()
        return UNKNOWN
    last = m.import_module(name)
    wanted, first = arguments.get(3, "fromlist"), m.import_module(name.partition(".")[0])
    answer = False if wanted is None else truth(m, wanted)
    return joined([first, last]) if answer is None else last if answer else first


def _exec(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
    text, names = texts.known_text(_first(arguments)), arguments.get(1, "globals")
    tree = None if text is None else _parsed(text)
    is_in_module = names is None and m.frame.locals is m.frame.module
    frame = _frame_of(m, Value((m.namespace(m.frame.module),)) if is_in_module else names, text or "")
    if tree is None or frame is None or len(arguments.positional) > 2 or arguments.keywords:
        if frame is not None and not is_in_module and names is not None:
            return m.unseen("exec()", arguments.all())  # which has these names only
        m.forget_all()
        return NONE
    caller, m.frame = m.frame, frame
    try:
        m.execute(tree.body)
    finally:
        m.frame = caller
    return NONE


def _parsed(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _frame_of(m: Machine, names: Value | None, text: str = "") -> Frame | None:
    """A module whose names are those of a dict, in the file with this text; None where the dict is not known."""
    obj = None if names is None else names.single
    if not isinstance(obj, Obj) or obj.kind != "dict":
        return None
    path = m.read_texts.get(text, m.path)
    module = m.heap.make("module", "<text>", data=m.frame.module.data._replace(path=path))
    module.store = obj.store
    return Frame(module, MODULE, module, None)


def _eval(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
    text, names = texts.known_text(_first(arguments)), arguments.get(1, "globals")
    frame = m.frame if names is None else _frame_of(m, names)
    try:
        node = None if text is None else ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        m.throw_new("SyntaxError", text or "")
    if node is None or frame is None or len(arguments.positional) > 2:
        m.forget_all()
        return UNKNOWN
    caller, m.frame = m.frame, frame
    try:
        return m.evaluate(node)
    finally:
        m.frame = caller


def _hash(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
    m.may_throw("TypeError")
    return unknown("hash()", "int")


def _input(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
    return unknown("input()", "str")


FUNCTIONS: Final[dict[str, Function]] = {
    "len": _len,
    "int": _number(int),
    "float": _number(float),
    "bool": _bool,
    "str": _str,
    "repr": _repr,
    "ascii": _plain("ascii", "str"),
    "format": _format,
    "abs": _number_function("abs"),
    "round": _number_function("round"),
    "pow": _pow,
    "divmod": _plain("divmod"),
    "bin": _plain("bin", "str"),
    "hex": _plain("hex", "str"),
    "oct": _plain("oct", "str"),
    "chr": _plain("chr", "str"),
    "ord": _plain("ord", "int"),
    "complex": _plain("complex", "complex"),
    "bytes": _plain("bytes", "bytes"),
    "max": _extreme("max"),
    "min": _extreme("min"),
    "sum": _sum,
    "any": _quantified(True),
    "all": _quantified(False),
    "list": _sequence("list"),
    "tuple": _sequence("tuple"),
    "set": _set,
    "frozenset": _frozenset,
    "dict": _dict,
    "sorted": _sorted,
    "range": _range,
    **{name: _lazy(name) for name in ("zip", "enumerate", "map", "filter", "reversed")},
    "next": _next,
    "iter": _iter,
    "isinstance": _isinstance,
    "issubclass": _issubclass,
    "type": _type,
    "callable": _callable,
    "getattr": _getattr,
    "hasattr": _hasattr,
    "setattr": _setattr,
    "delattr": _delattr,
    "vars": _vars,
    "globals": _globals,
    "locals": _locals,
    "print": _print,
    "super": _super,
    "property": _property,
    "staticmethod": _wrapped("staticmethod"),
    "classmethod": _wrapped("classmethod"),
    "object": _object,
    "__import__": _import,
    "exec": _exec,
    "eval": _eval,
    "input": _input,
    "hash": _hash,
    "id": lambda m, arguments, site: unknown("id()", "int"),
}
"""By name what the built-in functions and types give."""
