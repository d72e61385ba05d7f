"""Items: of lists, dicts, sets, texts and what else can be indexed or iterated."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from npulint.model.abstract_values.heap import Key, key_of, value_of_key
from npulint.model.abstract_values.hosted import Unhosted, adopted, hosted_alternative
from npulint.model.abstract_values.objects import ITEMS, LAYOUT, Items, Layout
from npulint.model.abstract_values.value import (
    ABSENT,
    EITHER,
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
from npulint.model.execution.loops import Turns, repeat
from npulint.model.execution.machine import NO_KIND, Arguments, Machine
from npulint.model.execution.truth import is_found, truth

_MOST_ITERATIONS = 300
_MOST_PAIRS = 36


# -- alternatives


def each(m: Machine, value: Value, of: Callable[[Const | Obj], Value], otherwise: Callable[[], Value]) -> Value:
    """What `of` gives for each alternative, and `otherwise` where there may be others."""
    works: list[Callable[[], Value]] = []
    for alternative in value.alternatives:
        if alternative is not ABSENT:
            works.append(lambda alternative=alternative: of(alternative))  # type: ignore[misc]
    if value.is_open or not works:
        works.append(otherwise)
    return m.value_of_branches(works)


def each_pair(
    m: Machine,
    left: Value,
    right: Value,
    of: Callable[[Const | Obj, Const | Obj], Value],
    otherwise: Callable[[], Value],
) -> Value:
    """The same for all pairs of alternatives of two values."""
    if len(left.alternatives) * len(right.alternatives) > _MOST_PAIRS:
        m.may_throw()
        return UNKNOWN
    works: list[Callable[[], Value]] = []
    for alternative in left.alternatives:
        for other in right.alternatives:
            if alternative is not ABSENT and other is not ABSENT:
                works.append(lambda alternative=alternative, other=other: of(alternative, other))  # type: ignore[misc]
    if left.is_open or right.is_open or not works:
        works.append(otherwise)
    return m.value_of_branches(works)


def builtin_part(alternative: Const | Obj) -> Const | Obj:
    """The list, dict or constant that an instance of a class extending a built-in one is; others as they are."""
    if isinstance(alternative, Obj) and alternative.items is not None:
        held = alternative.items.single
        if isinstance(held, (Const, Obj)):
            return held
    return alternative


# -- iterating


def iterate(m: Machine, source: Value, consume: Callable[[Value], object]) -> None:
    """Hand over the items of an iterable in order. Raises `Dead` where the consumer never comes back."""

    def open_items() -> Value:
        m.may_throw("TypeError")
        hint = unknown(source.reason, "str") if source.hint == "str" else unknown(source.reason)
        repeat(m, lambda: consume(hint))
        return UNKNOWN

    def items_of(alternative: Const | Obj) -> Value:
        _iterate_one(m, alternative, consume)
        return UNKNOWN

    each(m, source, items_of, open_items)


def _iterate_one(m: Machine, alternative: Const | Obj, consume: Callable[[Value], object]) -> None:
    alternative = builtin_part(alternative)
    if isinstance(alternative, Const):
        _iterate_constant(m, alternative.value, consume)
    elif alternative.kind in ("list", "tuple"):
        _iterate_list(m, alternative, consume)
    elif alternative.kind in ("dict", "set"):
        _iterate_keys(
            m, alternative, consume, lambda key, _: UNKNOWN if key is UNKNOWN_KEY else value_of_key(key, m.heap)
        )
    else:
        handler = m.kinds.get(alternative.kind, NO_KIND).iterate
        if handler is not None:
            handler(m, alternative, consume)
        else:
            m.may_throw()
            repeat(m, lambda: consume(UNKNOWN))


def _iterate_constant(m: Machine, value: object, consume: Callable[[Value], object]) -> None:
    if isinstance(value, (str, bytes, range)):
        if len(value) > _MOST_ITERATIONS:
            hint = "str" if isinstance(value, str) else "int"
            repeat(m, lambda: consume(unknown("", hint)), surely=True)
            return
        turns = Turns(m)
        for item in value:
            if not turns.go_on():
                _repeat_with(m, unknown("", "str" if isinstance(value, str) else "int"), consume)
                return
            consume(const(item))
        return
    m.throw_new("TypeError", f"'{type(value).__name__}' object is not iterable")


def _iterate_list(m: Machine, owner: Obj, consume: Callable[[Value], object]) -> None:
    index, turns = 0, Turns(m)
    while True:
        content = m.heap.items_of(owner)
        if content.items is None or len(content.items) > _MOST_ITERATIONS or not turns.go_on():
            _repeat_with(m, content.any_item, consume)
            return
        if index >= len(content.items):
            return
        consume(content.items[index])
        index += 1


def _repeat_with(m: Machine, item: Value, consume: Callable[[Value], object]) -> None:
    repeat(m, lambda: consume(item))


def _iterate_keys(
    m: Machine, owner: Obj, consume: Callable[[Value], object], shown: Callable[[Key, Value], Value]
) -> None:
    layout = m.heap.layout_of(owner)
    entries = m.heap.entries(owner)
    unordered = not layout.is_ordered and len(entries) > 1
    if layout.rest is not None or unordered or len(entries) > _MOST_ITERATIONS:
        values = [shown(key, value.without(ABSENT)) for key, value in entries]
        if layout.rest is not None:
            values.append(shown(UNKNOWN_KEY, layout.rest))
        any_value = joined(values)
        repeat(m, lambda: consume(any_value))
        return
    for key, value in entries:
        if set(m.heap.layout_of(owner).keys) != set(layout.keys):
            m.throw_new("RuntimeError", f"{owner.kind} changed size during iteration")
        now = m.heap.get(owner, key)
        item = shown(key, (now if now.single is not ABSENT else value).without(ABSENT))
        if value.may_be_absent:
            m.maybe(lambda item=item: consume(item))  # type: ignore[misc]
        else:
            consume(item)
    if entries and set(m.heap.layout_of(owner).keys) != set(layout.keys):
        m.throw_new("RuntimeError", f"{owner.kind} changed size during iteration")


UNKNOWN_KEY = object()


def iterate_view(m: Machine, view: Obj, consume: Callable[[Value], object]) -> None:
    """The items of ``d.keys()``, ``d.values()`` or ``d.items()``."""
    owner, kind = view.data

    def shown(key: Key, value: Value) -> Value:
        name = UNKNOWN if key is UNKNOWN_KEY else value_of_key(key, m.heap)
        if kind == "keys":
            return name
        return value if kind == "values" else m.heap.sequence("tuple", [name, value])

    _iterate_keys(m, owner, consume, shown)


def listed(m: Machine, source: Value) -> Items:
    """The items of an iterable, all taken at once."""
    single = source.single
    if isinstance(single, Obj) and single.kind in ("list", "tuple"):
        return m.heap.items_of(single)
    made = m.heap.sequence("list", ()).single
    assert isinstance(made, Obj)
    iterate(m, source, lambda item: append(m, made, item))
    return m.heap.items_of(made)


def append(m: Machine, owner: Obj, item: Value) -> None:
    """Add an item to the end of a list."""
    content = m.heap.items_of(owner)
    if content.items is None:
        m.heap.put(owner, ITEMS, Items(None, content.each.joined(item)))
    else:
        m.heap.put(owner, ITEMS, Items((*content.items, item)))


def sequence_of(m: Machine, kind: str, content: Items, site: object = None) -> Value:
    """A new list or tuple with a content."""
    if content.items is None:
        return m.heap.sequence_of_any(kind, content.each, site)
    return m.heap.sequence(kind, content.items, site)


def set_of(m: Machine, content: Items, site: object = None) -> Value:
    """A new set of these items."""
    made = m.heap.mapping((), "set", site)
    owner = made.single
    assert isinstance(owner, Obj)
    for item in content.items if content.items is not None else (content.each,):
        if content.items is None:
            m.heap.set_any(owner, TRUE)
        else:
            add(m, owner, item)
    return made


def add(m: Machine, owner: Obj, item: Value) -> None:
    """Add an item to a set."""
    refuse_unhashable(m, item)
    keys = [key_of(alternative, m.heap) for alternative in item.alternatives if alternative is not ABSENT]  # type: ignore[arg-type]
    if item.is_open or None in keys:
        m.may_throw("TypeError")
        m.heap.set_any(owner, TRUE)
        return
    for key in keys:
        if len(keys) == 1:
            m.heap.set(owner, key, TRUE)
        else:
            m.heap.maybe_set(owner, key, TRUE)


# -- single items


def get_item(m: Machine, holder: Value, key: Value, site: ast.AST | None = None) -> Value:
    """The value of ``holder[key]``."""

    def open_item() -> Value:
        m.may_throw()
        return unknown(f"{holder.reason}[]" if holder.reason and holder.reason[0] != "$" else holder.reason)

    return each(m, holder, lambda alternative: _item_of(m, alternative, key, site), open_item)


def _item_of(m: Machine, alternative: Const | Obj, key: Value, site: ast.AST | None) -> Value:
    if isinstance(alternative, Obj):
        if alternative.kind == "instance":
            method = m.class_attribute(alternative, "__getitem__")
            if method is not None:
                return m.call(method, Arguments([key]), site)
        held = builtin_part(alternative)
        if isinstance(held, Obj):
            if held.kind == "dict":
                return _dict_item(m, alternative, held, key, site)
            if held.kind in ("list", "tuple"):
                return each(m, key, lambda index: _list_item(m, held, index, site), lambda: _any_item(m, held))
            handler = m.kinds.get(held.kind, NO_KIND).item
            if handler is not None:
                return handler(m, held, key)
            m.may_throw()
            return UNKNOWN
        alternative = held
    return each(
        m, key, lambda index: _constant_item(m, alternative.value, index), lambda: _constant_any(m, alternative.value)
    )


def _any_item(m: Machine, owner: Obj) -> Value:
    m.may_throw("IndexError", "TypeError")
    return m.heap.items_of(owner).any_item


def _constant_any(m: Machine, value: object) -> Value:
    m.may_throw()
    return unknown("", "str" if isinstance(value, str) else "")


def _constant_item(m: Machine, value: Any, index: Const | Obj) -> Value:
    try:
        return adopted(value[hosted_index(m, index)], m.heap)
    except (TypeError, IndexError, KeyError) as error:
        m.throw_new(type(error).__name__, str(error))
    except Unhosted:
        m.may_throw()
        return UNKNOWN


def hosted_index(m: Machine, index: Const | Obj) -> object:
    """An index or slice as a value of this Python. Raises `Unhosted`."""
    if isinstance(index, Obj) and index.kind == "slice":
        bounds = []
        for part in index.data:
            single = part.single
            if not isinstance(single, Const):
                raise Unhosted
            bounds.append(single.value)
        return slice(*bounds)
    return hosted_alternative(index, m.heap)


def _list_item(m: Machine, owner: Obj, index: Const | Obj, site: ast.AST | None) -> Value:
    content = m.heap.items_of(owner)
    is_slice = isinstance(index, Obj) and index.kind == "slice"
    try:
        where = hosted_index(m, index)
    except Unhosted:
        m.may_throw()
        return m.heap.sequence_of_any(owner.kind, content.any_item, site) if is_slice else content.any_item
    if content.items is None:
        m.may_throw("IndexError")
        return m.heap.sequence_of_any(owner.kind, content.each, site) if is_slice else content.each
    try:
        item = content.items[where]  # type: ignore[call-overload]
    except (IndexError, TypeError, ValueError) as error:
        m.throw_new(type(error).__name__, str(error))
    return m.heap.sequence(owner.kind, item, site) if is_slice else item


def _dict_item(m: Machine, instance: Obj, owner: Obj, key: Value, site: ast.AST | None) -> Value:
    refuse_unhashable(m, key)

    def of(alternative: Const | Obj) -> Value:
        name = key_of(alternative, m.heap)
        if name is None:
            m.may_throw()
            return any_value(m, owner)
        value = m.heap.get(owner, name)
        if not value.may_be_absent:
            return value
        if value.single is ABSENT:
            return _missing(m, instance, owner, name, site)
        if m.heap.layout_of(owner).rest is not None and name not in m.heap.layout_of(owner).keys:
            m.may_throw("KeyError")
            return value.without(ABSENT)
        return m.value_of_branches([lambda: value.without(ABSENT), lambda: _missing(m, instance, owner, name, site)])

    def open_key() -> Value:
        m.may_throw("KeyError", "TypeError")
        if not isinstance(owner.data, Value):
            return any_value(m, owner)
        made = m.call(owner.data, Arguments(), site)  # one for each key that has none
        for new in made.alternatives:
            if isinstance(new, Obj):
                new.many = True
        before = any_value(m, owner)
        m.heap.set_any(owner, made)
        return joined([before, made])

    return each(m, key, of, open_key)


def any_value(m: Machine, owner: Obj) -> Value:
    """What a dict may have at a key that is not known."""
    values = [value.without(ABSENT) for _, value in m.heap.entries(owner)]
    rest = m.heap.layout_of(owner).rest
    result = joined([*values, *([] if rest is None else [rest])])
    if owner.data is not None:
        return result.joined(UNKNOWN)
    return result.without(ABSENT)


def _missing(m: Machine, instance: Obj, owner: Obj, key: Key, site: ast.AST | None) -> Value:
    name = value_of_key(key, m.heap)
    if instance.kind == "instance":
        method = m.class_attribute(instance, "__missing__")
        if method is not None:
            return m.call(method, Arguments([name]), site)
    if owner.data is not None:  # the factory of a defaultdict
        made = m.call(owner.data, Arguments(), site)
        m.heap.set(owner, key, made)
        return made
    m.throw(m.exception("KeyError", [name]))


def set_item(m: Machine, holder: Obj, key: Value, value: Value) -> None:
    """Execute ``holder[key] = value`` for a dict."""
    keys = [key_of(alternative, m.heap) for alternative in key.alternatives if alternative is not ABSENT]  # type: ignore[arg-type]
    refuse_unhashable(m, key)
    if key.is_open or None in keys:
        m.may_throw("TypeError")
        m.heap.set_any(holder, value)
    if len(keys) == 1 and not key.is_open and keys[0] is not None:
        m.heap.set(holder, keys[0], value)
        return
    for possible_key in keys:
        if possible_key is not None:
            m.heap.maybe_set(holder, possible_key, value)


def refuse_unhashable(m: Machine, key: Value) -> None:
    """Raise TypeError for a key that is a list, dict or set."""
    obj = key.single
    if isinstance(obj, Obj) and obj.kind in ("list", "dict", "set") and obj.name != "frozenset":
        m.throw_new("TypeError", f"unhashable type: '{obj.kind}'")


def store_item(m: Machine, holder: Value, key: Value, value: Value) -> None:
    """Execute ``holder[key] = value``."""

    def of(alternative: Const | Obj) -> Value:
        _store_in(m, alternative, key, value)
        return UNKNOWN

    def unseen() -> Value:
        m.unseen(holder.reason, [key, value])
        return UNKNOWN

    each(m, holder, of, unseen)


def _store_in(m: Machine, alternative: Const | Obj, key: Value, value: Value) -> None:
    if isinstance(alternative, Const):
        m.throw_new("TypeError", "object does not support item assignment")
    if alternative.kind == "instance":
        method = m.class_attribute(alternative, "__setitem__")
        if method is not None:
            m.call(method, Arguments([key, value]))
            return
    held = builtin_part(alternative)
    if not isinstance(held, Obj):
        return
    if held.kind == "dict":
        set_item(m, held, key, value)
    elif held.kind == "list":
        _store_in_list(m, held, key, value)
    elif (store := m.kinds.get(held.kind, NO_KIND).store_item) is not None:
        store(m, held, key, value)
    else:
        m.unseen(alternative.name, [Value((alternative,)), key, value])


def _store_in_list(m: Machine, owner: Obj, key: Value, value: Value) -> None:
    content = m.heap.items_of(owner)
    single = key.single
    if content.items is not None and isinstance(single, Const) and isinstance(single.value, int):
        items = list(content.items)
        try:
            items[single.value] = value
        except IndexError as error:
            m.throw_new("IndexError", str(error))
        m.heap.put(owner, ITEMS, Items(tuple(items)))
        return
    if isinstance(single, Obj) and single.kind == "slice":
        _store_slice(m, owner, content, single, value)
        return
    m.may_throw()
    if content.items is None:
        m.heap.put(owner, ITEMS, Items(None, content.each.joined(value)))
    else:
        m.heap.put(owner, ITEMS, Items(tuple(item.joined(value) for item in content.items)))


def _store_slice(m: Machine, owner: Obj, content: Items, index: Obj, value: Value) -> None:
    given = listed(m, value)
    try:
        where = hosted_index(m, index)
    except Unhosted:
        where = None
    if content.items is None or given.items is None or not isinstance(where, slice):
        m.heap.put(owner, ITEMS, Items(None, content.any_item.joined(given.any_item)))
        return
    items = list(content.items)
    try:
        items[where] = given.items
    except ValueError as error:
        m.throw_new("ValueError", str(error))
    m.heap.put(owner, ITEMS, Items(tuple(items)))


def delete_item(m: Machine, holder: Value, key: Value) -> None:
    """Execute ``del holder[key]``."""

    def of(alternative: Const | Obj) -> Value:
        _delete_in(m, alternative, key)
        return UNKNOWN

    each(m, holder, of, lambda: m.unseen(holder.reason, [key]))


def _delete_in(m: Machine, alternative: Const | Obj, key: Value) -> None:
    held = builtin_part(alternative)
    if isinstance(alternative, Obj) and alternative.kind == "instance":
        method = m.class_attribute(alternative, "__delitem__")
        if method is not None:
            m.call(method, Arguments([key]))
            return
    if isinstance(held, Obj) and held.kind == "dict":
        single = key.single
        name = key_of(single, m.heap) if isinstance(single, (Const, Obj)) else None
        if name is None:
            m.may_throw("KeyError")
            m.heap.set_any(held, Value((ABSENT,)))
        elif m.heap.get(held, name).single is ABSENT:
            m.throw(m.exception("KeyError", [key]))
        else:
            m.heap.delete(held, name)
    elif isinstance(held, Obj) and held.kind == "list":
        content, single = m.heap.items_of(held), key.single
        try:
            where = hosted_index(m, single) if isinstance(single, (Const, Obj)) else None
        except Unhosted:
            where = None
        if content.items is None or where is None:
            m.heap.put(held, ITEMS, Items(None, content.any_item))
            return
        items = list(content.items)
        try:
            del items[where]  # type: ignore[arg-type]
        except IndexError as error:
            m.throw_new("IndexError", str(error))
        m.heap.put(held, ITEMS, Items(tuple(items)))
    elif isinstance(held, Obj) and (store := m.kinds.get(held.kind, NO_KIND).store_item) is not None:
        store(m, held, key, Value((ABSENT,)))
    else:
        m.unseen("", [Value((alternative,)), key])


# -- containment


def contains(m: Machine, holder: Value, item: Value) -> Value:
    """The value of ``item in holder``."""
    if holder.is_open or item.is_open:
        m.may_throw()
    return each(m, holder, lambda alternative: _contains_one(m, alternative, item), lambda: EITHER)


def _contains_one(m: Machine, alternative: Const | Obj, item: Value) -> Value:
    if isinstance(alternative, Obj) and alternative.kind == "instance":
        method = m.class_attribute(alternative, "__contains__")
        if method is not None:
            return truth_value(truth(m, m.call(method, Arguments([item]))))  # whatever it returns
    held = builtin_part(alternative)
    if isinstance(held, Const):
        return each(m, item, lambda part: _constant_contains(m, held.value, part), lambda: EITHER)
    if held.kind in ("dict", "set"):
        return each(m, item, lambda part: _has_key(m, held, part), lambda: EITHER)
    has_item = m.kinds.get(held.kind, NO_KIND).contains
    if has_item is not None:
        return has_item(m, held, item)
    if held.kind == "symbol" or (held.kind == "instance" and m.class_attribute(held, "__iter__") is None):
        m.may_throw()
        return EITHER
    content = listed(m, Value((held,)))
    if held.kind in ("generator", "lazy"):  # it stops at the first that is equal
        m.store.write(held, "<rest>", Items(None))
    return _among(m, content, item)


def _among(m: Machine, content: Items, item: Value) -> Value:
    if content.items is None or item.is_open:
        return truth_value(False) if content.items == () else EITHER
    answers: set[bool | None] = set()
    for alternative in item.alternatives:
        if alternative is not ABSENT:
            answers.add(_is_among(m, content.items, alternative))  # type: ignore[arg-type]
    return truth_value(answers.pop() if len(answers) == 1 else None)


def _is_among(m: Machine, values: Sequence[Value], alternative: Const | Obj) -> bool | None:
    result: bool | None = False
    for value in values:
        equal = {None if other is ABSENT else is_found(m, other, alternative) for other in value.alternatives}  # type: ignore[arg-type]
        if value.is_open:
            equal.add(None)
        if equal == {True}:
            return True
        if equal != {False}:
            result = None
    return result


def _constant_contains(m: Machine, value: Any, part: Const | Obj) -> Value:
    try:
        return truth_value(hosted_alternative(part, m.heap) in value)
    except TypeError as error:
        m.throw_new("TypeError", str(error))
    except Unhosted:
        return EITHER


def _has_key(m: Machine, owner: Obj, part: Const | Obj) -> Value:
    refuse_unhashable(m, Value((part,)))
    key = key_of(part, m.heap)
    if key is None:
        m.may_throw("TypeError")
        return EITHER
    value = m.heap.get(owner, key)
    if value.single is ABSENT:
        return truth_value(False)
    return truth_value(
        None if value.may_be_absent or (value.is_open and key not in m.heap.layout_of(owner).keys) else True
    )


# -- dicts and lists as a whole


def update(m: Machine, owner: Obj, given: Value) -> None:
    """Execute ``owner.update(given)`` for a dict; pairs are accepted."""

    def of(alternative: Const | Obj) -> Value:
        held = builtin_part(alternative)
        if isinstance(held, Obj) and held.kind in ("dict", "view"):
            _update_from(m, owner, held if held.kind == "dict" else held.data[0])
        elif isinstance(held, Obj) and (copy := m.kinds.get(held.kind, NO_KIND).copy_into) is not None:
            copy(m, held, owner)
        else:
            iterate(m, Value((held,)), lambda pair: _set_pair(m, owner, pair))
        return UNKNOWN

    def anything() -> Value:
        m.may_throw()
        m.heap.set_any(owner, UNKNOWN)
        return UNKNOWN

    each(m, given, of, anything)


def _update_from(m: Machine, owner: Obj, other: Obj) -> None:
    layout = m.heap.layout_of(other)
    for key, value in m.heap.entries(other):
        if value.may_be_absent:
            m.heap.set(owner, key, value.without(ABSENT).joined(m.heap.get(owner, key)))
        else:
            m.heap.set(owner, key, value)
    if layout.rest is not None:
        m.heap.set_any(owner, layout.rest)
    elif not layout.is_ordered and len(layout.keys) > 1:
        mine = m.heap.layout_of(owner)
        m.heap.store.write(owner.store, LAYOUT, Layout(mine.keys, False, mine.rest))


def _set_pair(m: Machine, owner: Obj, pair: Value) -> None:
    content = listed(m, pair)
    if content.items is not None and len(content.items) == 2:
        set_item(m, owner, content.items[0], content.items[1])
    else:
        m.may_throw()
        m.heap.set_any(owner, content.any_item)


def copy_of(m: Machine, owner: Obj, site: object = None) -> Value:
    """A new list, tuple, dict or set with the same content."""
    if owner.kind in ("list", "tuple"):
        return sequence_of(m, owner.kind, m.heap.items_of(owner), site)
    made = m.heap.mapping((), owner.kind, site)
    target = made.single
    assert isinstance(target, Obj)
    target.data, target.name = owner.data, owner.name
    _update_from(m, target, owner)
    return made


def operator(m: Machine, stem: str, alternative: Const | Obj, other: Const | Obj, site: ast.AST) -> Value | None:
    """The value of an operator on lists, tuples, dicts or sets; None for others."""
    left, right = builtin_part(alternative), builtin_part(other)
    if isinstance(left, Obj) and isinstance(right, Obj) and left.kind == right.kind:
        if stem == "add" and left.kind in ("list", "tuple"):
            mine, others = m.heap.items_of(left), m.heap.items_of(right)
            if mine.items is not None and others.items is not None:
                return m.heap.sequence(left.kind, (*mine.items, *others.items), site)
            return m.heap.sequence_of_any(left.kind, mine.any_item.joined(others.any_item), site)
        if stem == "or" and left.kind in ("dict", "set"):
            made = copy_of(m, left, site)
            target = made.single
            assert isinstance(target, Obj)
            _update_from(m, target, right)
            return made
    for sequence, times in ((left, right), (right, left)):
        if (
            stem == "mul"
            and isinstance(sequence, Obj)
            and sequence.kind in ("list", "tuple")
            and isinstance(times, Const)
        ):
            content = m.heap.items_of(sequence)
            if (
                content.items is None
                or not isinstance(times.value, int)
                or len(content.items) * times.value > _MOST_ITERATIONS
            ):
                return m.heap.sequence_of_any(sequence.kind, content.any_item, site)
            return m.heap.sequence(sequence.kind, content.items * times.value, site)
    if stem in ("and", "sub", "or", "xor") and isinstance(left, Obj) and isinstance(right, Obj):
        return _hosted_sets(m, stem, left, right, site)
    return None


def _hosted_sets(m: Machine, stem: str, left: Obj, right: Obj, site: ast.AST) -> Value | None:
    sets = []
    for obj in (left, right):
        try:
            content = hosted_alternative(obj, m.heap) if obj.kind != "view" else {*_view_keys(m, obj)}
        except Unhosted:
            return None
        if not isinstance(content, set):
            return None
        sets.append(content)
    mine, others = sets
    results = {"and": mine & others, "sub": mine - others, "or": mine | others, "xor": mine ^ others}
    return adopted(results[stem], m.heap, site)


def _view_keys(m: Machine, view: Obj) -> list[object]:
    owner, kind = view.data
    if kind != "keys":
        raise Unhosted
    held = hosted_alternative(owner, m.heap)
    assert isinstance(held, dict)
    return list(held)


def change_in_place(m: Machine, stem: str, owner: Obj, right: Value) -> bool:
    """Execute ``owner op= right`` for a list, dict or set; False where it makes a new object."""
    if owner.kind == "list" and stem == "add":
        extend(m, owner, right)
        return True
    if owner.kind == "dict" and stem == "or":
        update(m, owner, right)
        return True
    if owner.name == "frozenset":
        return False
    if owner.kind == "set" and stem == "or":
        for item in listed(m, right).items or ():
            add(m, owner, item)
        if listed(m, right).items is None:
            m.heap.set_any(owner, TRUE)
        return True
    if owner.kind == "set":
        m.heap.set_any(owner, EITHER.joined(Value((ABSENT,))))
        return True
    return False


def extend(m: Machine, owner: Obj, source: Value) -> None:
    """Add all items of an iterable to a list."""
    given, content = listed(m, source), m.heap.items_of(owner)
    if given.items is None or content.items is None:
        m.heap.put(owner, ITEMS, content.mixed(given))
    else:
        m.heap.put(owner, ITEMS, Items((*content.items, *given.items)))
