"""Graphs in the reports: what they are, where they run, and findings in files that are no text."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from npulint.facts.model import Span
from npulint.judge.findings import Fix, GraphSummary, Related, RunResult, Summary
from npulint.judge.postprocess.finalize import finalize
from npulint.judge.postprocess.record import RawResults, RunContext
from npulint.judge.settings import FORMATS, PEOPLE_FORMATS
from npulint.judge.source_lines import FileLines
from npulint.report.view import ReportView, render
from tests.surface_support import finding, sample

TRAINED = GraphSummary(
    path="out/model.meta",
    form="meta_graph",
    framework="tensorflow",
    version="1.15.0",
    nodes=4213,
    functions=2,
    trains=True,
    counts={"device": 3900, "aicpu": 40, "host": 193},
    clusters=5,
    left=120,
    release="2022-03",
)
EXPORTED = GraphSummary(
    path="eval.pt2",
    form="exported_program",
    framework="torch",
    version="2.13.0",
    nodes=1,
    counts={"npu": 1, "cpu": 2},
    release="2.13",
    assumed=True,
)
RESULT = RunResult(graphs=[EXPORTED, TRAINED], summary=Summary(files=2, read=2))


def test_the_text_report_tells_what_they_are_and_where_they_run() -> None:
    assert render("text", RESULT, ReportView()) == (
        "Graphs\n"
        "  eval.pt2\n"
        "    exported program, PyTorch 2.13.0, for inference, 1 operator\n"
        "    1 with a kernel on the NPU, 2 on the CPU, for PyTorch 2.13 (assumed)\n"
        "  out/model.meta\n"
        "    MetaGraph, TensorFlow 1.15.0, for training, 4213 operators, 2 functions\n"
        "    per step: 3900 on the NPU, 40 on its AI CPU, 193 on the host, 5 NPU subgraphs, "
        "120 outside the largest subgraph stay on the host\n"
        "\n"
        "2 graphs checked; nothing found\n"
        "No findings in 2 files\n"
    )


def test_it_speaks_chinese() -> None:
    assert render("text", RESULT, ReportView(lang="zh")) == (
        "计算图\n"
        "  eval.pt2\n"
        "    导出程序、PyTorch 2.13.0、推理图、1 个算子\n"
        "    1 个有 NPU 算子实现、2 个回退到 CPU、按 PyTorch 2.13 判断（假定）\n"
        "  out/model.meta\n"
        "    MetaGraph、TensorFlow 1.15.0、训练图、4213 个算子、2 个函数\n"
        "    单步执行：3900 个在 NPU 上、40 个在 AI CPU 上、193 个在 Host 上、NPU 子图 5 个、"
        "120 个因不在最大子图中而留在 Host 上\n"
        "\n"
        "已检查 2 个计算图；未发现问题\n"
        "在 2 个文件中没有发现问题\n"
    )


def test_many_graphs_are_cut_short() -> None:
    graphs = [GraphSummary(f"{n}.pb", "graph_def", "tensorflow", nodes=n) for n in range(10)]
    text = render("text", RunResult(graphs=graphs, summary=Summary(files=10, read=10)), ReportView())
    assert "  7.pb\n" in text
    assert "  8.pb\n" not in text
    assert "  ... and 2 more graphs\n" in text


def test_checkpoints_of_one_training_are_told_once() -> None:
    steps = [msgspec.structs.replace(TRAINED, path=f"out/model-{n}.meta") for n in range(3)]
    other = msgspec.structs.replace(TRAINED, path="other/model.meta")
    result = RunResult(graphs=[*steps, other], summary=Summary(files=4, read=4))
    text = render("text", result, ReportView())
    assert "  out/model-0.meta (2 more in this folder are identical)\n" in text
    assert "  other/model.meta\n" in text
    assert "model-1" not in text
    assert "| `out/model-0.meta` 2 more in this folder are identical |" in render("markdown", result, ReportView())
    assert 'model-0.meta</span><br><span class="muted">2 more in this folder are identical<' in render(
        "html", result, ReportView()
    )
    assert len(json.loads(render("json", result, ReportView()))["graphs"]) == 4


def test_a_change_tells_its_findings_alone() -> None:
    assert "Graphs" not in render("text", RESULT, ReportView(change=True))


def test_json_tells_them_all() -> None:
    exported, trained = json.loads(render("json", RESULT, ReportView()))["graphs"]
    assert exported == {
        "path": "eval.pt2",
        "form": "exported_program",
        "framework": "torch",
        "version": "2.13.0",
        "trains": False,
        "nodes": 1,
        "functions": 0,
        "counts": {"npu": 1, "cpu": 2},
        "release": "2.13",
        "assumed": True,
    }
    assert (trained["clusters"], trained["left_on_host"], trained["operators"]) == (5, 120, "")
    rows = [json.loads(row) for row in render("jsonl", RESULT, ReportView()).splitlines()]
    assert [row["kind"] for row in rows] == ["graph", "graph", "summary"]
    assert {**rows[0]} == {"kind": "graph", **exported}
    (run,) = json.loads(render("sarif", RESULT, ReportView()))["runs"]
    assert run["properties"]["graphs"] == [exported, trained]


@pytest.mark.parametrize("format_name", ["json", "jsonl", "sarif", "text", "markdown", "html"])
def test_a_run_without_graphs_says_nothing_of_them(format_name: str) -> None:
    assert not re.search("(?i)graphs", render(format_name, sample(), ReportView()).partition("<main>")[2])
    if format_name != "html":
        assert "raphs" not in render(format_name, sample(), ReportView())


def test_markdown_and_html_have_a_table() -> None:
    markdown = render("markdown", RESULT, ReportView())
    assert "## Graphs\n\n| File | Graph | Size | Where it runs |\n" in markdown
    assert "| `eval.pt2` | exported program, PyTorch 2.13.0, for inference | 1 operator |" in markdown
    page = render("html", RESULT, ReportView())
    assert '<a href="#graphs">Graphs</a>' in page
    assert "<td>MetaGraph, TensorFlow 1.15.0, for training</td><td>4213 operators, 2 functions</td>" in page


def test_hostile_names_do_no_harm() -> None:
    graph = GraphSummary("a\x1b[31m|<b>\n.pb", "graph_def", "tensorflow", version="<script>\u202e")
    result = RunResult(graphs=[graph], summary=Summary(files=1, read=1))
    for format_name in PEOPLE_FORMATS:
        text = render(format_name, result, ReportView())
        assert "\x1b" not in text
        assert "\u202e" not in text
        assert "<script>\u202e" not in text
    assert "&lt;script&gt;" in render("html", result, ReportView())


def in_binary(path: str) -> RunResult:
    """A finding in a graph that is no text, as a run ends with it."""
    one = finding(
        code="NPU4101",
        name="host-operator",
        topic="graph_op",
        path=path,
        span=Span(1, 1, 1, 1),
        message="`PyFunc` stays on the host",
        fix=Fix("Use operators of TensorFlow."),
        related=(Related("train.py", Span(3, 1, 3, 2), "built here"),),
        program=path,
        subject="PyFunc",
        fingerprint="0123456789abcdef0123",
    )
    return RunResult([one], summary=Summary(files=1, read=1, warnings=1))


BINARY = b"\x0a\x10PK\x03\x04 \xff\xfe\x1b[31m secret weights\x00\x01\r\n" * 400


@pytest.mark.parametrize(
    "name", ["model.pb", "model.meta", "model.pt2", "model.pt", "model.pth", "m.ts", "m.torchscript"]
)
@pytest.mark.parametrize("format_name", FORMATS)
def test_no_report_prints_what_is_no_text(format_name: str, name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(BINARY)
    text = render(format_name, in_binary(str(path)), ReportView(lines=FileLines(), color=False))
    assert "secret" not in text
    assert "PyFunc" in text
    assert not re.search("[\x00-\x09\x0b-\x1f]", text.partition("<style>")[0])


def test_the_place_in_a_binary_file_is_its_beginning(tmp_path: Path) -> None:
    path = tmp_path / "model.pb"
    path.write_bytes(BINARY)
    text = render("text", in_binary(str(path)), ReportView(lines=FileLines()))
    assert f"--> {path}:1:1\n" in text
    (run,) = json.loads(render("sarif", in_binary("model.pb"), ReportView(lines=FileLines())))["runs"]
    (result,) = run["results"]
    region = {"startLine": 1, "startColumn": 1, "endLine": 1, "endColumn": 1}
    assert result["locations"][0]["physicalLocation"]["region"] == region
    assert result["partialFingerprints"]["primaryLocationLineHash"] == "0123456789abcdef0123:1"


def test_the_one_line_of_an_exported_program_is_shown_by_nobody(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    path.write_text('{"graph_module": {"secret": ' + "[" * 9, encoding="utf-8")
    other = tmp_path / "ops.json"
    other.write_text('{"secret": 1}', encoding="utf-8")
    lines = FileLines()
    assert (lines(str(path)), lines(str(other))) == ([], ['{"secret": 1}'])
    for format_name in FORMATS:
        assert "secret" not in render(format_name, in_binary(str(path)), ReportView(lines=lines))


@pytest.mark.parametrize("format_name", ["text", "html"])
def test_of_a_graph_as_a_related_place_no_line_is_shown(format_name: str, tmp_path: Path) -> None:
    path = tmp_path / "graph.pbtxt"
    path.write_text("secret {\n}\n", encoding="utf-8")
    result = RunResult([finding(related=(Related(str(path), Span(), "a graph that contains it"),))])
    text = render(format_name, result, ReportView(lines=FileLines()))
    assert "a graph that contains it" in text
    assert "secret" not in text


def settled(**graph: Any) -> dict[str, str]:
    from npulint.judge.catalogue.check import Catalogue
    from npulint.judge.settings import Settings

    graphs = [GraphSummary("m.pb", **{"form": "graph_def", "framework": "tensorflow", **graph})]
    return finalize(RawResults(graphs=graphs), RunContext(Settings(), Catalogue(), FileLines())).target


def test_the_target_tells_which_list_was_used() -> None:
    assert settled(release="2022-03")["operators"] == "built-in list of 2022-03"
    assert settled(listed="/opp/npu_supported_ops.json")["operators"] == "/opp/npu_supported_ops.json"
    assert settled(listed="/opp/l.json", release="8.0.RC1")["operators"] == "/opp/l.json (CANN 8.0.RC1)"
    assert settled()["framework"] == "tensorflow (inferred)"
    assert "operators" not in settled(framework="torch", release="2.13")


@pytest.mark.parametrize(
    ("graph", "adapter", "framework"),
    [
        ({}, "1.15 (assumed)", "tensorflow (inferred)"),
        ({"version": "x"}, "1.15 (assumed)", "tensorflow (inferred)"),
        ({"version": "1.15.0"}, "1.15 (the graph was written by TensorFlow 1.15.0)", "tensorflow 1.x (inferred)"),
        ({"version": "2.x"}, "2.x (the graph was written by TensorFlow 2.x)", "tensorflow 2.x (inferred)"),
        (
            {"version": "2.21.0", "form": "live_tensorflow"},
            "2.x (TensorFlow 2.21.0 is running)",
            "tensorflow 2.x (inferred)",
        ),
    ],
)
def test_the_adapter_is_that_of_the_tensorflow_that_wrote_the_graph(
    graph: dict[str, str], adapter: str, framework: str
) -> None:
    target = settled(**graph)
    assert (target["adapter"], target["framework"]) == (adapter, framework)


def test_an_onnx_model_shows_its_opset_and_what_atc_parses() -> None:
    counts = {"parsed": 7, "unparsed": 2, "private": 1}
    model = GraphSummary("m.onnx", "onnx", "onnx", "pytorch 2.13.0", 10, counts=counts, release="9.0", assumed=True)
    shown = render("text", RunResult(graphs=[msgspec.structs.replace(model, opset=17)]), ReportView())
    assert "ONNX model, opset 17, written by pytorch 2.13.0, 10 operators" in shown
    assert "7 with a parser in ATC, 2 without, 1 that needs a plugin, for CANN 9.0 (assumed)" in shown
    assert "framework" not in settled(framework="onnx", form="onnx")
