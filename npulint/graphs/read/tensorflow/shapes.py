"""Tensor shapes, from the wire format (tensorflow/core/framework/tensor_shape.proto)."""

from __future__ import annotations

from npulint.graphs.read.protobuf.limits import DIMENSIONS, Tally
from npulint.graphs.read.protobuf.wire import LENGTH, VARINT, Field, Source, fields, signed


def shape(source: Source, whole: Field, tally: Tally) -> list[int] | None:
    """The dimensions of a TensorShapeProto; None for an unknown rank."""
    sizes: list[int] = []
    unknown = False
    for field in fields(source, whole.start, whole.stop, tally):
        if len(sizes) >= DIMENSIONS:
            break
        if field.number == 2 and field.wire == LENGTH:
            sizes.append(_dimension(source, field, tally))
        elif field.number == 3 and field.wire == VARINT:
            unknown = bool(field.value)
    return None if unknown else sizes


def _dimension(source: Source, whole: Field, tally: Tally) -> int:
    size = 0
    for field in fields(source, whole.start, whole.stop, tally):
        if field.number == 1 and field.wire == VARINT:
            size = signed(field.value)
    return size
