"""Reads the protobuf wire format in place: unrequested fields are skipped without copying."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import NamedTuple

from npulint.graphs.read.errors import GraphError
from npulint.graphs.read.protobuf.limits import Tally

VARINT, FIXED64, LENGTH, FIXED32 = 0, 1, 2, 5

_HEAD = 20  # maximum bytes of a tag and a length
_WINDOW = 64 * 1024
_SHIFTS = 70  # bits of a varint of ten bytes
_NUMBERS = 1 << 29  # exclusive maximum of field numbers


class Field(NamedTuple):
    """One field of a message: its number, its wire type, and the bounds of its value. `value` is that of a varint, else
    0."""

    number: int
    wire: int
    value: int
    start: int
    stop: int


class Source:
    """The bytes of an open file, or `content` instead."""

    def __init__(self, descriptor: int | None, content: bytes = b"") -> None:
        self._descriptor = descriptor
        self._window = content
        self._start = 0
        self.size = len(content) if descriptor is None else os.fstat(descriptor).st_size

    def take(self, start: int, stop: int) -> bytes:
        """The bytes from `start` to `stop`, which are within the file. Raises `GraphError` if it was truncated
        meanwhile."""
        inside = start - self._start
        if inside < 0 or stop > self._start + len(self._window):
            if stop - start > _WINDOW:
                return self._read(start, stop)
            self._window = self._read(start, max(stop, min(start + _WINDOW, self.size)))
            self._start, inside = start, 0
        return self._window[inside : inside + stop - start]

    def _read(self, start: int, stop: int) -> bytes:
        if self._descriptor is None:
            raise damaged(start)
        os.lseek(self._descriptor, start, os.SEEK_SET)
        parts, missing = [], stop - start
        while missing:
            part = os.read(self._descriptor, missing)
            if not part:
                raise damaged(stop - missing)
            parts.append(part)
            missing -= len(part)
        return b"".join(parts)


def fields(source: Source, start: int, stop: int, tally: Tally) -> Iterator[Field]:
    """The fields of the message between two offsets. Raises `GraphError` if it is malformed."""
    at = start
    while at < stop:
        tally.step()
        field = field_at(source.take(at, min(at + _HEAD, stop)), 0, at, stop)
        yield field
        at = field.stop


def field_at(data: bytes, at: int, base: int, end: int) -> Field:
    """The field whose tag is at `at` of `data` (at file offset `base`), in a message that ends at `end`. Raises
    `GraphError`."""
    begin = base + at
    tag, at = varint(data, at, base)
    number, wire = tag >> 3, tag & 7
    if not 0 < number < _NUMBERS:
        raise damaged(begin)
    value = 0
    start = stop = at
    if wire == VARINT:
        value, stop = varint(data, at, base)
    elif wire == LENGTH:
        length, start = varint(data, at, base)
        stop = start + length
    elif wire in (FIXED32, FIXED64):
        stop = at + (4 if wire == FIXED32 else 8)
    else:
        raise damaged(begin)
    if base + stop > end:
        raise damaged(begin)
    return Field(number, wire, value, base + start, base + stop)


def varint(data: bytes, at: int, base: int) -> tuple[int, int]:
    """The varint at `at` of `data`, and its end. Raises `GraphError`."""
    value = shift = 0
    begin = at
    while shift < _SHIFTS and at < len(data):
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & 0xFFFF_FFFF_FFFF_FFFF, at
        shift += 7
    raise damaged(base + begin)


def signed(value: int) -> int:
    """A 64-bit number as a signed integer."""
    return value - (1 << 64) if value >> 63 else value


def damaged(place: int) -> GraphError:
    """The error for a file that is malformed from `place` on."""
    return GraphError("graph-damaged", f"byte {place}")
