"""Text graphs of TensorFlow (.pbtxt): GraphDef, MetaGraphDef and SavedModel; every node has a line."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from npulint.facts.graph import Body, Graph, Node
from npulint.graphs.read.errors import GraphError
from npulint.graphs.read.protobuf import numbers
from npulint.graphs.read.protobuf.literals import integer, real, text, truth, unescaped
from npulint.graphs.read.protobuf.markup import Entries, Markup
from npulint.graphs.read.protobuf.text_file import text_of
from npulint.graphs.read.protobuf.wire import COLLECTIONS, DIMENSIONS, LIST, NAME, TAGS, TEXT, Tally, weight
from npulint.graphs.read.tensorflow.attributes import UNSET, number_of, word
from npulint.graphs.read.tensorflow.binary import distinct, release_of
from npulint.graphs.read.tensorflow.meta import MetaGraph, chosen
from npulint.graphs.read.tensorflow.nodes import arguments_of

# Attribute values, from the fields of an AttrValue in text format. All raise `ValueError` for invalid input.

_REALS = frozenset(("float_val", "double_val"))
_INTEGERS = frozenset(("half_val", "int_val", "int64_val", "bool_val", "uint32_val", "uint64_val"))
_NUMBERS = _REALS | _INTEGERS
_RAW = 128  # bytes, as written, of contents that may be a single number


def value(fields: Entries) -> Any:
    """The value of the last field of an AttrValue; `UNSET` if there is none."""
    setting: Any = UNSET
    for name, raw in fields:
        setting = _list(raw) if name == "list" else _one(name, raw)
    return setting


def _one(name: str, raw: Any) -> Any:
    read = _KINDS.get(name)
    if read is None:
        raise ValueError(name)
    return read(raw)


def _list(fields: Entries) -> list[Any]:
    return [_one(name, raw) for name, raw in _message(fields)[:LIST]]


def _message(raw: Any) -> Entries:
    if type(raw) is not list:
        raise ValueError(raw)
    return raw


def _word(raw: Any) -> str:
    if type(raw) is not str:
        raise ValueError(raw)
    return raw


def type_of(raw: Any) -> str:
    """An element type: by its name, or its number."""
    number = number_of(_word(raw))
    return word(integer(raw) if number is None else number)


def function(fields: Entries, line: int) -> dict[str, str]:
    """A function, from the fields of a NameAttrList."""
    return {"function": next((text(raw) for name, raw in reversed(fields) if name == "name"), "")}


def shape(raw: Any) -> list[int] | None:
    """The dimensions of a TensorShapeProto; None for an unknown rank."""
    sizes: list[int] = []
    for name, content in _message(raw):
        if name == "unknown_rank" and truth(_word(content)):
            return None
        if name == "dim" and len(sizes) < DIMENSIONS:
            sizes.append(next((integer(_word(size)) for key, size in reversed(_message(content)) if key == "size"), 0))
    return sizes


def tensor(raw: Any) -> dict[str, Any]:
    """The description of a TensorProto that is kept."""
    dtype = "invalid"
    sizes: list[int] | None = []
    stored = b""
    first: int | float | None = None
    for name, content in _message(raw):
        if name == "dtype":
            dtype = type_of(content)
        elif name == "tensor_shape":
            sizes = shape(content)
        elif name == "tensor_content":
            stored = b"".join(unescaped(part[:_RAW]) for part in content[:_RAW]) if type(content) is tuple else b""
        elif name in _NUMBERS and first is None:
            first = _number(name, _word(content))
    return numbers.described(dtype, sizes, stored, first)


def _number(name: str, raw: str) -> int | float:
    if name in _REALS:
        return numbers.single(real(raw)) if name == "float_val" else real(raw)
    return int(truth(raw)) if name == "bool_val" else integer(raw)


_KINDS: dict[str, Callable[[Any], Any]] = {
    "s": lambda raw: text(raw, TEXT),
    "i": lambda raw: integer(_word(raw)),
    "f": lambda raw: numbers.single(real(_word(raw))),
    "b": lambda raw: truth(_word(raw)),
    "type": type_of,
    "shape": shape,
    "tensor": tensor,
    "func": lambda raw: raw,
    "placeholder": lambda raw: {"placeholder": text(raw, TEXT)},
}


_ROLES = {
    ("root", "node"): "node",
    ("root", "library"): "library",
    ("root", "versions"): "versions",
    ("root", "graph_def"): "graph",
    ("root", "meta_info_def"): "info",
    ("root", "collection_def"): "collection",
    ("root", "meta_graphs"): "meta",
    ("meta", "graph_def"): "graph",
    ("meta", "meta_info_def"): "info",
    ("meta", "collection_def"): "collection",
    ("graph", "node"): "node",
    ("graph", "library"): "library",
    ("graph", "versions"): "versions",
    ("library", "function"): "function",
    ("function", "signature"): "signature",
    ("function", "node_def"): "node",
    ("function", "arg_attr"): "argument_attrs",
    ("signature", "input_arg"): "argument",
    ("argument_attrs", "value"): "attrs",
    ("attrs", "attr"): "attr",
    ("node", "attr"): "attr",
    ("attr", "value"): "value",
    ("value", "func"): "func",
    ("collection", "value"): "kinds",
    **{("kinds", f"{kind}_list"): "members" for kind in ("node", "bytes", "int64", "float", "any")},
}
"""The role of the message in a field, by the role of the containing message and the field name."""

_REST = {"value": "value", "members": "member"}  # the role of messages in other fields


def read_text(location: str, content: bytes | None = None) -> Graph:
    """The graph in a text file, or in `content` instead. Raises `GraphError`, `OSError`."""
    content = text_of(location) if content is None else content
    tally = Tally()
    made = {
        "node": lambda fields, line: _node(fields, line, tally),
        "attr": lambda fields, line: _attr(fields, tally),
        "func": function,
        "argument": lambda fields, line: _argument(fields),
        "signature": lambda fields, line: (_name(fields), _all(fields, "input_arg")),
        "attrs": lambda fields, line: _attrs(fields),
        "argument_attrs": lambda fields, line: _argument_attrs(fields),
        "function": lambda fields, line: _function(fields, tally),
        "members": lambda fields, line: len(fields),
        "kinds": lambda fields, line: sum(count for _, count in fields),
        "collection": lambda fields, line: (_name(fields, "key"), sum(_all(fields, "value"))),
    }
    return _graph(Markup(content, _ROLES, _REST, made, tally, "attr").read())


def _graph(fields: Entries) -> Graph:
    names = {name for name, _ in fields}
    if "meta_graphs" in names:
        meta = chosen([_meta(graph_fields) for graph_fields in _all(fields, "meta_graphs")])
        return Graph("saved_model", _bodies(meta.graphs), _version(meta), meta.tags, meta.collections)
    if "graph_def" in names or "meta_info_def" in names:
        meta = _meta(fields)
        return Graph("meta_graph", _bodies(meta.graphs), _version(meta), meta.tags, meta.collections)
    return Graph("graph_def", _bodies([fields]), _version(MetaGraph([fields])))


def _version(meta: MetaGraph) -> str:
    """The TensorFlow that wrote it: what it says, or what its GraphDef tells."""
    written = [raw for graph in meta.graphs for part in _all(graph, "versions") for raw in _all(part, "producer")]
    return meta.version or release_of(integer(written[-1]) if written and type(written[-1]) is str else 0)


def _bodies(graphs: list[Entries]) -> list[Body]:
    main = [node for fields in graphs for node in _all(fields, "node")]
    functions = [body for fields in graphs for library in _all(fields, "library") for body in _all(library, "function")]
    if not main and not functions:
        raise GraphError("not-a-graph", "no nodes")
    return [Body("", main), *distinct(functions)]


def _meta(fields: Entries) -> MetaGraph:
    info = [field for part in _all(fields, "meta_info_def") for field in part]
    tags = tuple(text(tag, TEXT) for tag in _all(info, "tags")[:TAGS])
    collections = dict(_all(fields, "collection_def")[:COLLECTIONS])
    return MetaGraph(_all(fields, "graph_def"), _name(info, "tensorflow_version"), tags, collections)


def _node(fields: Entries, line: int, tally: Tally) -> Node:
    name, op = "", ""
    inputs: list[str] = []
    attrs: dict[str, Any] = {}
    for field, raw in fields:
        if field == "attr":
            if raw[1] is not UNSET:
                attrs[raw[0]] = raw[1]
        elif field == "input":
            inputs.append(text(raw, NAME))
        elif field == "name":
            name = text(raw, NAME)
        elif field == "op":
            op = sys.intern(text(raw, TEXT))
    if not op:
        raise ValueError("no operator")
    tally.operator(op)
    tally.node(0, 0)  # its texts were counted while parsing
    return Node(name, op, tuple(inputs), attrs, line)


def _attr(fields: Entries, tally: Tally) -> tuple[str, Any]:
    setting: Any = UNSET
    for name, raw in fields:
        if name == "value":
            setting = value(raw)
    tally.kept(weight(setting))
    return sys.intern(_name(fields, "key")), setting


def _function(fields: Entries, tally: Tally) -> Body:
    name, arguments = (_all(fields, "signature") or [("", [])])[-1]
    tally.function()
    for _ in arguments:
        tally.node(4, 0)
    return Body(name, [*arguments_of(arguments, dict(_all(fields, "arg_attr"))), *_all(fields, "node_def")])


def _argument(fields: Entries) -> tuple[str, dict[str, Any]]:
    kinds = _all(fields, "type")
    if not kinds:
        return _name(fields), {}
    referred = any(truth(flag) for flag in _all(fields, "is_ref"))
    return _name(fields), {"T": type_of(kinds[-1]) + ("_ref" if referred else "")}


def _argument_attrs(fields: Entries) -> tuple[int, dict[str, Any]]:
    index = next((integer(key) for key in reversed(_all(fields, "key"))), 0)
    return index, {key: setting for attrs in _all(fields, "value") for key, setting in attrs.items()}


def _attrs(fields: Entries) -> dict[str, Any]:
    return {key: setting for key, setting in _all(fields, "attr") if setting is not UNSET}


def _all(fields: Entries, name: str) -> list[Any]:
    return [value for key, value in fields if key == name]


def _name(fields: Entries, key: str = "name") -> str:
    """The text in a field; empty without one."""
    return next((text(raw, NAME) for name, raw in reversed(fields) if name == key), "")
