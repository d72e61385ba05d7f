"""What can be done with the objects of each kind."""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Callable
from typing import Final

from npulint.model.abstract_values.store import Layer
from npulint.model.abstract_values.value import ABSENT, ABSENT_VALUE, EITHER, NONE, UNKNOWN, Obj, Value, const, unknown
from npulint.model.execution import attributes, calls, classes, files, items, path_objects, records, texts
from npulint.model.execution.calls import function_of, given_by, keywords_of
from npulint.model.execution.exceptions import guarded, split_outcome, with_object
from npulint.model.execution.library import functions, options, process, standard
from npulint.model.execution.loops import leave, repeat
from npulint.model.execution.machine import Arguments, Dead, Kind, Machine

_MOST_TURNS = 300  # of an iterator of the program that are executed one by one


def _iterate_symbol(m: Machine, obj: Obj, consume: Callable[[Value], object]) -> None:
    m.may_throw()
    hint = unknown("$", "str") if obj.name == process.ENVIRONMENT else unknown(f"{obj.name}[]")
    repeat(m, lambda: consume(hint))


def _iterate_class(m: Machine, obj: Obj, consume: Callable[[Value], object]) -> None:
    if obj in m.enums:
        for member in records.enum_members(m, obj):
            consume(member)
        return
    m.may_throw()
    repeat(m, lambda: consume(UNKNOWN))


def _iterate_instance(m: Machine, obj: Obj, consume: Callable[[Value], object]) -> None:
    method = m.class_attribute(obj, "__iter__")
    if method is None:
        getter = m.class_attribute(obj, "__getitem__")
        if getter is None and not m.extends_unseen(obj):
            m.throw_new("TypeError", f"'{obj.name}' object is not iterable")
        m.may_throw()
        m.unseen("iter()", [Value((obj,))])
        repeat(m, lambda: consume(UNKNOWN))
        return
    source = m.call(method, Arguments())
    iterator = source.single
    if (
        isinstance(iterator, Obj)
        and iterator.kind == "instance"
        and m.class_attribute(iterator, "__next__") is not None
    ):
        _iterate_by_next(m, iterator, consume)
    else:
        items.iterate(m, source, consume)


def _iterate_by_next(m: Machine, iterator: Obj, consume: Callable[[Value], object]) -> None:
    stop = [m.heap.symbol("builtins.StopIteration")]
    method = m.class_attribute(iterator, "__next__")
    assert method is not None
    finished: list[Layer] = []

    def turn() -> None:
        results: list[Value] = []
        goes_on, outcomes = guarded(m, lambda: results.append(m.call(method, Arguments())))
        end = m.store.layer
        for outcome in outcomes:
            split_outcome(m, outcome, stop, finished)
        m.store.resume(end)
        if not goes_on:
            raise Dead
        consume(results[-1])

    with contextlib.suppress(Dead):
        for _ in range(_MOST_TURNS):
            turn()
        repeat(m, turn)
    if not finished:
        m.endless()
    leave(m, finished, False)


def _symbol_item(m: Machine, obj: Obj, key: Value) -> Value:
    if obj.name == process.ENVIRONMENT:
        return process.environment_item(m, obj, key)
    if obj.name == "sys.modules":
        name = texts.known_text(key)
        item = m.store.read(obj, name) if name is not None else None
        if isinstance(item, Value) and item.single is not ABSENT:
            return item
        loaded = [module for (dotted, _), module in m.modules.items() if dotted == name]
        return Value((loaded[0],)) if len(loaded) == 1 else UNKNOWN
    if obj.name.partition(".")[0] in ("typing", "builtins", "collections"):
        return Value((obj,))
    m.may_throw()
    return unknown(f"{obj.name}[]")


def _class_item(m: Machine, obj: Obj, key: Value) -> Value:
    if obj in m.enums:
        return records.enum_item(m, obj, key)
    method, home = attributes.class_attribute(m, obj, "__class_getitem__")
    if home is not None and home.kind == "class":
        function = (
            method.single.data if isinstance(method.single, Obj) and method.single.kind == "classmethod" else method
        )
        return m.call(function if isinstance(function, Value) else UNKNOWN, Arguments([Value((obj,)), key]))
    return Value((obj,))


def _store_in_symbol(m: Machine, obj: Obj, key: Value, value: Value) -> None:
    if obj.name == process.ENVIRONMENT:
        process.set_environment_item(m, obj, key, value)
        return
    name = texts.known_text(key)
    if obj.name == "sys.modules" and name is not None:
        m.heap.put(obj, name, value)
        return
    m.unseen(obj.name, [key, value])


def _symbol_contains(m: Machine, obj: Obj, item: Value) -> Value:
    return process.environment_contains(m, obj, item) if obj.name == process.ENVIRONMENT else EITHER


def _view_contains(m: Machine, obj: Obj, item: Value) -> Value:
    owner, kind = obj.data
    if kind == "keys":
        return items.contains(m, Value((owner,)), item)
    return items.contains(m, items.sequence_of(m, "list", items.listed(m, Value((obj,)))), item)


def _update_from_symbol(m: Machine, held: Obj, owner: Obj) -> None:
    if held.name == process.ENVIRONMENT:
        process.copy_environment_into(m, held, owner)
    else:
        m.heap.set_any(owner, UNKNOWN)


def _attribute_of_wrapped(m: Machine, obj: Obj, name: str) -> Value:
    if name == "cache_clear":
        return Value((m.heap.make("cache_clear", data=obj),))
    wrapped: Value = obj.data
    if name == "__wrapped__":
        return wrapped
    return attributes.get(m, obj.data, name)


def _attribute_of_generator(m: Machine, generator: Obj, name: str) -> Value:
    """What a generator is sent, or what is raised in it, is not followed."""
    m.lost = True
    return UNKNOWN


def _attribute_of_partial(m: Machine, obj: Obj, name: str) -> Value:
    if name == "func":
        return function_of(obj)
    if name == "args":
        return m.heap.sequence("tuple", given_by(m, obj).positional)
    return keywords_of(obj) if name == "keywords" else UNKNOWN


def _attribute_of_method(m: Machine, obj: Obj, name: str) -> Value:
    if isinstance(obj.data, tuple):
        if name == "__self__":
            receiver: Value = obj.data[1]
            return receiver
        if name == "__func__":
            return Value((obj.data[0],))
        if isinstance(obj.data[0], Obj):
            return attributes.attribute_of(m, obj.data[0], name)
    return UNKNOWN


def _attribute_of_property(m: Machine, obj: Obj, name: str) -> Value:
    if name in ("setter", "getter", "deleter"):
        return Value((m.heap.make("property_changer", name, data=obj),))
    return obj.data[0] if name == "fget" else UNKNOWN


def _call_property_changer(m: Machine, obj: Obj, arguments: Arguments, site: ast.AST | None) -> Value:
    functions = list(obj.data.data)
    functions[("getter", "setter", "deleter").index(obj.name)] = arguments.positional[0]
    return Value((m.heap.make("property", data=tuple(functions)),))


def _set_ignored(m: Machine, obj: Obj, name: str, value: Value) -> None:
    m.heap.put(obj, f"set {name}", value)


def _call_itemgetter(m: Machine, obj: Obj, arguments: Arguments, site: ast.AST | None) -> Value:
    parts = [items.get_item(m, arguments.positional[0], key) for key in obj.data]
    return parts[0] if len(parts) == 1 else m.heap.sequence("tuple", parts)


def _call_attrgetter(m: Machine, obj: Obj, arguments: Arguments, site: ast.AST | None) -> Value:
    parts = []
    for key in obj.data:
        value = arguments.positional[0]
        for name in (texts.known_text(key) or "").split("."):
            value = attributes.get(m, value, name)
        parts.append(value)
    return parts[0] if len(parts) == 1 else m.heap.sequence("tuple", parts)


def _new(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
    """What ``super().__new__(cls, ...)`` gives."""
    cls = arguments.positional[0].single
    record = None
    if isinstance(cls, Obj) and cls.kind == "class":
        record = next((m.records[base] for base in m.mro(cls) if base in m.records), None)
    if isinstance(cls, Obj) and record is not None and record.kind == "namedtuple":
        return records.make_named_tuple(m, cls, record, Arguments(arguments.positional[1:], arguments.keywords), site)
    if isinstance(cls, Obj) and cls.kind == "class":
        return Value((classes.new_instance(m, cls, Arguments(arguments.positional[1:], arguments.keywords), site),))
    return UNKNOWN


def _call_slot(m: Machine, obj: Obj, arguments: Arguments, site: ast.AST | None) -> Value:
    """What ``super().__init__(...)`` and the like give of built-in classes."""
    instance: Obj = obj.data
    if obj.name == "__init__":
        classes.built_in_init(m, instance, arguments)
    elif obj.name == "__setattr__":
        name = texts.known_text(arguments.positional[0])
        if name is None:
            m.heap.set_any(instance, arguments.positional[1])
        else:
            attributes.set_own(m, instance, name, arguments.positional[1])
    elif obj.name == "__delattr__":
        name = texts.known_text(arguments.positional[0])
        if name is None:
            m.heap.set_any(instance, ABSENT_VALUE)
        else:
            attributes.delete_own(m, instance, name)
    elif obj.name == "__new__":
        return _new(m, arguments, site)
    elif obj.name == "__getattribute__":
        name = texts.known_text(arguments.positional[0])
        if name is not None:
            value = m.heap.get(instance, name)
            if value.single is ABSENT:
                m.throw_new("AttributeError", name)
            return value.without(ABSENT)
        return UNKNOWN
    return NONE


def _call_record_method(m: Machine, obj: Obj, arguments: Arguments, site: ast.AST | None) -> Value:
    """What the generated methods of a named tuple give."""
    instance: Obj = obj.data
    record = records.fields_of(m, instance)
    assert record is not None and instance.cls is not None
    values = {field.name: m.heap.get(instance, field.name) for field in record.fields}
    if obj.name == "_asdict":
        return m.heap.mapping(values.items(), "dict", site)
    values.update(arguments.keywords)
    return records.named_tuple(m, instance.cls, record, list(values.values()), site)


def _enter_context(m: Machine, obj: Obj, body: Callable[[Value], None]) -> None:
    arguments: Arguments = obj.data
    if obj.name == "nullcontext":
        body(arguments.get(0, "enter_result") or NONE)
        return
    if obj.name == "closing":
        thing = arguments.positional[0]
        with_object(m, lambda: thing, lambda _: m.call(attributes.get(m, thing, "close"), Arguments()), body)
        return
    kinds = [value.single for value in arguments.positional]
    classes_ = [kind for kind in kinds if isinstance(kind, Obj)]
    goes_on, outcomes = guarded(m, lambda: body(NONE))
    ends = [m.store.captured()] if goes_on else []
    for outcome in outcomes:
        split_outcome(m, outcome, classes_, ends)
    leave(m, ends, False)


def _call_cacher(m: Machine, cacher: Obj, arguments: Arguments, site: ast.AST | None) -> Value:
    """The decorator that ``lru_cache(maxsize=None)`` gives."""
    return standard.STANDARD["functools.cache"](m, arguments, site)


def _call_equality(m: Machine, obj: Obj, arguments: Arguments, site: ast.AST | None) -> Value:
    """What the generated ``__eq__`` of a dataclass gives."""
    return items.each(m, arguments.positional[0], lambda other: records.equal(m, obj.data, other), lambda: EITHER)


def _clear_cache(m: Machine, obj: Obj, arguments: Arguments, site: ast.AST | None) -> Value:
    """Forget the results that a function keeps."""
    for key in m.heap.layout_of(obj.data).keys:
        if isinstance(key, str) and key.startswith("kept "):
            m.heap.delete(obj.data, key)
    return NONE


def _call_unseen(m: Machine, obj: Obj, arguments: Arguments, site: ast.AST | None) -> Value:
    """A context manager as a decorator is not followed."""
    m.lost = True
    return m.unseen("", [obj.data if isinstance(obj.data, Value) else Value((obj.data,)), *arguments.all()])


def _call_wrapped(m: Machine, obj: Obj, arguments: Arguments, site: ast.AST | None) -> Value:
    return m.call(obj.data, arguments, site)


def _zero(m: Machine, owner: Obj, arguments: Arguments, site: ast.AST | None) -> Value:
    return const(0)


KINDS: Final[dict[str, Kind]] = {
    "symbol": Kind(
        iterate=_iterate_symbol,
        item=_symbol_item,
        store_item=_store_in_symbol,
        contains=_symbol_contains,
        copy_into=_update_from_symbol,
    ),
    "view": Kind(iterate=items.iterate_view, contains=_view_contains),
    "generator": Kind(iterate=calls.iterate_generator, attribute=_attribute_of_generator),
    "lazy": Kind(iterate=functions.iterate_lazy),
    "instance": Kind(iterate=_iterate_instance),
    "class": Kind(iterate=_iterate_class, item=_class_item),
    "generator_context": Kind(call=_call_unseen),
    "file": Kind(iterate=files.iterate_file, attribute=files.file_attribute, enter=files.enter_file),
    "pathlib": Kind(attribute=path_objects.path_attribute),
    "pathlib_method": Kind(call=path_objects.call_path_method),
    "file_method": Kind(call=files.call_file_method),
    "options": Kind(attribute=options.parser_attribute, set_attribute=options.set_parser_attribute),
    "options_method": Kind(call=options.call_method),
    "context": Kind(enter=_enter_context),
    "wraps": Kind(call=standard.call_wraps),
    "cached": Kind(call=standard.call_cached, attribute=_attribute_of_wrapped, set_attribute=_set_ignored),
    "cache_clear": Kind(call=_clear_cache),
    "cacher": Kind(call=_call_cacher),
    "dispatch": Kind(call=standard.call_dispatch, attribute=standard.dispatch_attribute),
    "dispatch_register": Kind(call=standard.call_dispatch_register),
    "dispatch_for": Kind(call=standard.call_dispatch_for),
    "contextmanager": Kind(call=standard.call_contextmanager),
    "dataclass": Kind(call=standard.call_dataclass),
    "partial": Kind(attribute=_attribute_of_partial, set_attribute=_set_ignored),
    "method": Kind(attribute=_attribute_of_method),
    "property": Kind(attribute=_attribute_of_property),
    "property_changer": Kind(call=_call_property_changer),
    "itemgetter": Kind(call=_call_itemgetter),
    "attrgetter": Kind(call=_call_attrgetter),
    "slot": Kind(call=_call_slot),
    "record_method": Kind(call=_call_record_method),
    "equality": Kind(call=_call_equality),
    "zero": Kind(call=_zero),
    "staticmethod": Kind(call=_call_wrapped),
}
"""By the kind of an object what can be done with it; lists, tuples, dicts and sets are in `items`."""
