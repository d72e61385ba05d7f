"""Recognizes the TensorFlow message that a binary file begins with. Other protocol buffers often have the same shape,
so required contents are checked too. Field numbers are those of tensorflow/core/**/*.proto."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from npulint.core.lazy_regex import lazy_compile

_OPERATOR = lazy_compile(rb"[A-Za-z_][\w.>/-]*")
_FUNCTION = lazy_compile(rb"[A-Za-z_][^\x00-\x20\x7f]*")  # TensorFlow names some after ``<lambda>``
_RELEASE = lazy_compile(rb"\d+\.\d+[\w.+-]*")
_WIRES = (0, 1, 2, 5)
_FIXED = {1: 8, 5: 4}
_MODEL = {1: 0, 2: 2, 3: 2, 4: 2, 5: 0, 6: 2, 7: 2, 8: 2, 14: 2, 20: 2, 25: 2, 26: 2}  # wire types of a ModelProto
_FIELDS = 16  # fields of a message that are examined


class ProtobufField(NamedTuple):
    """A field of a message: its number, its wire type, and the bounds of its value within the head."""

    number: int
    wire: int
    start: int
    stop: int


def form_of_protobuf(head: bytes) -> str:
    """The form of the graph in a file with this head: graph_def, meta_graph, saved_model; else empty."""
    message = ProtobufField(0, 2, 0, 1 << 62)
    # tried first: functions look like the meta info of a MetaGraph
    for form, fits in (("graph_def", _is_graph), ("saved_model", _is_saved_model), ("meta_graph", _is_meta)):
        if fits(head, message):
            return form
    return ""


def is_onnx(head: bytes) -> bool:
    """Whether a file with this head, and with the name of an ONNX model, is one: its first fields are those of a
    ModelProto, among them the version of the format, the producer, the graph or the opsets."""
    onnx = False
    for field in _fields(head, ProtobufField(0, 2, 0, 1 << 62)):
        if not field.number:
            break  # damaged from here on: the reader says so
        if field.wire != _MODEL.get(field.number):
            return False
        onnx = onnx or field.number in (1, 2, 7, 8)
    return onnx


def _is_saved_model(head: bytes, message: ProtobufField) -> bool:
    """A schema version followed by a MetaGraphDef, whose fields are in any order; or no version, then it must begin
    with meta info."""
    version = False
    for field in _fields(head, message):
        if field[:2] == (2, 2):
            first = next(_fields(head, field), None)
            fits = first is not None and first.wire == 2 and first.number < 8
            return fits if version else _begins(head, field, 1, _is_info)
        if field[:2] != (1, 0):
            return False
        version = True
    return False


def _is_graph(head: bytes, message: ProtobufField) -> bool:
    """A NodeDef, or a function library, possibly after a version."""
    for field in _fields(head, message):
        if field[:2] == (1, 2):
            return _is_node(head, field)
        if field[:2] == (2, 2):
            return _begins(head, field, 1, _is_function)
        if field[:2] not in ((3, 0), (4, 2), (5, 2)):
            return False
    return False


def _is_meta(head: bytes, message: ProtobufField) -> bool:
    """Meta info, or a graph."""
    for field in _fields(head, message):
        if field[:2] == (1, 2) and field.stop > field.start:
            return _is_info(head, field)
        if field[:2] == (2, 2):
            return _is_graph(head, field)
        if field.wire != 2 or field.number > 7:
            return False
    return False


def _is_node(head: bytes, message: ProtobufField) -> bool:
    """A name and an operator."""
    words: dict[int, bytes] = {}
    for field in _fields(head, message):
        if field.wire != 2 or field.number > 7:
            return False
        if field.number < 3:
            words.setdefault(field.number, head[field.start : field.stop])
        if len(words) == 2:
            break
    name, operator = words.get(1, b""), words.get(2, b"")
    return bool(name) and min(name) >= 0x20 and _OPERATOR.fullmatch(operator) is not None


def _is_function(head: bytes, message: ProtobufField) -> bool:
    """A signature, which is an operator with a name."""
    return _begins(head, message, 1, _is_signature)


def _is_signature(head: bytes, message: ProtobufField) -> bool:
    return _begins(head, message, 1, lambda data, name: _FUNCTION.fullmatch(data[name.start : name.stop]) is not None)


def _is_declared(head: bytes, message: ProtobufField) -> bool:
    return _begins(head, message, 1, lambda data, name: _OPERATOR.fullmatch(data[name.start : name.stop]) is not None)


def _is_info(head: bytes, message: ProtobufField) -> bool:
    """A MetaInfoDef: operators, tags, TensorFlow version."""
    info = False
    for field in _fields(head, message):
        if field.wire != (0 if field.number == 7 else 2) or field.number > 8:
            return False
        if field.number == 2 and field.stop > field.start:
            return _begins(head, field, 1, _is_declared)
        if field.number == 5:
            return _RELEASE.fullmatch(head[field.start : field.stop]) is not None
        info = info or field.number == 4
    return info


def _begins(head: bytes, message: ProtobufField, number: int, fits: Callable[[bytes, ProtobufField], bool]) -> bool:
    """Whether a message begins with a field of this number whose value satisfies `fits`."""
    first = next(_fields(head, message), None)
    return first is not None and first[:2] == (number, 2) and fits(head, first)


def _fields(head: bytes, message: ProtobufField) -> Iterator[ProtobufField]:
    """The first fields of a message, until the head or the message ends. Malformed data yields a field 0, which no
    message has."""
    at = message.start
    for _ in range(_FIELDS):
        if at >= min(message.stop, len(head)):
            return
        tag, at = _number(head, at)
        wire, value = tag & 7, 0
        if wire in (0, 2):
            value, at = _number(head, at)
        stop = at + (value if wire == 2 else _FIXED.get(wire, 0))
        if wire not in _WIRES or not tag >> 3 or at > len(head) or stop > message.stop:
            yield ProtobufField(0, 7, at, at)
            return
        yield ProtobufField(tag >> 3, wire, at, stop)
        at = stop


def _number(data: bytes, start: int) -> tuple[int, int]:
    """The varint at `start`, and its end offset: beyond the data if it is incomplete."""
    value = 0
    for place, byte in enumerate(data[start : start + 10]):
        value |= (byte & 0x7F) << 7 * place
        if byte < 0x80:
            return value, start + place + 1
    return 0, len(data) + 1
