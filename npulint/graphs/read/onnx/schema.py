"""The messages of ONNX models, as far as they are read (onnx/onnx.proto of ONNX 1.18)."""

from __future__ import annotations

from typing import Any

import msgspec

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
