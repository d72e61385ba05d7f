"""The methods of lists, tuples, dicts and sets."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable
from typing import Final

from npulint.model.abstract_values.heap import key_of, value_of_key
from npulint.model.abstract_values.hosted import Unhosted, hosted
from npulint.model.abstract_values.objects import EMPTY, ITEMS, LAYOUT, Items
from npulint.model.abstract_values.value import (
    ABSENT,
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
from npulint.model.execution import expressions, items
from npulint.model.execution.loops import repeat
from npulint.model.execution.machine import Arguments, Machine
from npulint.model.execution.truth import is_found, truth

Method = Callable[[Machine, Obj, Arguments, ast.AST | None], Value]


# -- lists


def _append(m: Machine, owner: Obj, arguments: Arguments, site: ast.AST | None) -> Value:
    for value in arguments.positional:
        items.append(m, owner, value)
    return NONE


def _extend(m: Machine, owner: Obj, arguments: Arguments, site: ast.AST | None) -> Value:
    items.extend(m, owner, arguments.positional[0])
    return NONE


def _insert(m: Machine, owner: Obj, arguments: Arguments, site: ast.AST | None) -> Value:
    content = m.heap.items_of(owner)
    index, value = arguments.positional[0].single, arguments.positional[1]
    if content.items is None or not isinstance(index, Const) or not isinstance(index.value, int):
        m.heap.put(owner, ITEMS, content.mixed(Items((value,))))
        return NONE
    values = list(content.items)
    values.insert(index.value, value)
    m.heap.put(owner, ITEMS, Items(tuple(values)))
    return NONE


def _list_pop(m: Machine, owner: Obj, arguments: Arguments, site: ast.AST | None) -> Value:
    content = m.heap.items_of(owner)
    index = arguments.positional[0].single if arguments.positional else Const(-1)
    if content.items is None or not isinstance(index, Const) or not isinstance(index.value, int):
        m.may_throw("IndexError")
        m.heap.put(owner, ITEMS, Items(None, content.any_item))
        return content.any_item
    values = list(content.items)
    try:
        value = values.pop(index.value)
    except IndexError as error:
        m.throw_new("IndexError", str(error))
    m.heap.put(owner, ITEMS, Items(tuple(values)))
    return value


def _position(m: Machine, content: Items, value: Value) -> int | None:
    """The index of the first equal item, -1 if there is none, None if that is not known."""
    alternative = value.single
    if content.items is None or not isinstance(alternative, (Const, Obj)):
        return None
    for index, item in enumerate(content.items):
        other = item.single
        same = is_found(m, other, alternative) if isinstance(other, (Const, Obj)) else None
        if same:
            return index
        if same is None:
            return None
    return -1


def _remove(m: Machine, owner: Obj, arguments: Arguments, site: ast.AST | None) -> Value:
    content = m.heap.items_of(owner)
    index = _position(m, content, arguments.positional[0])
    if index == -1:
        m.throw_new("ValueError", "list.remove(x): x not in list")
    if index is None or content.items is None:
        m.may_throw("ValueError")
        m.heap.put(owner, ITEMS, Items(None, content.any_item))
    else:
        m.heap.put(owner, ITEMS, Items((*content.items[:index], *content.items[index + 1 :])))
    return NONE


def _index(m: Machine, owner: Obj, arguments: Arguments, site: ast.AST | None) -> Value:
    index = _position(m, m.heap.items_of(owner), arguments.positional[0]) if len(arguments.positional) == 1 else None
    if index == -1:
        m.throw_new("ValueError", "is not in list")
    if index is None:
        m.may_throw("ValueError")
        return unknown("", "int")
    return const(index)


def _count(m: Machine, owner: Obj, arguments: Arguments, site: ast.AST | None) -> Value:
    try:
        return const(hosted(Value((owner,)), m.heap).count(hosted(arguments.positional[0], m.heap)))  # type: ignore[attr-defined]
    except Unhosted:
        return unknown("", "int")


def _clear(m: Machine, owner: Obj, arguments: Arguments, site: ast.AST | None) -> Value:
    if owner.kind == "list":
        m.heap.put(owner, ITEMS, Items(()))
        return NONE
    for key in m.heap.layout_of(owner).keys:
        m.heap.put(owner.store, key, Value((ABSENT,)))
    m.heap.put(owner.store, LAYOUT, EMPTY)
    return NONE


def _reverse(m: Machine, owner: Obj, arguments: Arguments, site: ast.AST | None) -> Value:
    content = m.heap.items_of(owner)
    if content.items is not None:
        m.heap.put(owner, ITEMS, Items(content.items[::-1]))
    return NONE


def _sort(m: Machine, owner: Obj, arguments: Arguments, site: ast.AST | None) -> Value:
    m.heap.put(owner, ITEMS, sorted_items(m, m.heap.items_of(owner), arguments))
    return NONE


def sorted_items(m: Machine, content: Items, arguments: Arguments, in_any_order: bool = False) -> Items:
    """The items in the order of ``sorted(..., key=..., reverse=...)``; equal ones stay in their order, which is not
    known where they came `in_any_order`."""
    key = arguments.keywords.get("key", NONE)
    reverse = truth(m, arguments.keywords.get("reverse", const(False)))
    if content.items is None or reverse is None:
        if key.single != Const(None):
            repeat(m, lambda: m.call(key, Arguments([content.any_item])))
        return Items(None, content.any_item)
    keys = content.items
    if key.single != Const(None):
        keys = tuple(m.call(key, Arguments([item])) for item in content.items)
    try:
        plain = [hosted(value, m.heap) for value in keys]
        order = sorted(range(len(plain)), key=lambda index: plain[index], reverse=reverse)  # type: ignore[arg-type,return-value]
    except Unhosted:
        m.may_throw("TypeError")
        compared = [
            value
            for value in keys
            if any(
                isinstance(alternative, Obj) and alternative.kind == "instance" for alternative in value.alternatives
            )
        ]
        if compared:
            m.unseen("", compared)
        return Items(None, content.any_item) if len(content.items) > 1 else content
    except TypeError as error:
        m.throw_new("TypeError", str(error))
    if in_any_order and any(plain[index] == plain[other] for index, other in itertools.pairwise(order)):
        return Items(None, content.any_item)
    return Items(tuple(content.items[index] for index in order))


def _copy(m: Machine, owner: Obj, arguments: Arguments, site: ast.AST | None) -> Value:
    return items.copy_of(m, owner, site)


# -- dicts


def _get(m: Machine, owner: Obj, arguments: Arguments, site: ast.AST | None) -> Value:
    default = arguments.get(1, "default") or NONE

    def of(alternative: Const | Obj) -> Value:
        key = key_of(alternative, m.heap)
        if key is None:
            return joined([items.any_value(m, owner), default])
        value = m.heap.get(owner, key)
        if not value.may_be_absent:
            return value
        return default if value.single is ABSENT else joined([value.without(ABSENT), default])

    def open_key() -> Value:
        m.may_throw("TypeError")
        return joined([items.any_value(m, owner), default])

    return items.each(m, arguments.positional[0], of, open_key)


def _setdefault(m: Machine, owner: Obj, arguments: Arguments, site: ast.AST | None) -> Value:
    default = arguments.get(1, "default") or NONE

    def of(alternative: Const | Obj) -> Value:
        key = key_of(alternative, m.heap)
        if key is None:
            m.heap.set_any(owner, default)
            return joined([items.any_value(m, owner), default])
        value = m.heap.get(owner, key)
        if not value.may_be_absent:
            return value
        value = default if value.single is ABSENT else joined([value.without(ABSENT), default])
        m.heap.set(owner, key, value)
        return value

    def open_key() -> Value:
        m.may_throw("TypeError")
        m.heap.set_any(owner, default)
        return joined([items.any_value(m, owner), default])

    return items.each(m, arguments.positional[0], of, open_key)


def _dict_pop(m: Machine, owner: Obj, arguments: Arguments, site: ast.AST | None) -> Value:
    default = arguments.get(1, "default")

    def of(alternative: Const | Obj) -> Value:
        key = key_of(alternative, m.heap)
        value = m.heap.get(owner, key) if key is not None else None
        if value is None:
            return open_key()
        if value.single is ABSENT:
            if default is None:
                m.throw(m.exception("KeyError", [Value((alternative,))]))
            return default
        m.heap.delete(owner, key)
        if not value.may_be_absent:
            return value
        if default is None:
            m.may_throw("KeyError")
            return value.without(ABSENT)
        return joined([value.without(ABSENT), default])

    def open_key() -> Value:
        m.may_throw("KeyError", "TypeError")
        result = items.any_value(m, owner)
        m.heap.set_any(owner, Value((ABSENT,)))
        return result if default is None else joined([result, default])

    return items.each(m, arguments.positional[0], of, open_key)


def _popitem(m: Machine, owner: Obj, arguments: Arguments, site: ast.AST | None) -> Value:
    layout = m.heap.layout_of(owner)
    from_end = truth(m, arguments.get(0, "last") or TRUE)  # of an OrderedDict
    if not m.heap.is_exact(owner) or not layout.is_ordered or from_end is None:
        m.may_throw("KeyError")
        m.heap.set_any(owner, Value((ABSENT,)))
        return UNKNOWN
    if not layout.keys:
        m.throw_new("KeyError", "popitem(): dictionary is empty")
    key = layout.keys[-1 if from_end else 0]
    value = m.heap.get(owner, key)
    m.heap.delete(owner, key)
    return m.heap.sequence("tuple", [value_of_key(key, m.heap), value])


def _update(m: Machine, owner: Obj, arguments: Arguments, site: ast.AST | None) -> Value:
    for given in arguments.positional:
        items.update(m, owner, given)
    for key, value in arguments.keywords.items():
        m.heap.set(owner, key, value)
    for more in (arguments.rest, arguments.options):
        if more is not None:
            m.heap.set_any(owner, UNKNOWN)
    return NONE


def _view(kind: str) -> Method:
    def view(m: Machine, owner: Obj, arguments: Arguments, site: ast.AST | None) -> Value:
        return Value((m.heap.make("view", kind, data=(owner, kind)),))

    return view


def _fromkeys(m: Machine, owner: Obj, arguments: Arguments, site: ast.AST | None) -> Value:
    return fromkeys(m, arguments, site)


def fromkeys(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
    """What ``dict.fromkeys`` gives."""
    made = m.heap.mapping((), "dict", site)
    target = made.single
    assert isinstance(target, Obj)
    value = arguments.get(1, "value") or NONE
    items.iterate(m, arguments.positional[0], lambda key: items.set_item(m, target, key, value))
    return made


# -- sets


def _add(m: Machine, owner: Obj, arguments: Arguments, site: ast.AST | None) -> Value:
    items.add(m, owner, arguments.positional[0])
    return NONE


def _discard(m: Machine, owner: Obj, arguments: Arguments, site: ast.AST | None) -> Value:
    return _discarded(m, owner, arguments, strictly=False)


def _set_remove(m: Machine, owner: Obj, arguments: Arguments, site: ast.AST | None) -> Value:
    return _discarded(m, owner, arguments, strictly=True)


def _discarded(m: Machine, owner: Obj, arguments: Arguments, strictly: bool) -> Value:
    alternative = arguments.positional[0].single
    key = key_of(alternative, m.heap) if isinstance(alternative, (Const, Obj)) else None
    if key is None:
        m.may_throw("KeyError")
        m.heap.set_any(owner, Value((ABSENT,)))
        return NONE
    if m.heap.get(owner, key).single is ABSENT:
        if strictly:
            m.throw(m.exception("KeyError", arguments.positional[:1]))
        return NONE
    m.heap.delete(owner, key)
    return NONE


def _set_update(m: Machine, owner: Obj, arguments: Arguments, site: ast.AST | None) -> Value:
    for given in arguments.positional:
        items.iterate(m, given, lambda item: items.add(m, owner, item))
    return NONE


def _combined(operator: type[ast.operator]) -> Method:
    def combined(m: Machine, owner: Obj, arguments: Arguments, site: ast.AST | None) -> Value:
        result = Value((owner,)) if arguments.positional else items.copy_of(m, owner)
        for given in arguments.positional:
            other = items.set_of(m, items.listed(m, given))
            result = expressions.binary(m, operator(), result, other, site or ast.Pass())
        return result

    return combined


def _compared(name: str) -> Method:
    def compared(m: Machine, owner: Obj, arguments: Arguments, site: ast.AST | None) -> Value:
        try:
            left = hosted(Value((owner,)), m.heap)
            right = hosted(items.set_of(m, items.listed(m, arguments.positional[0])), m.heap)
        except Unhosted:
            return truth_value(None)
        return truth_value(getattr(left, name)(right))

    return compared


# -- construction


def _list_init(m: Machine, owner: Obj, arguments: Arguments, site: ast.AST | None) -> Value:
    for given in arguments.positional:
        items.extend(m, owner, given)
    return NONE


def _special(operator: Callable[[Machine, Obj, Arguments], Value]) -> Method:
    def special(m: Machine, owner: Obj, arguments: Arguments, site: ast.AST | None) -> Value:
        return operator(m, owner, arguments)

    return special


def _getitem(m: Machine, owner: Obj, arguments: Arguments) -> Value:
    return items.get_item(m, Value((owner,)), arguments.positional[0])


def _setitem(m: Machine, owner: Obj, arguments: Arguments) -> Value:
    items.store_item(m, Value((owner,)), arguments.positional[0], arguments.positional[1])
    return NONE


def _delitem(m: Machine, owner: Obj, arguments: Arguments) -> Value:
    items.delete_item(m, Value((owner,)), arguments.positional[0])
    return NONE


def _contains(m: Machine, owner: Obj, arguments: Arguments) -> Value:
    return items.contains(m, Value((owner,)), arguments.positional[0])


def _len(m: Machine, owner: Obj, arguments: Arguments) -> Value:
    return m.call_library_values("builtins.len", [Value((owner,))])


def _iter(m: Machine, owner: Obj, arguments: Arguments) -> Value:
    return m.call_library_values("builtins.iter", [Value((owner,))])


_COMMON: Final[dict[str, Method]] = {
    "__getitem__": _special(_getitem),
    "__contains__": _special(_contains),
    "__len__": _special(_len),
    "__iter__": _special(_iter),
    "copy": _copy,
}
_CHANGING: Final[dict[str, Method]] = {
    "__setitem__": _special(_setitem),
    "__delitem__": _special(_delitem),
    "clear": _clear,
}

METHODS: Final[dict[str, dict[str, Method]]] = {
    "list": {
        **_COMMON,
        **_CHANGING,
        "append": _append,
        "extend": _extend,
        "insert": _insert,
        "pop": _list_pop,
        "remove": _remove,
        "index": _index,
        "count": _count,
        "reverse": _reverse,
        "sort": _sort,
        "__init__": _list_init,
    },
    "tuple": {**_COMMON, "index": _index, "count": _count},
    "dict": {
        **_COMMON,
        **_CHANGING,
        "get": _get,
        "setdefault": _setdefault,
        "pop": _dict_pop,
        "popitem": _popitem,
        "update": _update,
        "keys": _view("keys"),
        "values": _view("values"),
        "items": _view("items"),
        "fromkeys": _fromkeys,
        "__init__": _update,
    },
    "set": {
        **_COMMON,
        "clear": _clear,
        "add": _add,
        "discard": _discard,
        "remove": _set_remove,
        "update": _set_update,
        "__init__": _set_update,
        "union": _combined(ast.BitOr),
        "intersection": _combined(ast.BitAnd),
        "difference": _combined(ast.Sub),
        "symmetric_difference": _combined(ast.BitXor),
        "issubset": _compared("issubset"),
        "issuperset": _compared("issuperset"),
        "isdisjoint": _compared("isdisjoint"),
    },
}
"""By the kind of an object the methods that are modelled."""
