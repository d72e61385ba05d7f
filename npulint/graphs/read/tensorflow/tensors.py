"""Tensors, from the wire format (tensorflow/core/framework/tensor.proto)."""

from __future__ import annotations

import struct
from typing import Any

from npulint.graphs.read.protobuf.limits import Tally
from npulint.graphs.read.protobuf.numbers import described
from npulint.graphs.read.protobuf.wire import FIXED32, FIXED64, LENGTH, VARINT, Field, Source, fields, signed, varint
from npulint.graphs.read.tensorflow.shapes import shape
from npulint.graphs.read.tensorflow.types import word

_CONTENT = 16  # bytes of a number; more are not read
_FLOATS = {5: "<f", 6: "<d"}  # fields that list floats
_INTEGERS = frozenset((7, 10, 11, 13, 16, 17))  # fields that list integers


def tensor(source: Source, whole: Field, tally: Tally) -> dict[str, Any]:
    """The element type and shape of a TensorProto, and its value if it is a single number."""
    dtype = "invalid"
    sizes: list[int] | None = []
    content = b""
    first: int | float | None = None
    for field in fields(source, whole.start, whole.stop, tally):
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
