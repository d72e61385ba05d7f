"""TensorBoard event files: scalars that are a loss scale, a loss or an accuracy.

A record is a length, its checksum, the message and its checksum; messages are protocol buffers of a few fields, so the
file is read here, record by record, without the packages that write it."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.model import Fact, Span
from npulint.graphs.read.errors import GraphError
from npulint.graphs.read.protobuf.wire import FIXED32, LENGTH, VARINT, Field, Source, Tally, fields
from npulint.runs.read.rows import Seen
from npulint.runs.read.series.loss import KINDS, Course, Measure, is_record, without_unused
from npulint.runs.read.series.scale import Scale
from npulint.runs.read.source_fact import source_fact

_HEAD = struct.Struct("<QI")
_TRAILER = 4
_LARGEST = 1 << 20  # bytes of a record; longer ones hold graphs and images and are skipped
_LIMIT = 1 << 34  # maximum length of a record; a larger one is corrupt
_MALFORMED = 1000  # malformed records after which the file is no event file
_SERIES = 64
_ACCURACY = lazy_compile(r"accuracy|(?:\A|[/_.-])(?:acc\d?|top_?[15])(?:[/_.-]|\Z)")
_FLOAT = 1  # the dtype of scalars


class _Scalar(NamedTuple):
    tag: str
    value: float


class _File:
    """The data collected from one event file."""

    def __init__(self) -> None:
        self.rows = self.malformed = self.first_malformed = 0
        self.scales: dict[str, Scale] = {}
        self.courses: dict[tuple[Measure, str], Course] = {}
        self.first_step = self.last_step = -1
        self.current: float | None = None

    def record(self, data: bytes) -> None:
        self.rows += 1
        if not data:  # an event has at least a time
            self.damaged()
            return
        try:
            step, scalars = _event(data)
        except GraphError:
            self.damaged()
            return
        if scalars and self.first_step < 0:
            self.first_step = step
        self.last_step = max(self.last_step, step)
        for tag, value in scalars:
            self._put(tag, value)

    def damaged(self) -> None:
        self.malformed += 1
        self.first_malformed = self.first_malformed or self.rows

    def _put(self, tag: str, value: float) -> None:
        low = tag.lower()
        if "loss_scale" in low or "loss scale" in low or "lossscale" in low:
            if low.endswith("steps") or not math.isfinite(value) or value < 0:
                return
            if tag in self.scales or len(self.scales) < _SERIES:
                self.scales.setdefault(tag, Scale("events")).value(self.rows, value, self.rows)
                self.current = value
            return
        kind: Measure | None = (
            "loss" if "loss" in low else "accuracy" if _ACCURACY.search(low) and "baseline" not in low else None
        )
        if kind and not is_record(low) and ((kind, tag) in self.courses or len(self.courses) < _SERIES):
            course = self.courses.setdefault((kind, tag), Course(self.rows))
            course.take(self.rows, value, self.current)


def read_events(stream: BinaryIO, path: str) -> list[Fact]:
    """The facts of an event file: a `run_source`, and a `run_series` for each tag. Lines are 1. A truncated file is
    read up to the truncation."""
    file = _File()
    for record in _records(stream):
        if isinstance(record, bytes):
            file.record(record)
        else:
            file.rows += 1
            if record > _LIMIT:
                file.damaged()
        if file.malformed >= _MALFORMED:
            break
    return _facts(file, path)


def scalars(stream: BinaryIO) -> Iterator[tuple[int, str, float]]:
    """Step, tag and value of each scalar of an event file, up to where it is truncated or damaged too often."""
    malformed = 0
    for record in _records(stream):
        try:
            step, event_scalars = _event(record) if isinstance(record, bytes) else (0, [])
        except GraphError:
            malformed += 1
            if malformed >= _MALFORMED:
                return
            continue
        yield from ((step, scalar.tag, scalar.value) for scalar in event_scalars)


def _records(stream: BinaryIO) -> Iterator[bytes | int]:
    """The data of each record; of one that is too long to be read its length. A corrupt length ends the file."""
    while len(head := stream.read(_HEAD.size)) == _HEAD.size:
        length, _ = _HEAD.unpack(head)
        if length > _LIMIT:
            yield length
            return
        if length > _LARGEST:
            if not _skip(stream, length + _TRAILER):
                return
            yield length
            continue
        data = stream.read(length)
        if len(data) < length:
            return
        yield data
        stream.read(_TRAILER)


def _facts(file: _File, path: str) -> list[Fact]:
    seen = Seen("events", file.rows, file.malformed, file.first_malformed)
    steps = max(file.last_step - file.first_step, 0)
    facts: list[Fact] = [source_fact(path, seen, "" if file.rows else "empty", Span())]
    for tag, scale in file.scales.items():
        if scale.is_series:
            facts.append(scale.fact(path, 1, tag[:200], steps))
    for kind in KINDS:
        courses = [(tag, course) for (of, tag), course in file.courses.items() if of == kind]
        for tag, course in without_unused(courses) if kind == "loss" else courses:
            if course.points >= 3 and course.points > course.bad:
                facts.append(course.fact(kind, path, 1, tag))
    return facts


def _skip(stream: BinaryIO, count: int) -> bool:
    """Skip bytes without a seek: the stream may be compressed."""
    while count:
        data = stream.read(min(count, _LARGEST))
        if not data:
            return False
        count -= len(data)
    return True


def _event(data: bytes) -> tuple[int, list[_Scalar]]:
    """The step of an event and its scalars. Raises `GraphError`."""
    source, tally = Source(None, data), Tally()
    step, event_scalars = 0, []
    for field in fields(source, 0, len(data), tally):
        if field.number == 2 and field.wire == VARINT:
            step = field.value
        elif field.number == 5 and field.wire == LENGTH:
            for value in fields(source, field.start, field.stop, tally):
                if value.number == 1 and value.wire == LENGTH:
                    scalar = _scalar(source, value, tally)
                    if scalar is not None:
                        event_scalars.append(scalar)
    return min(step, 1 << 62), event_scalars


def _scalar(source: Source, place: Field, tally: Tally) -> _Scalar | None:
    tag, number = "", None
    for field in fields(source, place.start, place.stop, tally):
        if field.number == 1 and field.wire == LENGTH:
            tag = source.take(field.start, field.stop).decode("utf-8", "replace")
        elif field.number == 2 and field.wire == FIXED32:
            number = _float(source, field)
        elif field.number == 8 and field.wire == LENGTH:
            number = _tensor(source, field, tally)
    return _Scalar(tag, number) if tag and number is not None else None


def _tensor(source: Source, place: Field, tally: Tally) -> float | None:
    """The value of a float tensor with one element, as TensorFlow 2 writes scalars."""
    kind, number = 0, None
    for field in fields(source, place.start, place.stop, tally):
        if field.number == 1 and field.wire == VARINT:
            kind = field.value
        elif field.number in (4, 5) and field.wire in (LENGTH, FIXED32) and field.stop - field.start == 4:
            number = _float(source, field)
    return number if kind == _FLOAT else None


def _float(source: Source, field: Field) -> float:
    return float(struct.unpack("<f", source.take(field.start, field.stop))[0])
