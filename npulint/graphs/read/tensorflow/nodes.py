"""Nodes, from the wire format (tensorflow/core/framework/node_def.proto)."""

from __future__ import annotations

from typing import Any

from npulint.facts.graph import Body, Node
from npulint.graphs.read.errors import GraphError
from npulint.graphs.read.protobuf.wire import (
    LENGTH,
    NAME,
    PARTS,
    TEXT,
    VARINT,
    Field,
    Source,
    Tally,
    damaged,
    field_at,
    fields,
    weight,
)
from npulint.graphs.read.tensorflow.attributes import UNSET, value, word

_SMALL = 32 * 1024  # bytes of a node that is read at once
_SAME = 256  # bytes of an attribute that is cached: most nodes repeat others
_REMEMBERED = 50_000
_NAME, _OP, _INPUT, _ATTR = 0x0A, 0x12, 0x1A, 0x2A  # number and wire type of the fields of a node
_KNOWN = frozenset((_NAME, _OP, _INPUT, _ATTR))


class Nodes:
    """Reads the nodes of one file."""

    def __init__(self, source: Source, tally: Tally) -> None:
        self._source = source
        self._tally = tally
        self._entries: dict[bytes, tuple[str, Any]] = {}
        self._ops: dict[bytes, str] = {}

    def node(self, message: Field) -> Node:
        """The NodeDef in a field. Raises `GraphError`."""
        size = message.stop - message.start
        name, op, inputs, attrs = self._small(message) if size <= _SMALL else self._large(message)
        if not op:
            raise damaged(message.start)
        self._tally.node(2 + len(inputs) + len(attrs), len(name) + sum(map(len, inputs)))
        operator = self._ops.get(op)
        if operator is None:
            operator = self._ops[op] = _text(op)[:TEXT]
            self._tally.operator(operator)
        return Node(name, operator, tuple(inputs), attrs)

    def _small(self, message: Field) -> tuple[str, bytes, list[str], dict[str, Any]]:
        """The hot path of reading: common cases are recognized by two bytes."""
        data, base, end = self._source.take(message.start, message.stop), message.start, message.stop - message.start
        name, op, at, steps = b"", b"", 0, 0
        inputs: list[str] = []
        attrs: dict[str, Any] = {}
        while at < end:
            tag = data[at]
            length = data[at + 1] if at + 1 < end else 128
            steps += 1
            if tag in _KNOWN and length < 128:
                begin = at + 2
                at = begin + length
                if at > end:
                    raise damaged(base + begin)
            else:
                field = field_at(data, at, base, message.stop)
                begin, at, tag = field.start - base, field.stop - base, field.number << 3 | field.wire
            if tag == _ATTR:
                piece = data[begin:at]
                key, setting = self._entries.get(piece) or self._entry(base + begin, base + at, piece)
                if setting is not UNSET:
                    attrs[key] = setting
            elif tag == _INPUT:
                inputs.append(_text(data[begin:at]))
            elif tag == _NAME:
                name = data[begin:at]
            elif tag == _OP:
                op = data[begin:at]
        self._tally.step(steps)
        return _text(name), op, inputs, attrs

    def _large(self, message: Field) -> tuple[str, bytes, list[str], dict[str, Any]]:
        name, op = b"", b""
        inputs: list[str] = []
        attrs: dict[str, Any] = {}
        parts = 0
        for field in fields(self._source, message.start, message.stop, self._tally):
            if parts >= PARTS:
                raise GraphError("graph-too-large", f"more than {PARTS:,} fields of one node")
            tag = field.number << 3 | field.wire
            if tag == _ATTR:
                key, setting = self._entry(field.start, field.stop)
                if setting is not UNSET:
                    attrs[key] = setting
                parts += 1
            elif tag in _KNOWN:
                parts += 1
                data = self._source.take(field.start, min(field.stop, field.start + NAME))
                self._tally.text(len(data))
                if tag == _INPUT:
                    inputs.append(_text(data))
                elif tag == _NAME:
                    name = data
                else:
                    op = data
        return _text(name), op, inputs, attrs

    def _entry(self, start: int, stop: int, piece: bytes = b"") -> tuple[str, Any]:
        """A key and value of a map from names to AttrValue; `piece` are its bytes if it may be cached."""
        key, setting = entry(self._source, start, stop, self._tally)
        self._tally.kept(weight(key) + weight(setting))
        if piece and len(piece) <= _SAME and len(self._entries) < _REMEMBERED:
            self._entries[piece] = (key, setting)
        return key, setting


def entry(source: Source, start: int, stop: int, tally: Tally) -> tuple[str, Any]:
    """An attribute and its value, `UNSET` if it has none. Raises `GraphError`."""
    key, setting = "", UNSET
    for field in fields(source, start, stop, tally):
        if field.wire == LENGTH and field.number == 1:
            tally.text(field.stop - field.start)
            key = _text(source.take(field.start, field.stop))
        elif field.wire == LENGTH and field.number == 2:
            setting = value(source, field.start, field.stop, tally)
    return key, setting


def _text(data: bytes) -> str:
    return data[:NAME].decode("utf-8", "replace")


# Functions, from the wire format (tensorflow/core/framework/{function,op_def}.proto).


def function(source: Source, message: Field, nodes: Nodes, tally: Tally) -> Body:
    """The FunctionDef in a field. Raises `GraphError`."""
    name = ""
    arguments: list[tuple[str, dict[str, Any]]] = []
    attributes: dict[int, dict[str, Any]] = {}
    inner: list[Node] = []
    tally.function()
    for field in fields(source, message.start, message.stop, tally):
        if field.wire != LENGTH:
            continue
        if field.number == 1:
            name, arguments = _signature(source, field, tally)
        elif field.number == 3:
            inner.append(nodes.node(field))
        elif field.number == 7:
            index, attrs = _argument_attrs(source, field, tally)
            attributes[index] = attrs
    return Body(name, [*arguments_of(arguments, attributes), *inner])


def arguments_of(arguments: list[tuple[str, dict[str, Any]]], attributes: dict[int, dict[str, Any]]) -> list[Node]:
    """The nodes for the arguments of a function: `_Arg` with the type ``T`` and the ``index``, as in TensorFlow, and
    further `attributes` by index (``_output_shapes`` …)."""
    return [
        Node(name, "_Arg", (), {**attributes.get(index, {}), **attrs, "index": index})
        for index, (name, attrs) in enumerate(arguments)
    ]


def _signature(source: Source, message: Field, tally: Tally) -> tuple[str, list[tuple[str, dict[str, Any]]]]:
    """The name and the arguments that an OpDef declares."""
    name = ""
    arguments: list[tuple[str, dict[str, Any]]] = []
    for field in fields(source, message.start, message.stop, tally):
        if field.wire == LENGTH and field.number == 1:
            name = _name(source, field, tally)
        elif field.wire == LENGTH and field.number == 2:
            tally.node(4, 0)
            arguments.append(_argument(source, field, tally))
    return name, arguments


def _argument(source: Source, message: Field, tally: Tally) -> tuple[str, dict[str, Any]]:
    name = ""
    attrs: dict[str, Any] = {}
    for field in fields(source, message.start, message.stop, tally):
        if field.wire == LENGTH and field.number == 1:
            name = _name(source, field, tally)
        elif field.wire == VARINT and field.number == 3 and field.value:
            attrs["T"] = word(field.value)
        elif field.wire == VARINT and field.number == 16 and field.value and "T" in attrs:
            attrs["T"] = f"{attrs['T']}_ref"
    return name, attrs


def _argument_attrs(source: Source, message: Field, tally: Tally) -> tuple[int, dict[str, Any]]:
    """The attributes of one argument: an entry of a map from index to attributes."""
    index = 0
    attrs: dict[str, Any] = {}
    for field in fields(source, message.start, message.stop, tally):
        if field.wire == VARINT and field.number == 1:
            index = field.value
        elif field.wire == LENGTH and field.number == 2:
            for inner in fields(source, field.start, field.stop, tally):
                if inner.wire == LENGTH and inner.number == 1:
                    key, setting = entry(source, inner.start, inner.stop, tally)
                    attrs |= {} if setting is UNSET else {key: setting}
    return index, attrs


def _name(source: Source, field: Field, tally: Tally) -> str:
    tally.text(field.stop - field.start)
    return source.take(field.start, min(field.stop, field.start + NAME)).decode("utf-8", "replace")
