"""Functions, from the wire format (tensorflow/core/framework/{function,op_def}.proto)."""

from __future__ import annotations

from typing import Any

from npulint.facts.graph import Body, Node
from npulint.graphs.read.protobuf.wire import LENGTH, NAME, VARINT, Field, Source, Tally, fields
from npulint.graphs.read.tensorflow.attributes import UNSET, word
from npulint.graphs.read.tensorflow.nodes import Nodes, entry


def function(source: Source, whole: Field, nodes: Nodes, tally: Tally) -> Body:
    """The FunctionDef in a field. Raises `GraphError`."""
    name = ""
    arguments: list[tuple[str, dict[str, Any]]] = []
    attributes: dict[int, dict[str, Any]] = {}
    inner: list[Node] = []
    tally.function()
    for field in fields(source, whole.start, whole.stop, tally):
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


def _signature(source: Source, whole: Field, tally: Tally) -> tuple[str, list[tuple[str, dict[str, Any]]]]:
    """The name and the arguments that an OpDef declares."""
    name = ""
    arguments: list[tuple[str, dict[str, Any]]] = []
    for field in fields(source, whole.start, whole.stop, tally):
        if field.wire == LENGTH and field.number == 1:
            name = _name(source, field, tally)
        elif field.wire == LENGTH and field.number == 2:
            tally.node(4, 0)
            arguments.append(_argument(source, field, tally))
    return name, arguments


def _argument(source: Source, whole: Field, tally: Tally) -> tuple[str, dict[str, Any]]:
    name = ""
    attrs: dict[str, Any] = {}
    for field in fields(source, whole.start, whole.stop, tally):
        if field.wire == LENGTH and field.number == 1:
            name = _name(source, field, tally)
        elif field.wire == VARINT and field.number == 3 and field.value:
            attrs["T"] = word(field.value)
        elif field.wire == VARINT and field.number == 16 and field.value and "T" in attrs:
            attrs["T"] = f"{attrs['T']}_ref"
    return name, attrs


def _argument_attrs(source: Source, whole: Field, tally: Tally) -> tuple[int, dict[str, Any]]:
    """The attributes of one argument: an entry of a map from index to attributes."""
    index = 0
    attrs: dict[str, Any] = {}
    for field in fields(source, whole.start, whole.stop, tally):
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
