"""Known values as values of this Python, and back: so that the standard library works out what is known."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Final

from npulint.model.abstract_values.heap import Heap, Key, KeyNone, key_of, value_of_key
from npulint.model.abstract_values.value import ABSENT, Const, Obj, Value, const

_MOST = 4_000  # items of one structure


class Unhosted(Exception):
    """A value that is not known, or is no plain value."""


def hosted(value: Value, heap: Heap) -> object:
    """The plain value (constants, lists, tuples, dicts, sets) that a value surely has. Raises `Unhosted`."""
    single = value.single
    if single is None or single is ABSENT:
        raise Unhosted
    return hosted_alternative(single, heap)  # type: ignore[arg-type]


def plain_hosted(value: Value, heap: Heap) -> object:
    """The same for values whose text is that of the plain value: without objects of classes, sets whose order shows,
    and kinds of dicts. Raises `Unhosted`."""
    plain = hosted(value, heap)
    _check_text(value, heap, 0)
    return plain


def _check_text(value: Value, heap: Heap, depth: int) -> None:
    obj = value.single
    if not isinstance(obj, Obj):
        return
    if depth > 20 or obj.kind == "instance" or obj.name in KINDS_OF_DICTS or obj.name == "frozenset":
        raise Unhosted
    if obj.kind in ("list", "tuple"):
        for item in heap.items_of(obj).items or ():
            _check_text(item, heap, depth + 1)
    elif obj.kind == "dict":
        for _, item in heap.entries(obj):
            _check_text(item, heap, depth + 1)
    elif obj.kind == "set" and len(heap.layout_of(obj).keys) > 1:
        raise Unhosted


KINDS_OF_DICTS: Final = frozenset(("OrderedDict", "defaultdict", "Counter"))
"""The names of dicts that are not of the built-in type."""


def hosted_alternative(alternative: Const | Obj, heap: Heap, depth: int = 0) -> object:
    """The plain value of an alternative. Raises `Unhosted`."""
    if isinstance(alternative, Const):
        return alternative.value
    if depth > 20:
        raise Unhosted

    def inner(value: Value) -> object:
        single = value.single
        if single is None or single is ABSENT:
            raise Unhosted
        return hosted_alternative(single, heap, depth + 1)  # type: ignore[arg-type]

    if alternative.kind == "instance" and alternative.items is not None:
        return inner(alternative.items)
    if alternative.kind in ("list", "tuple"):
        items = heap.items_of(alternative).items
        if items is None or len(items) > _MOST:
            raise Unhosted
        made = [inner(item) for item in items]
        return made if alternative.kind == "list" else tuple(made)
    if alternative.kind in ("dict", "set"):
        layout = heap.layout_of(alternative)
        if (
            layout.rest is not None
            or len(layout.keys) > _MOST
            or (alternative.kind == "dict" and not layout.is_ordered)
        ):
            raise Unhosted
        if alternative.kind == "set":
            keys = [key for key in layout.keys if _is_there(heap.get(alternative, key))]
            return {_plain_key(key) for key in keys}
        return {_plain_key(key): inner(heap.get(alternative, key)) for key in layout.keys}
    raise Unhosted


def _is_there(value: Value) -> bool:
    if value.single is ABSENT:
        return False
    if value.may_be_absent or value.is_open:
        raise Unhosted
    return True


def _plain_key(key: Key) -> object:
    if isinstance(key, Obj):
        raise Unhosted
    if isinstance(key, tuple):
        return tuple(_plain_key(part) for part in key)
    return None if key is KeyNone else key


HOST_TYPES: Final = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis), range)


def adopted(result: object, heap: Heap, site: object = None) -> Value:
    """A plain value of this Python as one of the program. Raises `Unhosted` for what is none."""
    if isinstance(result, HOST_TYPES):
        return const(result)
    if isinstance(result, (list, tuple)) and len(result) <= _MOST:
        kind = "list" if isinstance(result, list) else "tuple"
        return heap.sequence(kind, [adopted(item, heap, None) for item in result], site)
    if isinstance(result, dict) and len(result) <= _MOST:
        entries = [(_key(key, heap), adopted(item, heap, None)) for key, item in result.items()]
        return heap.mapping(entries, "dict", site)
    if isinstance(result, (set, frozenset)) and len(result) <= _MOST:
        return heap.mapping([(_key(key, heap), const(True)) for key in sorted(result, key=repr)], "set", site)
    raise Unhosted


def _key(host: object, heap: Heap) -> Key:
    adopted_key = adopted(host, heap).single
    key = key_of(adopted_key, heap) if isinstance(adopted_key, (Const, Obj)) else None
    if key is None:
        raise Unhosted
    return key


def possible_hosts(value: Value, heap: Heap, most: int = 16) -> list[object]:
    """All plain values that a value may have. Raises `Unhosted` where others are possible, or there are too many."""
    return list(itertools.islice(_possible(value, heap, most, 0), most + 1))


def _possible(value: Value, heap: Heap, most: int, depth: int) -> Iterable[object]:
    if value.is_open or depth > 12:
        raise Unhosted
    results: list[object] = []
    for alternative in value.alternatives:
        if alternative is ABSENT:
            continue
        results += _forms(alternative, heap, most, depth)  # type: ignore[arg-type]
        if len(results) > most:
            raise Unhosted
    return results


def _forms(alternative: Const | Obj, heap: Heap, most: int, depth: int) -> list[object]:
    if isinstance(alternative, Const):
        return [alternative.value]
    if alternative.kind == "instance" and alternative.items is not None:
        return list(_possible(alternative.items, heap, most, depth + 1))
    if alternative.kind in ("list", "tuple"):
        items = heap.items_of(alternative).items
        if items is None:
            raise Unhosted
        return [list(each) for each in _products([_possible(item, heap, most, depth + 1) for item in items], most)]
    if alternative.kind not in ("dict", "set"):
        raise Unhosted
    layout = heap.layout_of(alternative)
    if layout.rest is not None:
        raise Unhosted
    choices = []
    for key in layout.keys:
        value = heap.get(alternative, key)
        options: list[object] = [] if value.single is ABSENT else list(_possible(value, heap, most, depth + 1))
        choices.append([*options, *([_MISSING] if value.may_be_absent else [])])
    forms: list[object] = []
    for each in _products(choices, most):
        held = {_plain_key(key): item for key, item in zip(layout.keys, each, strict=True) if item is not _MISSING}
        forms.append(held if alternative.kind == "dict" else set(held))
    return forms


_MISSING = object()


def _products(choices: list[Iterable[object]] | list[list[object]], most: int) -> Iterable[tuple[object, ...]]:
    listed = [list(choice) for choice in choices]
    count = 1
    for values in listed:
        count *= len(values)
        if count > most:
            raise Unhosted
    return itertools.product(*listed)


__all__ = ["Unhosted", "adopted", "hosted", "hosted_alternative", "possible_hosts", "value_of_key"]
