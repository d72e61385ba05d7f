"""Binary ONNX models: the messages of `npulint.graphs.read.onnx.model`, from the wire."""

from __future__ import annotations

import struct
from typing import Any

from npulint.discover.safe_open import open_regular
from npulint.facts.graph import Graph
from npulint.graphs.read.errors import GraphError
from npulint.graphs.read.onnx.model import DEPTH, LENGTHS, MESSAGES, Kind, Message, graph_of, most
from npulint.graphs.read.protobuf.wire import (
    FIXED32,
    FIXED64,
    LENGTH,
    PARTS,
    VARINT,
    Field,
    Source,
    Tally,
    fields,
    signed,
    varint,
)

_FORMS = {"float": ("<f", FIXED32), "double": ("<d", FIXED64)}
_VARINT = 10  # bytes of the longest


def read_binary(location: str, content: bytes | None = None) -> Graph:
    """The graph of the model in a file, or in `content` instead. Raises `GraphError`, `OSError`."""
    if content is not None:
        return _graph(Source(None, content))
    with open_regular(location) as stream:
        return _graph(Source(stream.fileno()))


def _graph(source: Source) -> Graph:
    tally = Tally()
    return graph_of(_Decoder(source, tally).message("Model", 0, source.size, 0), tally)


class _Decoder:
    def __init__(self, source: Source, tally: Tally) -> None:
        self._source = source
        self._tally = tally

    def message(self, name: str, start: int, stop: int, depth: int) -> Message:
        """The known fields of the message between two offsets."""
        if depth > DEPTH:
            raise GraphError("graph-damaged", "nested too deeply")
        kinds = MESSAGES[name]
        message: Message = {}
        parts = 0
        for field in fields(self._source, start, stop, self._tally):
            kind = kinds.get(field.number)
            if kind is None:
                continue
            parts += 1
            if parts > PARTS and name not in ("Graph", "Function"):  # nodes have a limit of their own
                raise GraphError("graph-too-large", f"more than {PARTS:,} fields of one message")
            self._add(message, name, kind, field, depth)
        return message

    def _add(self, message: Message, name: str, kind: Kind, field: Field, depth: int) -> None:
        if not kind.repeated:
            value = self._value(kind, field, depth)
            if value is not None:
                message[kind.name] = value
            return
        values = message.setdefault(kind.name, [])
        if kind.of in ("int", "float", "double"):
            self._numbers(values, kind, field, most(name, kind.name))
        elif (value := self._value(kind, field, depth)) is not None:
            values.append(value)

    def _value(self, kind: Kind, field: Field, depth: int) -> Any:
        """The value of a field; None if its wire type does not fit, as protobuf skips such fields."""
        if kind.of in ("int", "enum"):
            return signed(field.value) if field.wire == VARINT else None
        if kind.of in _FORMS:
            form, wire = _FORMS[kind.of]
            return struct.unpack(form, self._source.take(field.start, field.stop))[0] if field.wire == wire else None
        if field.wire != LENGTH:
            return None
        if kind.of in LENGTHS:
            data = self._source.take(field.start, min(field.stop, field.start + LENGTHS[kind.of]))
            self._tally.text(len(data))
            return data if kind.of == "bytes" else data.decode("utf-8", "replace")
        if kind.of == "Node":
            self._tally.node(0, 0)  # before it is read: a node may nest a graph
        return self.message(kind.of, field.start, field.stop, depth + 1)

    def _numbers(self, values: list[Any], kind: Kind, field: Field, limit: int) -> None:
        """Add the first numbers of a list, packed or not."""
        if field.wire != LENGTH:
            value = self._value(kind, field, 0) if len(values) < limit else None
            values += [] if value is None else [value]
            return
        size = struct.calcsize(_FORMS[kind.of][0]) if kind.of in _FORMS else _VARINT
        room = size * max(limit - len(values), 0)
        data = self._source.take(field.start, min(field.stop, field.start + room))
        at = 0
        while at < len(data) and len(values) < limit:
            if kind.of == "int":
                raw, at = varint(data, at, field.start)
                values.append(signed(raw))
            elif at + size <= len(data):
                values.append(struct.unpack_from(_FORMS[kind.of][0], data, at)[0])
                at += size
            else:
                break
