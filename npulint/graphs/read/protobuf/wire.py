"""Reads the protobuf wire format in place: unrequested fields are skipped without copying."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, NamedTuple

from npulint.graphs.read.errors import GraphError

# Size limits of graphs. A training graph of 50,000 nodes uses a tenth to a quarter of each.

NODES = 200_000
FUNCTIONS = 20_000
OPERATORS = 20_000  # types; TensorFlow itself has some 1,500
KEPT = 200_000_000  # bytes of Python objects
STEPS = 5_000_000  # fields that are visited
PARTS = 200_000  # fields of one message that are kept
TEXT = 256  # characters of a string attribute
NAME = 4096  # characters of the name of a node, a function or an attribute; real ones have some hundred
LIST = 64  # members of a list attribute
DIMENSIONS = 256  # of a shape; no operator takes as many
COLLECTIONS = 10_000
TAGS = 64

_NODE = 200  # bytes of a node without its texts
_ENTRY = 48  # bytes of a text without its characters


class Tally:
    """Counts kept data and visited fields of one file against the limits."""

    def __init__(self) -> None:
        self._nodes = 0
        self._kept = 0
        self._steps = 0
        self._functions = 0
        self._operators: set[str] = set()

    def node(self, texts: int, characters: int) -> None:
        """Count a node with the number and total length of its names and attributes. Raises `GraphError`."""
        self._nodes += 1
        if self._nodes > NODES:
            raise GraphError("graph-too-large", f"more than {NODES:,} nodes")
        self.kept(_NODE + _ENTRY * texts + characters)

    def function(self) -> None:
        """Count one function. Raises `GraphError`."""
        self._functions += 1
        if self._functions > FUNCTIONS:
            raise GraphError("graph-too-large", f"more than {FUNCTIONS:,} functions")

    def operator(self, name: str) -> None:
        """Count a new operator type. Raises `GraphError`."""
        self._operators.add(name)
        if len(self._operators) > OPERATORS:
            raise GraphError("graph-too-large", f"more than {OPERATORS:,} types of operators")

    def kept(self, size: int) -> None:
        """Count bytes that are kept. Raises `GraphError`."""
        self._kept += size
        if self._kept > KEPT:
            raise GraphError("graph-too-large", f"more than {KEPT // 1_000_000} MB of names and attributes")

    def text(self, length: int) -> None:
        """Check the length of a text before it is read. Raises `GraphError`."""
        self.kept(_ENTRY + length)

    def step(self, count: int = 1) -> None:
        """Count steps. Raises `GraphError`."""
        self._steps += count
        if self._steps > STEPS:
            raise GraphError("graph-too-large", f"more than {STEPS:,} fields")


def weight(value: Any) -> int:
    """The approximate bytes of an attribute value. Values are nested no deeper than a list of shapes."""
    if isinstance(value, str):
        return _ENTRY + len(value)
    if isinstance(value, list):
        return _ENTRY + sum(8 + weight(member) for member in value)
    if isinstance(value, dict):
        return 4 * _ENTRY + sum(weight(member) for member in value.values())
    return 32


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
