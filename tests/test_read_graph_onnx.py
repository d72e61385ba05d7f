"""ONNX models as files: what is read of them, in both forms, and what happens to damaged and hostile ones."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import pytest

from npulint.discover.graphs import form_of_text
from npulint.facts.graph import Graph, Node
from npulint.facts.model import Problem
from npulint.graphs.read import read_graph
from npulint.graphs.read.onnx.model import MESSAGES
from npulint.graphs.read.protobuf import wire
from tests.onnx_models import DOUBLE, FLOAT, INT64, inner, integer, integers, model, node, trace, value, weight, word
from tests.protobuf_bytes import field, varint

PLAIN = model(
    node("Conv", "x w b", "c", integers("kernel_shape", 3, 3), word("auto_pad", "VALID"), name="conv"),
    node("Relu", "c", "y"),
    weight("w", FLOAT, 8, 3, 3, 3, content=bytes(864)),
    weight("b", FLOAT, 8),
)
TEXT = """
ir_version: 8
producer_name: "pytorch"
opset_import { version: 17 }
opset_import { domain: "com.microsoft" version: 1 }
graph {
  node { input: "x" input: "k" output: "v" output: "i" op_type: "TopK" attribute { name: "axis" i: -1 type: INT } }
  initializer { dims: 1 data_type: 7 int64_data: 5 name: "k" }
  input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_param: "n" } dim { dim_value: 8 } } } } }
  output { name: "v" }
}
"""


def read(data: bytes, name: str = "m.onnx") -> Graph:
    found = read_graph("", name, data)
    assert isinstance(found, Graph), found
    return found


def problem(data: bytes) -> Problem:
    found = read_graph("", "m.onnx", data)
    assert isinstance(found, Problem), found
    return found


def only(data: bytes, op: str) -> Node:
    return next(one for body in read(data).bodies for one in body.nodes if one.op == op)


def test_a_model_is_read_with_its_opsets_inputs_weights_and_attributes() -> None:
    graph = read(PLAIN)
    assert (graph.form, graph.framework, graph.version) == ("onnx", "onnx", "pytorch 2.13.0")
    assert graph.collections == {"opset:ai.onnx": 17, "ir_version": 8}
    given = [(one.name, one.op, one.attrs["dtypes"], one.attrs["shapes"]) for one in graph.bodies[0].nodes[:3]]
    assert given == [
        ("x", "placeholder", ["float32"], [[1, 3, 8, 8]]),
        ("w", "initializer", ["float32"], [[8, 3, 3, 3]]),
        ("b", "initializer", ["float32"], [[8]]),
    ]
    conv, relu = graph.bodies[0].nodes[3:]
    assert (conv.name, conv.inputs) == ("conv", ("x", "w", "b"))
    assert conv.attrs["arguments"] == {"kernel_shape": [3, 3], "auto_pad": "VALID"}
    assert (relu.name, relu.inputs, relu.attrs["shapes"]) == ("Relu_4", ("conv",), [[1, 3, 8, 8]])


def test_the_text_form_says_the_same_with_lines() -> None:
    graph = read(TEXT.encode(), "m.textproto")
    topk = graph.bodies[0].nodes[-1]
    assert (topk.line, topk.inputs, topk.attrs["outputs"]) == (7, ("x", "k"), 2)
    assert graph.bodies[0].nodes[1].attrs == {"kind": "parameter", "dtypes": ["int64"], "shapes": [[1]], "value": 5}
    assert graph.bodies[0].nodes[0].attrs["shapes"] == [["n", 8]]
    assert graph.collections["opset:com.microsoft"] == 1
    alike = model(
        node("TopK", "x k", "v i", integer("axis", -1)),
        weight("k", INT64, 1, content=struct.pack("<q", 5)),
        value(11, "x", FLOAT, "n", 8),
        value(12, "v", FLOAT),
    )
    assert [one.attrs["arguments"] for one in read(alike).bodies[0].nodes[-1:]] == [topk.attrs["arguments"]]


@pytest.mark.parametrize(
    ("name", "data", "form"),
    [
        ("m.onnx", PLAIN, "onnx"),
        ("M.ONNX", PLAIN[:40], "onnx"),
        ("m.textproto", TEXT.encode(), "onnx_text"),
        ("m.onnx", TEXT.encode(), "onnx_text"),
        ("m.pbtxt", TEXT.encode(), "onnx_text"),
        ("m.pb", PLAIN, ""),  # other protocol buffers look alike: the name decides
        ("m.onnx", b"", ""),
        ("m.onnx", b"hello", ""),
        ("m.onnx", b"\x80\x02}q\x00.", ""),
        ("m.textproto", b"features { feature { } }", ""),
        ("m.textproto", b'ir_version: 8\nname: "a config of something else"\n', ""),
    ],
)
def test_models_are_recognised_by_name_and_first_bytes(name: str, data: bytes, form: str) -> None:
    assert form_of_text(name, data) == form


def test_branches_are_bodies_that_see_the_values_around_them() -> None:
    branch = node("Add", "c c", "b") + field(12, field(1, "b"))
    data = model(node("Relu", "x", "c", name="relu"), node("If", "x", "y", inner("then_branch", branch), name="if"))
    graph = read(data)
    assert [(body.name, body.serves) for body in graph.bodies] == [("", ""), ("/if/then_branch", "/if")]
    assert graph.bodies[1].nodes[0].inputs == ("relu", "relu")


def test_nodes_without_names_or_with_equal_ones_stay_apart() -> None:
    data = model(node("Relu", "x", "a", name="n"), node("Relu", "a", "b", name="n"), node("Relu", "b", "y"))
    nodes = read(data).bodies[0].nodes[1:]
    assert len({one.name for one in nodes}) == 3
    assert [one.inputs for one in nodes] == [("x",), (nodes[0].name,), (nodes[1].name,)]


def test_functions_of_the_model_are_bodies_of_their_own() -> None:
    function = field(
        25, field(1, "Scale") + field(4, "a") + field(5, "b") + field(7, node("Neg", "a", "b")[2:]) + field(10, "local")
    )
    graph = read(model(node("Scale", "x", "y", domain="local"), domains=("local",), functions=function))
    assert [body.name for body in graph.bodies] == ["", "local::Scale"]
    assert [one.op for one in graph.bodies[1].nodes] == ["placeholder", "Neg"]


@pytest.mark.parametrize(
    ("more", "frames"),
    [
        (
            trace('File "/a/train.py", line 3, in main\n  f(x)\nFile "/a/model.py", line 7, in forward\n  y\n'),
            [("/a/train.py", 3, "main"), ("/a/model.py", 7, "forward")],
        ),
        (
            field(
                6,
                "/a/model.py(7): forward\n/usr/site-packages/torch/nn/m.py(9): x\n/a/train.py(3): <module>\n",
            ),
            [("/a/train.py", 3, "<module>"), ("/a/model.py", 7, "forward")],
        ),
        (field(6, "a description (of something): here"), []),
        (field(9, field(1, "other") + field(2, 'File "/a.py", line 1, in f\n')), []),
    ],
)
def test_nodes_have_the_source_lines_that_exporters_of_pytorch_record(more: bytes, frames: list[Any]) -> None:
    found = only(model(node("Relu", "x", "y", more)), "Relu")
    assert [(one.path, one.line, one.function) for one in found.frames] == frames


@pytest.mark.parametrize(
    ("tensor", "expected"),
    [
        (field(2, DOUBLE) + field(10, struct.pack("<d", 0.5)), {"dtype": "float64", "shape": [], "value": 0.5}),
        (field(2, FLOAT) + field(9, struct.pack("<f", 2.0)), {"dtype": "float32", "shape": [], "value": 2.0}),
        (field(1, 1) + field(2, INT64) + field(7, varint(9)), {"dtype": "int64", "shape": [1], "value": 9}),
        (field(1, 4) + field(2, INT64) + field(9, bytes(32)), {"dtype": "int64", "shape": [4]}),
        (field(2, 999), {"dtype": "unknown", "shape": []}),
        (field(1, 1) + field(2, FLOAT) + field(14, 1), {"dtype": "float32", "shape": [1]}),  # in another file
    ],
)
def test_of_tensors_only_single_numbers_are_kept(tensor: bytes, expected: dict[str, Any]) -> None:
    data = model(node("Constant", "", "y", field(5, field(1, "value") + field(5, tensor))))
    assert only(data, "Constant").attrs["arguments"] == {"value": expected}


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "not-a-graph"),
        (field(1, 8) + field(2, "pytorch"), "not-a-graph"),
        (PLAIN[:-3], "graph-damaged"),
        (field(1, 8) + b"\x3a\xff\xff\xff\x7f" + PLAIN, "graph-damaged"),  # longer than the file
        (field(1, 8) + field(7, b"\x0a\x02\x0b\x01"), "graph-damaged"),  # a group within a node
    ],
)
def test_damaged_models_are_problems(data: bytes, reason: str) -> None:
    assert problem(data).reason == reason


def test_a_zero_that_the_writer_left_out_is_known_by_its_type() -> None:
    data = model(node("IsInf", "x", "y", field(5, field(1, "detect_negative") + field(20, 2))))
    assert only(data, "IsInf").attrs["arguments"] == {"detect_negative": 0}


def test_graphs_within_graphs_end_somewhere() -> None:
    nested = node("Relu", "x", "y")
    for _ in range(200):
        nested = node("If", "c", "y", inner("then_branch", nested))
    assert problem(model(nested)) == Problem("m.onnx", "graph-damaged", "nested too deeply")


def test_many_nodes_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "NODES", 3)
    assert problem(model(*[node("Relu", "x", "y")] * 4)).reason == "graph-too-large"
    assert read(model(*[node("Relu", "x", "y")] * 3)).bodies


def test_weights_are_skipped_wherever_they_are(tmp_path: Path) -> None:
    """A sparse file of 8 GB is read at once: its tensor is not."""
    size = 1 << 33
    tensor = field(1, 1 << 31) + field(2, FLOAT) + field(8, "w")
    head = varint(9 << 3 | 2) + varint(size)
    inside = node("Relu", "x", "y") + value(11, "x", FLOAT, 1)
    length = len(tensor) + len(head) + size
    before = inside + varint(5 << 3 | 2) + varint(length) + tensor + head
    path = tmp_path / "large.onnx"
    with path.open("wb") as stream:
        stream.write(field(1, 8) + varint(7 << 3 | 2) + varint(len(before) + size) + before)
        start = stream.tell()
        stream.truncate(start + size)
        stream.seek(start + size)
        stream.write(field(8, field(2, 17)))
    graph = read_graph(str(path), "large.onnx")
    assert isinstance(graph, Graph)
    assert graph.collections["opset:ai.onnx"] == 17
    assert [one.name for one in graph.bodies[0].nodes if one.op == "initializer"] == ["w"]


def test_the_schema_names_only_messages_that_it_has() -> None:
    scalars = {"int", "enum", "float", "double", "text", "trace", "bytes"}
    used = {kind.of for known in MESSAGES.values() for kind in known.values()}
    assert used - scalars == set(MESSAGES) - {"Model"}
