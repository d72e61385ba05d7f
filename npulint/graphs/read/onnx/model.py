"""From the messages of an ONNX model to the neutral record of a graph."""

from __future__ import annotations

import sys
from collections import ChainMap
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.graph import Body, Graph, Node, NodeFrame
from npulint.graphs.read.errors import GraphError
from npulint.graphs.read.protobuf.numbers import described
from npulint.graphs.read.protobuf.wire import FUNCTIONS, Tally, weight
from npulint.graphs.read.torch.frames import LIMIT, Traces, kept

# The messages of ONNX models, as far as they are read (onnx/onnx.proto of ONNX 1.18).

Message = dict[str, Any]
"""The fields of a message by name: a list for repeated fields, else the last value."""


class Kind(msgspec.Struct, frozen=True):
    """A field of a message. `of` is int, enum, float, double, text, trace (a long text), bytes, or the name of
    the message in it."""

    name: str
    of: str
    repeated: bool = False


MESSAGES: dict[str, dict[int, Kind]] = {
    "Model": {
        1: Kind("ir_version", "int"),
        2: Kind("producer_name", "text"),
        3: Kind("producer_version", "text"),
        7: Kind("graph", "Graph"),
        8: Kind("opset_import", "Opset", True),
        25: Kind("functions", "Function", True),
    },
    "Opset": {1: Kind("domain", "text"), 2: Kind("version", "int")},
    "Graph": {
        1: Kind("node", "Node", True),
        2: Kind("name", "text"),
        5: Kind("initializer", "Tensor", True),
        11: Kind("input", "Value", True),
        12: Kind("output", "Value", True),
        13: Kind("value_info", "Value", True),
    },
    "Function": {
        1: Kind("name", "text"),
        4: Kind("input", "text", True),
        5: Kind("output", "text", True),
        7: Kind("node", "Node", True),
        9: Kind("opset_import", "Opset", True),
        10: Kind("domain", "text"),
    },
    "Node": {
        1: Kind("input", "text", True),
        2: Kind("output", "text", True),
        3: Kind("name", "text"),
        4: Kind("op_type", "text"),
        5: Kind("attribute", "Attribute", True),
        6: Kind("doc_string", "trace"),
        7: Kind("domain", "text"),
        9: Kind("metadata_props", "Entry", True),
    },
    "Attribute": {
        1: Kind("name", "text"),
        2: Kind("f", "float"),
        3: Kind("i", "int"),
        4: Kind("s", "text"),
        5: Kind("t", "Tensor"),
        6: Kind("g", "Graph"),
        7: Kind("floats", "float", True),
        8: Kind("ints", "int", True),
        9: Kind("strings", "text", True),
        11: Kind("graphs", "Graph", True),
        20: Kind("type", "enum"),
    },
    "Tensor": {
        1: Kind("dims", "int", True),
        2: Kind("data_type", "int"),
        4: Kind("float_data", "float", True),
        5: Kind("int32_data", "int", True),
        7: Kind("int64_data", "int", True),
        8: Kind("name", "text"),
        9: Kind("raw_data", "bytes"),
        10: Kind("double_data", "double", True),
        11: Kind("uint64_data", "int", True),
    },
    "Value": {1: Kind("name", "text"), 2: Kind("type", "Type")},
    "Type": {
        1: Kind("tensor_type", "TensorType"),
        4: Kind("sequence_type", "Container"),
        5: Kind("map_type", "Container"),
        8: Kind("sparse_tensor_type", "TensorType"),
        9: Kind("optional_type", "Container"),
    },
    "Container": {},
    "TensorType": {1: Kind("elem_type", "int"), 2: Kind("shape", "Shape")},
    "Shape": {1: Kind("dim", "Dimension", True)},
    "Dimension": {1: Kind("dim_value", "int"), 2: Kind("dim_param", "text")},
    "Entry": {1: Kind("key", "text"), 2: Kind("value", "trace")},
}

LENGTHS = {"text": 1024, "trace": 16 * 1024, "bytes": 16}
"""Maximum bytes of a value that are kept."""

LISTED = {"Tensor": 1, "Attribute": 64}
"""Maximum numbers of a repeated field that are kept, by message; shapes have few dimensions."""

DIMENSIONS = 64
DEPTH = 100
"""Maximum nesting of messages: a loop within a loop takes three levels each."""

TYPES = {
    0: "undefined",
    1: "float32",
    2: "uint8",
    3: "int8",
    4: "uint16",
    5: "int16",
    6: "int32",
    7: "int64",
    8: "string",
    9: "bool",
    10: "float16",
    11: "float64",
    12: "uint32",
    13: "uint64",
    14: "complex64",
    15: "complex128",
    16: "bfloat16",
    17: "float8_e4m3fn",
    18: "float8_e4m3fnuz",
    19: "float8_e5m2",
    20: "float8_e5m2fnuz",
    21: "uint4",
    22: "int4",
    23: "float4_e2m1",
}


def most(message: str, name: str) -> int:
    """How many numbers of a repeated field are kept."""
    return DIMENSIONS if name == "dims" else LISTED.get(message, DIMENSIONS)


# Where the source code creates the nodes of an ONNX model, as exporters of PyTorch record it.

_TRACE = "pkg.torch.onnx.stack_trace"  # of exporters on torch.export
_CALL = lazy_compile(
    r"(?m)^(?:#\s*)?(?P<path>[^\n()]{1,1024})\((?P<line>\d{1,9})\):\s*(?P<function>[\w<>.]{1,256})\s*$"
)


class Origins:
    """Parses what is recorded at nodes; many share one text."""

    def __init__(self) -> None:
        self._traces = Traces()
        self._calls: dict[str, tuple[NodeFrame, ...]] = {}

    def of(self, node: Message) -> tuple[NodeFrame, ...]:
        """The source locations that created a node, innermost last. The exporter based on TorchScript lists the calls
        in the documentation of a node, innermost first."""
        for prop in node.get("metadata_props", ()):
            if prop.get("key") == _TRACE:
                return self._traces.frames(prop.get("value", ""))
        text = node.get("doc_string", "")
        if text and text not in self._calls:
            matches = list(_CALL.finditer(text))[:LIMIT]
            frames = [
                NodeFrame(match["path"].strip(), int(match["line"]), match["function"]) for match in reversed(matches)
            ]
            self._calls[text] = kept(frames)
        return self._calls[text] if text else ()


LINE = "line"
"""The key of a node's line, where the form has lines."""

INPUT = "placeholder"
INITIALIZER = "initializer"

_Makers = ChainMap[str, str]  # which node makes a value, in a graph and in those around it
_DOMAIN = "ai.onnx"
_SINGLE = ("f", "i", "s")
_INTEGER = 2  # the type of an attribute
_LISTS = ("floats", "ints", "strings")
_LISTED = ("float_data", "int32_data", "int64_data", "double_data", "uint64_data")


def graph_of(model: Message, tally: Tally) -> Graph:
    """The graph of a model, with its branches, loop bodies and functions as further bodies.

    Inputs and initializers are nodes `placeholder` and `initializer`. An operator outside the default domain is written
    ``domain::Type``. `collections` are the opsets of the domains as ``opset:domain``. Raises `GraphError`."""
    if not model.get("graph"):
        raise GraphError("not-a-graph", "an ONNX model without a graph")
    builder = _Builder(tally)
    builder.body("", "", model["graph"])
    for function in model.get("functions", ())[:FUNCTIONS]:
        builder.function(function)
    opsets = {
        f"opset:{opset.get('domain') or _DOMAIN}": opset.get("version", 0) for opset in model.get("opset_import", ())
    }
    version = " ".join(filter(None, (model.get("producer_name", ""), model.get("producer_version", ""))))
    return Graph("onnx", builder.bodies, version, collections={**opsets, "ir_version": model.get("ir_version", 0)})


class _Builder:
    """Collects the bodies of a model; nested ones follow the body that contains them."""

    def __init__(self, tally: Tally) -> None:
        self.bodies: list[Body] = []
        self._tally = tally
        self._origins = Origins()

    def body(self, name: str, serves: str, graph: Message, outer: _Makers | None = None) -> None:
        """Add a graph. `outer` says which nodes make the values of the graphs around it."""
        makers = ChainMap[str, str]() if outer is None else outer.new_child()
        constants = graph.get("initializer", ())
        initialized = {constant.get("name", "") for constant in constants}
        inputs = [
            graph_input for graph_input in graph.get("input", ()) if graph_input.get("name", "") not in initialized
        ]
        given = [
            Node(graph_input.get("name", ""), INPUT, attrs={"kind": "user_input", **_typed(graph_input)})
            for graph_input in inputs
        ]
        given += [Node(constant.get("name", ""), INITIALIZER, attrs=_tensor_attrs(constant)) for constant in constants]
        types = {
            value_info.get("name", ""): _typed(value_info)
            for part in ("value_info", "output")
            for value_info in graph.get(part, ())
        }
        self._tally.kept(sum(weight(node.attrs) for node in given))
        makers.update((node.name, node.name) for node in given)
        self._nodes(name, serves, graph.get("node", ()), makers, given, types)

    def function(self, function: Message) -> None:
        """Add a function of the model."""
        self._tally.function()
        name = _qualified(function.get("domain", ""), function.get("name", ""))
        given = [Node(argument, INPUT, attrs={"kind": "argument"}) for argument in function.get("input", ())]
        makers = ChainMap({node.name: node.name for node in given})
        self._nodes(name, "", function.get("node", ()), makers, given, {})

    def _nodes(
        self,
        name: str,
        serves: str,
        messages: Sequence[Message],
        makers: _Makers,
        given: list[Node],
        types: dict[str, dict[str, Any]],
    ) -> None:
        nodes, nested = list(given), list[tuple[str, str, Message]]()
        taken = {node.name for node in given}
        for message in messages:
            own = _name(message, taken)
            taken.add(own)
            nodes.append(self._node(own, message, makers, types))
            for place, output in enumerate(message.get("output", ())):
                if output:
                    makers[output] = f"{own}:{place}" if place else own
            for attr in message.get("attribute", ()):
                nested += [(own, attr.get("name", ""), inner) for inner in _graphs(attr)]
        self.bodies.append(Body(name, nodes, serves))
        for own, attribute, inner in nested:
            self.body(f"{name}/{own}/{attribute}", f"{name}/{own}", inner, makers)

    def _node(self, name: str, message: Message, makers: _Makers, types: dict[str, dict[str, Any]]) -> Node:
        op = sys.intern(_qualified(message.get("domain", ""), message.get("op_type", "")))
        self._tally.operator(op)
        outputs = message.get("output", ())
        attrs: dict[str, Any] = {"arguments": _arguments(message.get("attribute", ()))}
        attrs["outputs"] = sum(map(bool, outputs))
        made = [types.get(output, {}) for output in outputs]
        if any(made):
            attrs["dtypes"] = [typed.get("dtypes", [""])[0] for typed in made]
            attrs["shapes"] = [typed.get("shapes", [None])[0] for typed in made]
        self._tally.kept(weight(attrs["arguments"]))
        inputs = tuple(makers.get(value, value) for value in message.get("input", ()))
        return Node(name, op, inputs, attrs, message.get(LINE, 0), self._origins.of(message))


def _qualified(domain: str, name: str) -> str:
    return name if domain in ("", _DOMAIN) else f"{domain}::{name}"


def _name(message: Message, taken: set[str]) -> str:
    """The name of a node; those without one, or with one that another node has, get a number."""
    base = message.get("name") or message.get("op_type") or "node"
    name, number = base if message.get("name") else f"{base}_{len(taken)}", len(taken)
    while name in taken:
        name, number = f"{base}_{number}", number + 1
    return name


def _graphs(attribute: Message) -> Iterable[Message]:
    own = attribute.get("g")
    return [*([own] if own else []), *attribute.get("graphs", ())]


def _arguments(attributes: Iterable[Message]) -> dict[str, Any]:
    """The attributes of a node by name: numbers, texts, lists of them, and descriptions of tensors."""
    arguments: dict[str, Any] = {}
    for attribute in attributes:
        value = next((attribute[key] for key in _SINGLE if key in attribute), None)
        if value is None:
            value = next((attribute[key] for key in _LISTS if attribute.get(key)), None)
        if value is None and "t" in attribute:
            value = _tensor(attribute["t"])
        if value is None and attribute.get("type") == _INTEGER:
            value = 0  # some writers leave out zeros
        if value is not None:
            arguments[attribute.get("name", "")] = value
    return arguments


def _tensor(message: Message) -> dict[str, Any]:
    """The element type and the shape of a tensor, and its value if it is a single number in the file."""
    dtype = TYPES.get(message.get("data_type", 0), "unknown")
    shape = list(message.get("dims", ()))
    content = message.get("raw_data", b"")
    first = next((message[key][0] for key in _LISTED if message.get(key)), None)
    if content or first is not None:
        return described(dtype, shape, content, first)
    return {"dtype": dtype, "shape": shape}


def _tensor_attrs(message: Message) -> dict[str, Any]:
    tensor = _tensor(message)
    attrs = {"kind": "parameter", "dtypes": [tensor["dtype"]], "shapes": [tensor["shape"]]}
    return attrs | ({"value": tensor["value"]} if "value" in tensor else {})


def _typed(value: Message) -> dict[str, Any]:
    """The type and the shape of a value: open dimensions are texts, an unknown rank is None."""
    kind = value.get("type", {})
    tensor = kind.get("tensor_type")
    if tensor is None:
        word = next((key.removesuffix("_type") for key in kind), "")
        return {"dtypes": [word], "shapes": [None]} if word else {}
    return {"dtypes": [TYPES.get(tensor.get("elem_type", 0), "unknown")], "shapes": [_shape(tensor.get("shape"))]}


def _shape(shape: Message | None) -> list[int | str] | None:
    if shape is None:
        return None
    return [
        dimension["dim_value"] if "dim_value" in dimension else dimension.get("dim_param") or "?"
        for dimension in shape.get("dim", ())
    ]
