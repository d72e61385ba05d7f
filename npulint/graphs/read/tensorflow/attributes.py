"""The attributes of nodes, from the wire (tensorflow/core/framework/attr_value.proto)."""

from __future__ import annotations

import struct
from typing import Any

from npulint.graphs.read.protobuf.limits import LIST, TEXT, Tally
from npulint.graphs.read.protobuf.wire import FIXED32, LENGTH, VARINT, Field, Source, damaged, fields, signed, varint
from npulint.graphs.read.tensorflow.shapes import shape
from npulint.graphs.read.tensorflow.tensors import tensor
from npulint.graphs.read.tensorflow.types import word

UNSET = object()
"""The value of an attribute that is not set."""

_BYTES = 4 * TEXT  # bytes of a text: characters have at most four
_PACKED = 10 * LIST  # bytes of a packed list with all members that are kept


def value(source: Source, start: int, stop: int, tally: Tally) -> Any:
    """The value of an AttrValue between two offsets; `UNSET` if it has none. Raises `GraphError`."""
    found: Any = UNSET
    for field in fields(source, start, stop, tally):
        if field.number == 1 and field.wire == LENGTH:
            one: Any = _list(source, field, tally)
        else:
            one = _one(source, field, tally)
        found = found if one is UNSET else one
    return found


def _one(source: Source, field: Field, tally: Tally) -> Any:
    number, wire = field.number, field.wire
    if wire == VARINT:
        return _integer(number, field.value)
    if wire == FIXED32 and number == 4:
        return struct.unpack("<f", source.take(field.start, field.stop))[0]
    if wire != LENGTH:
        return UNSET
    if number in (2, 9):
        text = _text(source, field)
        return text if number == 2 else {"placeholder": text}
    if number == 7:
        return shape(source, field, tally)
    if number == 8:
        return tensor(source, field, tally)
    return {"function": _function(source, field, tally)} if number == 10 else UNSET


def _integer(number: int, raw: int) -> Any:
    if number == 3:
        return signed(raw)
    if number == 5:
        return bool(raw)
    return word(raw) if number == 6 else UNSET


def _list(source: Source, whole: Field, tally: Tally) -> list[Any]:
    """The first members of a list. Field numbers equal those of single values, except for functions."""
    found: list[Any] = []
    for field in fields(source, whole.start, whole.stop, tally):
        if len(found) >= LIST:
            break
        if field.wire == LENGTH and field.number in (3, 4, 5, 6):
            _packed(source, field, found)
        elif field.wire == LENGTH and field.number == 9:
            found.append({"function": _function(source, field, tally)})
        elif field.number != 10:
            one = _one(source, field, tally)
            found += [] if one is UNSET else [one]
    return found


def _packed(source: Source, field: Field, found: list[Any]) -> None:
    data = source.take(field.start, min(field.stop, field.start + _PACKED))
    at = 0
    while at < len(data) and len(found) < LIST:
        if field.number == 4:
            if at + 4 > len(data):
                raise damaged(field.start + at)
            found.append(struct.unpack_from("<f", data, at)[0])
            at += 4
        else:
            raw, at = varint(data, at, field.start)
            found.append(_integer(field.number, raw))


def _text(source: Source, field: Field) -> str:
    return source.take(field.start, min(field.stop, field.start + _BYTES)).decode("utf-8", "replace")[:TEXT]


def _function(source: Source, whole: Field, tally: Tally) -> str:
    """The name in a NameAttrList."""
    name = ""
    for field in fields(source, whole.start, whole.stop, tally):
        if field.number == 1 and field.wire == LENGTH:
            name = _text(source, field)
    return name
