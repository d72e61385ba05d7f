"""What ATC makes of ONNX models: verdicts of operators by opset, settings, inputs, sizes, types, and places."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import pytest

from npulint.commands.check.pipeline import run
from npulint.data.onnx import limits, operator, opsets_of, verdict
from npulint.facts.graph import Graph
from npulint.facts.model import Fact
from npulint.graphs.facts.graph_programs import graph_facts
from npulint.graphs.facts.target import Target
from npulint.graphs.read import read_graph
from npulint.judge.settings import Settings
from npulint.model.code.project import Project
from npulint.model.values.context import Context
from tests.onnx_models import DOUBLE, FLOAT, INT64, integer, integers, model, node, trace, value, weight, word
from tests.protobuf_bytes import field

_ONE = struct.pack("<q", 1)


def facts(data: bytes, kind: str = "", cann: str = "") -> list[Fact]:
    graph = read_graph("", "m.onnx", data)
    assert isinstance(graph, Graph), graph
    found = graph_facts("m.onnx", graph, Context(Project("", [])), Target(cann=cann))
    return [one for one in found if not kind or one.kind == kind]


def said(data: bytes, kind: str, *keys: str) -> list[tuple[Any, ...]]:
    return [(one.name, *(one.get(key) for key in keys)) for one in facts(data, kind)]


@pytest.mark.parametrize(
    ("domain", "name", "opset", "expected"),
    [
        ("", "Conv", 8, "parser"),
        ("", "Conv", 18, "parser"),
        ("", "Conv", 20, "other_opset"),
        ("", "Constant", 23, "parser"),  # converted by the parser itself
        ("", "ReduceL2", 17, "parser"),
        ("", "ReduceL2", 18, "other_opset"),
        ("", "GreaterOrEqual", 12, "parser"),
        ("", "GreaterOrEqual", 9, "other_opset"),
        ("", "Loop", 17, "standard"),
        ("", "QuantizeLinear", 13, "standard"),
        ("", "TfIdfVectorizer", 13, "parser"),  # documented
        ("", "ATen", 11, "foreign"),
        ("", "NPUGiou", 11, "parser"),
        ("", "NoSuch", 17, "private"),
        ("npu", "NPUGiou", 1, "parser"),
        ("npu", "NPUGiou", 2, "other_opset"),
        ("mmdeploy", "NMSRotated", 1, "parser"),
        ("mmdeploy", "TRTBatchedNMS", 1, "private"),
        ("com.microsoft", "Gelu", 1, "foreign"),
        ("ai.onnx.ml", "TreeEnsembleClassifier", 3, "foreign"),
    ],
)
def test_parsers_are_looked_up_by_domain_opset_and_name(domain: str, name: str, opset: int, expected: str) -> None:
    assert verdict(domain, name, opset) == expected


def test_older_releases_parse_fewer_opsets() -> None:
    found = {cann: opsets_of(cann)[1] for cann in ("", "5.0.4", "6.3", "7.0", "8.2.rc1", "9.1", "4.0", "x")}
    assert found == {"": 18, "5.0.4": 13, "6.3": 16, "7.0": 18, "8.2.rc1": 18, "9.1": 18, "4.0": 13, "x": 13}


def test_every_recorded_limit_is_about_an_operator_with_a_parser_there() -> None:
    names = ("ArgMax", "ArgMin", "AveragePool", "GatherND", "IsInf", "LRN", "LpPool", "MaxPool", "Resize", "ScatterND")
    for name in (*names, "Transpose"):
        known = operator("", name)
        assert known is not None
        assert limits(name, 18), name
        assert known.parsed(18), name


@pytest.mark.parametrize(
    ("opset", "state"), [(17, "parsed"), (18, "parsed"), (19, "newer"), (7, "older"), (0, "missing")]
)
def test_the_opset_of_the_model_decides_whether_anything_is_parsed(opset: int, state: str) -> None:
    (whole,) = facts(model(node("Relu", "x", "y"), opset=opset), "graph")
    parsed = 1 if state == "parsed" else 0
    assert (whole.get("opset_state"), whole.get("parsed"), whole.get("unparsed")) == (state, parsed, 1 - parsed)


def test_the_release_of_the_target_counts() -> None:
    data = model(node("Relu", "x", "y"), opset=17)
    (whole,) = facts(data, "graph", cann="6.0")
    assert (whole.get("opset_state"), whole.get("newest_opset"), whole.get("assumed")) == ("newer", 16, "no")


def test_operators_of_branches_count_and_those_of_functions_do_not() -> None:
    branch = field(5, field(1, "then_branch") + field(6, node("Loop", "x", "b") + field(12, field(1, "b"))))
    function = field(25, field(1, "F") + field(7, node("Scan", "a", "b")[2:]) + field(10, "local"))
    data = model(
        node("If", "x", "y", branch), node("F", "x", "z", domain="local"), domains=("local",), functions=function
    )
    found = said(data, "onnx_op", "verdict", "family")
    assert sorted(found) == [("If", "parser", "other"), ("Loop", "standard", "loop"), ("local::F", "function", "other")]


def test_a_domain_without_a_declared_opset_has_no_parser() -> None:
    assert said(model(node("NPUGiou", "x", "y", domain="npu")), "onnx_op", "verdict") == [
        ("npu::NPUGiou", "other_opset")
    ]


@pytest.mark.parametrize(
    ("part", "opset", "expected"),
    [
        (node("Resize", "x - s", "y", word("mode", "linear"), integer("antialias", 1)), 18, ("antialias=1", "ignored")),
        (node("Resize", "x - s", "y", word("mode", "linear"), integer("antialias", 0)), 18, None),
        (node("Resize", "x - s", "y", integers("axes", 2, 3)), 18, ("axes=[2, 3]", "ignored")),
        (node("Resize", "x - s", "y", word("keep_aspect_ratio_policy", "stretch")), 18, None),
        (node("MaxPool", "x", "y i", integers("kernel_shape", 2, 2)), 17, ("Indices", "stops")),
        (node("MaxPool", "x", "y -", integers("kernel_shape", 2, 2)), 17, None),
        (node("Transpose", "x", "y"), 17, ("perm=default", "stops")),
        (node("Transpose", "x", "y", integers("perm", 0, 2, 1)), 17, None),
        (node("ScatterND", "x i u", "y", word("reduction", "mul")), 16, ("reduction=mul", "stops")),
        (node("ScatterND", "x i u", "y", word("reduction", "add")), 16, None),
        (node("LRN", "x", "y", integer("size", 4)), 17, ("size=4", "stops")),
        (node("LRN", "x", "y", integer("size", 5)), 17, None),
        (node("GatherND", "x i", "y", integer("batch_dims", 1)), 17, ("batch_dims=1", "stops")),
        (node("LpPool", "x", "y", integers("dilations", 1, 1)), 18, None),
        (node("LpPool", "x", "y", integers("dilations", 2, 1)), 18, ("dilations=[2, 1]", "ignored")),
        (node("IsInf", "x", "y", integer("detect_negative", 0)), 17, ("detect_negative=0", "stops")),
    ],
)
def test_settings_that_parsers_refuse_or_ignore(part: bytes, opset: int, expected: tuple[str, str] | None) -> None:
    data = model(part, weight("s", FLOAT, 4), opset=opset)
    assert [one[1:] for one in said(data, "onnx_limit", "setting", "effect")] == ([expected] if expected else [])


@pytest.mark.parametrize(
    ("sizes", "mode", "expected"),
    [((4,), "nearest", []), ((5,), "nearest", ["rank=5"]), ((3,), "nearest", ["rank=3"]), ((5,), "linear", [])],
)
def test_nearest_interpolation_is_for_images(sizes: tuple[int, ...], mode: str, expected: list[str]) -> None:
    data = model(node("Resize", "x - s", "y", word("mode", mode)), weight("s", FLOAT, *sizes))
    assert [one.get_text("setting") for one in facts(data, "onnx_limit")] == expected


def test_inputs_say_what_the_command_must_fix() -> None:
    data = model(
        node("Add", "a b", "y"),
        value(11, "a", FLOAT, "n", 3, 8),
        value(11, "b", INT64, 1, 3),
        field(11, field(1, "c") + field(2, field(1, field(1, FLOAT)))),
    )
    expected = [
        ("a", "float32", 1, "n,3,8", "yes"),
        ("b", "int64", 0, "1,3", "no"),
        ("c", "float32", 1, "?", "no"),
    ]
    assert said(data, "onnx_input", "dtype", "open", "dims", "first") == expected
    assert facts(data, "onnx_input")[0].get("option") == "a:n,3,8;b:1,3;c:?"


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ([node("NonZero", "x", "y")], [("NonZero", "values")]),
        ([node("TopK", "x k", "y i"), weight("k", INT64, 1, content=_ONE)], []),
        ([node("Constant", "", "k"), node("TopK", "x k", "y i")], []),
        ([node("Shape", "x", "k"), node("TopK", "x k", "y i")], [("TopK", "k")]),
        ([node("TopK", "x", "y i", integer("k", 5))], []),  # before opset 10
    ],
)
def test_sizes_that_only_values_decide(parts: list[bytes], expected: list[tuple[str, str]]) -> None:
    assert said(model(*parts), "onnx_shape", "cause") == expected


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ([node("Exp", "x", "y"), value(11, "x", DOUBLE, 4)], [("float64", "x")]),
        ([node("Mul", "x w", "y"), weight("w", DOUBLE, 4)], [("float64", "w")]),
        ([node("Mul", "x w", "y"), weight("w", DOUBLE)], []),  # a single number
        ([node("Cast", "x", "d", integer("to", DOUBLE)), node("Exp", "d", "y")], [("float64", "Cast")]),
        ([node("Cast", "x", "y", integer("to", FLOAT))], []),
        ([node("Add", "x x", "y"), value(11, "x", INT64, 64, 64), value(12, "y", INT64, 64, 64)], [("int64", "Add")]),
        ([node("Add", "x x", "y"), value(11, "x", INT64, 4), value(12, "y", INT64, 4)], []),
        ([node("Gather", "w x", "y"), value(11, "x", INT64, 64, 64), value(12, "y", INT64, 64, 64)], []),
    ],
)
def test_types_without_fast_arithmetic(parts: list[bytes], expected: list[tuple[str, str]]) -> None:
    assert said(model(*parts), "onnx_type", "made_by") == expected


def test_findings_are_at_the_line_of_the_project_that_the_exporter_recorded(tmp_path: Path) -> None:
    source = "import torch\n\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        return self.run(x)\n"
    (tmp_path / "net.py").write_text(source)
    loop = node("Loop", "n c x", "y", trace('File "/home/u/p/net.py", line 6, in forward\n  return self.run(x)\n'))
    (tmp_path / "net.onnx").write_bytes(model(loop))
    result = run(Settings(paths=(str(tmp_path),), lang="en", cache=False))
    found = [one for one in result.findings if one.name == "onnx-loop"]
    assert [(Path(one.path).name, one.span.line) for one in found] == [("net.py", 6)]
    assert [Path(one.path).name for one in found[0].related] == ["net.onnx"]
    (graph,) = result.graphs
    assert (graph.opset, graph.counts, graph.release, graph.assumed) == (17, {"unparsed": 1}, "9.0", True)
    assert "framework" not in result.target  # a model says nothing about a framework
