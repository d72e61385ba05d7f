"""The attributes of nodes, from the wire (tensorflow/core/framework/attr_value.proto)."""

from __future__ import annotations

import struct
from typing import Any

from npulint.graphs.read.protobuf.numbers import described
from npulint.graphs.read.protobuf.wire import (
    DIMENSIONS,
    FIXED32,
    FIXED64,
    LENGTH,
    LIST,
    TEXT,
    VARINT,
    Field,
    Source,
    Tally,
    damaged,
    fields,
    signed,
    varint,
)

# The element types of TensorFlow, by number and by name (tensorflow/core/framework/types.proto).

_WORDS = {
    0: "invalid",
    1: "float32",
    2: "float64",
    3: "int32",
    4: "uint8",
    5: "int16",
    6: "int8",
    7: "string",
    8: "complex64",
    9: "int64",
    10: "bool",
    11: "qint8",
    12: "quint8",
    13: "qint32",
    14: "bfloat16",
    15: "qint16",
    16: "quint16",
    17: "uint16",
    18: "complex128",
    19: "float16",
    20: "resource",
    21: "variant",
    22: "uint32",
    23: "uint64",
    24: "float8_e5m2",
    25: "float8_e4m3fn",
    26: "float8_e4m3fnuz",
    27: "float8_e4m3b11fnuz",
    28: "float8_e5m2fnuz",
    29: "int4",
    30: "uint4",
    31: "int2",
    32: "uint2",
    33: "float4_e2m1fn",
}
_SPELT = {"float32": "FLOAT", "float64": "DOUBLE", "float16": "HALF"}
_REFERENCE = 100  # offset of reference types


def word(number: int) -> str:
    """The type with this number: ``float16``; ``float16_ref`` for a reference, ``type_99`` for an unknown one."""
    type_name = _WORDS.get(number)
    if type_name is not None:
        return type_name
    referred = _WORDS.get(number - _REFERENCE) if number > _REFERENCE else None
    return f"{referred}_ref" if referred else f"type_{number}"


_NUMBERS = {f"DT_{_SPELT.get(name, name.upper())}": number for number, name in _WORDS.items()}
_NUMBERS |= {f"{name}_REF": number + _REFERENCE for name, number in _NUMBERS.items() if number}


def number_of(name: str) -> int | None:
    """The number of a type by its name in the text format: ``DT_HALF``; None if unknown."""
    return _NUMBERS.get(name)


# Tensor shapes, from the wire format (tensorflow/core/framework/tensor_shape.proto).


def shape(source: Source, message: Field, tally: Tally) -> list[int] | None:
    """The dimensions of a TensorShapeProto; None for an unknown rank."""
    sizes: list[int] = []
    unknown = False
    for field in fields(source, message.start, message.stop, tally):
        if len(sizes) >= DIMENSIONS:
            break
        if field.number == 2 and field.wire == LENGTH:
            sizes.append(_dimension(source, field, tally))
        elif field.number == 3 and field.wire == VARINT:
            unknown = bool(field.value)
    return None if unknown else sizes


def _dimension(source: Source, message: Field, tally: Tally) -> int:
    size = 0
    for field in fields(source, message.start, message.stop, tally):
        if field.number == 1 and field.wire == VARINT:
            size = signed(field.value)
    return size


# Tensors, from the wire format (tensorflow/core/framework/tensor.proto).

_CONTENT = 16  # bytes of a number; more are not read
_FLOATS = {5: "<f", 6: "<d"}  # fields that list floats
_INTEGERS = frozenset((7, 10, 11, 13, 16, 17))  # fields that list integers


def tensor(source: Source, message: Field, tally: Tally) -> dict[str, Any]:
    """The element type and shape of a TensorProto, and its value if it is a single number."""
    dtype = "invalid"
    sizes: list[int] | None = []
    content = b""
    first: int | float | None = None
    for field in fields(source, message.start, message.stop, tally):
        if field.number == 1 and field.wire == VARINT:
            dtype = word(field.value)
        elif field.number == 2 and field.wire == LENGTH:
            sizes = shape(source, field, tally)
        elif field.number == 4 and field.wire == LENGTH:
            content = source.take(field.start, min(field.stop, field.start + _CONTENT))
        elif first is None and (field.number in _FLOATS or field.number in _INTEGERS):
            first = _number(source, field)
    return described(dtype, sizes, content, first)


def _number(source: Source, field: Field) -> int | float | None:
    """The first number in a list field of a tensor."""
    if field.wire == VARINT:
        return signed(field.value)
    data = source.take(field.start, min(field.stop, field.start + _CONTENT))
    form = _FLOATS.get(field.number)
    if form is not None and field.wire in (FIXED32, FIXED64, LENGTH) and len(data) >= struct.calcsize(form):
        return float(struct.unpack_from(form, data)[0])
    return signed(varint(data, 0, field.start)[0]) if form is None and field.wire == LENGTH and data else None


UNSET = object()
"""The value of an attribute that is not set."""

_BYTES = 4 * TEXT  # bytes of a text: characters have at most four
_PACKED = 10 * LIST  # bytes of a packed list with all members that are kept


def value(source: Source, start: int, stop: int, tally: Tally) -> Any:
    """The value of an AttrValue between two offsets; `UNSET` if it has none. Raises `GraphError`."""
    setting: Any = UNSET
    for field in fields(source, start, stop, tally):
        if field.number == 1 and field.wire == LENGTH:
            decoded: Any = _list(source, field, tally)
        else:
            decoded = _one(source, field, tally)
        setting = setting if decoded is UNSET else decoded
    return setting


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


def _list(source: Source, message: Field, tally: Tally) -> list[Any]:
    """The first members of a list. Field numbers equal those of single values, except for functions."""
    members: list[Any] = []
    for field in fields(source, message.start, message.stop, tally):
        if len(members) >= LIST:
            break
        if field.wire == LENGTH and field.number in (3, 4, 5, 6):
            _packed(source, field, members)
        elif field.wire == LENGTH and field.number == 9:
            members.append({"function": _function(source, field, tally)})
        elif field.number != 10:
            member = _one(source, field, tally)
            members += [] if member is UNSET else [member]
    return members


def _packed(source: Source, field: Field, members: list[Any]) -> None:
    data = source.take(field.start, min(field.stop, field.start + _PACKED))
    at = 0
    while at < len(data) and len(members) < LIST:
        if field.number == 4:
            if at + 4 > len(data):
                raise damaged(field.start + at)
            members.append(struct.unpack_from("<f", data, at)[0])
            at += 4
        else:
            raw, at = varint(data, at, field.start)
            members.append(_integer(field.number, raw))


def _text(source: Source, field: Field) -> str:
    return source.take(field.start, min(field.stop, field.start + _BYTES)).decode("utf-8", "replace")[:TEXT]


def _function(source: Source, message: Field, tally: Tally) -> str:
    """The name in a NameAttrList."""
    name = ""
    for field in fields(source, message.start, message.stop, tally):
        if field.number == 1 and field.wire == LENGTH:
            name = _text(source, field)
    return name
