"""What TensorFlow itself reads in a graph file, in the words of `npulint.facts.graph`: what our readers agree with.

Importing this needs TensorFlow.
"""

from __future__ import annotations

import os
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

import numpy
from google.protobuf import text_format
from tensorflow.core.framework import graph_pb2, types_pb2
from tensorflow.core.protobuf import meta_graph_pb2, saved_model_pb2
from tensorflow.python.framework import tensor_util

from npulint.facts.graph import Body, Graph, Node
from npulint.graphs.read.tensorflow.binary import release_of

MESSAGES = {
    "graph_def": graph_pb2.GraphDef,
    "meta_graph": meta_graph_pb2.MetaGraphDef,
    "saved_model": saved_model_pb2.SavedModel,
}
_WORDS = {"FLOAT": "float32", "DOUBLE": "float64", "HALF": "float16"}
_NUMBERS = frozenset("float16 bfloat16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool".split())


def parsed(form: str, data: bytes) -> Any:
    """The message of a form in binary data."""
    message = MESSAGES[form]()
    message.ParseFromString(data)
    return message


def parsed_text(text: bytes) -> tuple[str, Any]:
    """The form of the message in a text, and the message."""
    for form, kind in MESSAGES.items():
        message = kind()
        try:
            return form, text_format.Parse(text, message)
        except text_format.ParseError:
            continue
    raise ValueError("no graph")


def written(message: Any) -> str:
    """A message as text."""
    return str(text_format.MessageToString(message))


def graph_of(form: str, message: Any) -> Graph:
    """What is in a message."""
    if form == "graph_def":
        return Graph(form, bodies_of(message), release_of(message.versions.producer))
    meta = message
    if form == "saved_model":
        tagged = [one for tag in ("train", "serve") for one in message.meta_graphs if tag in one.meta_info_def.tags]
        meta = [*tagged, message.meta_graphs[0]][0]
    info = meta.meta_info_def
    collections = {name: _members(value) for name, value in meta.collection_def.items()}
    version = info.tensorflow_version or release_of(meta.graph_def.versions.producer)
    return Graph(form, bodies_of(meta.graph_def), version, tuple(info.tags), collections)


def bodies_of(graph: Any) -> list[Body]:
    """The main graph and its functions."""
    main = Body("", [_node(node) for node in graph.node])
    return [main, *(Body(one.signature.name, _function(one)) for one in graph.library.function)]


def word(number: int) -> str:
    """An element type as a word."""
    try:
        name = str(types_pb2.DataType.Name(number))[3:]
    except ValueError:
        return f"type_{number}"
    bare = name.removesuffix("_REF")
    return _WORDS.get(bare, bare.lower()) + ("_ref" if bare != name else "")


def _members(collection: Any) -> int:
    kind = collection.WhichOneof("kind")
    return len(getattr(collection, kind).value) if kind else 0


def _node(node: Any) -> Node:
    return Node(node.name, node.op, tuple(node.input), _attrs(node.attr))


def _attrs(attrs: Any) -> dict[str, Any]:
    return {name: _value(value) for name, value in attrs.items() if value.WhichOneof("value")}


def _function(function: Any) -> list[Node]:
    found = []
    for index, argument in enumerate(function.signature.input_arg):
        attrs: dict[str, Any] = {"index": index}
        if argument.type:
            attrs["T"] = word(argument.type) + ("_ref" if argument.is_ref else "")
        found.append(Node(argument.name, "_Arg", (), attrs | _attrs(function.arg_attr[index].attr)))
    return found + [_node(node) for node in function.node_def]


def _value(value: Any) -> Any:
    kind = value.WhichOneof("value")
    if kind == "placeholder":
        return {"placeholder": value.placeholder}
    if kind != "list":
        return _single(kind, getattr(value, kind))
    whole = [_single(kind.name, one) for kind, members in value.list.ListFields() for one in members]
    return whole[:64]


def _single(kind: str, value: Any) -> Any:
    if kind == "s":
        return value.decode("utf-8", "replace")[:256]
    if kind == "type":
        return word(value)
    if kind == "shape":
        return None if value.unknown_rank else [dim.size for dim in value.dim]
    if kind == "func":
        return {"function": value.name}
    return _tensor(value) if kind == "tensor" else value


def _tensor(tensor: Any) -> dict[str, Any]:
    record = {"dtype": word(tensor.dtype), "shape": _single("shape", tensor.tensor_shape)}
    sizes = record["shape"]
    if record["dtype"] in _NUMBERS and sizes is not None and all(size == 1 for size in sizes):
        number = numpy.asarray(tensor_util.MakeNdarray(tensor)).reshape(())
        record["value"] = float(number) if "float" in record["dtype"] else number.item()
    return record
