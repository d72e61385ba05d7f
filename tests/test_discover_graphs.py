"""Which files hold graphs, told from their first bytes, and which of them a run reads."""

from __future__ import annotations

from pathlib import Path

import pytest

from npulint.commands.check.pipeline import piped
from npulint.discover.files import DiscoverOptions, Discovery, discover
from npulint.discover.graphs import HEAD, form_of, form_of_text, superseded
from npulint.facts.model import Problem
from npulint.graphs.read import read_graph
from npulint.judge.settings import Settings
from npulint.read.files import load
from tests.protobuf_bytes import field, node, varint

GRAPH = node("x", "Placeholder") + node("y", "Relu", "x")
LIBRARY = field(2, field(1, field(1, field(1, "function"))))
OPERATORS = field(2, field(1, field(1, "Add")))
META = field(1, OPERATORS + field(4, "serve") + field(5, "2.6.0")) + field(2, GRAPH)
TEXT = 'node {\n  name: "x"\n  op: "Placeholder"\n}\n'

FORMS: list[tuple[str, str, bytes]] = [
    ("graph.pb", "graph_def", GRAPH),
    ("graph.pb", "graph_def", GRAPH[:20]),
    ("graph.pb", "graph_def", LIBRARY + field(4, field(1, 27))),
    ("graph.pb", "graph_def", field(4, field(1, 27)) + GRAPH),
    ("graph.pb", "graph_def", node("外", "Const")),
    ("GRAPH.PB", "graph_def", GRAPH),
    ("graph.meta", "meta_graph", META),
    ("graph.meta", "meta_graph", field(1, field(5, "1.15.0-rc1")) + field(2, GRAPH)),
    ("graph.meta", "meta_graph", field(1, field(4, "train")) + field(2, GRAPH)),
    ("graph.meta", "meta_graph", field(2, GRAPH)),
    ("saved_model.pb", "saved_model", field(1, 1) + field(2, META)),
    ("saved_model.pb", "saved_model", field(2, META)),
    ("saved_model.pb", "saved_model", field(1, 1) + field(2, field(7, field(1, b"")) + META)),
    ("graph.pbtxt", "text", TEXT.encode()),
    ("graph.pb.txt", "text", TEXT.encode()),
    ("graph.pb", "text", TEXT.encode()),
    ("graph.meta", "text", b'meta_info_def {\n  tags: "x"\n}\ngraph_def {\n' + TEXT.encode() + b"}\n"),
    ("saved_model.pbtxt", "text", b"saved_model_schema_version: 1\nmeta_graphs {\n}\n"),
    ("graph.pbtxt", "text", b'\xef\xbb\xbf# made by hand\n\nnode: < op: "A" >'),
    ("graph.pbtxt", "text", b"versions { producer: 1 } library { function { signature { name: 'f' } } }"),
    # Others.
    ("graph.pb", "", b""),
    ("graph.pb", "", b"\n"),
    ("graph.pb", "", b"\n\n\n\n"),
    ("graph.pb", "", b"\x00" * 100),
    ("graph.pb", "", b"\xff" * 100),
    ("fingerprint.pb", "", field(1, 1 << 60) + field(2, 1 << 61)),
    ("keras_metadata.pb", "", field(1, field(3, "root") + field(4, "_tf_keras_model") + field(5, "{}"))),
    ("saved_model_debug_info.pb", "", field(1, "/usr/lib/python/a.py") + field(2, field(1, "a"))),
    ("model.pb", "", field(1, 8) + field(2, "pytorch") + field(3, "1.9") + field(7, field(1, b""))),  # ONNX
    ("model.pb", "", field(1, 1) + field(2, "pytorch")),
    ("predict_net.pb", "", field(1, "resnet") + field(2, field(1, "data") + field(2, "conv1") + field(4, "Conv"))),
    ("input_0.pb", "", field(1, bytes((10, 3, 32, 32))) + field(2, 1) + field(9, bytes(64))),
    ("xplane.pb", "", field(1, field(2, "/host:CPU") + field(3, field(2, "python")))),
    ("graph.pb", "", field(1, field(1, "a\n") + field(2, "A"))),
    ("graph.pb", "", field(1, field(1, "a") + field(2, "not an operator"))),
    ("asset.meta", "", b"fileFormatVersion: 2\nguid: 0123456789abcdef\n"),
    ("data.meta", "", b'{"rows": 3}'),
    ("label_map.pbtxt", "", b"item {\n  id: 1\n  name: 'cat'\n}\n"),
    ("pipeline.pbtxt", "", b"model {\n  ssd {\n    num_classes: 90\n  }\n}\n"),
    ("config.pbtxt", "", b'name: "resnet"\nplatform: "tensorflow_graphdef"\ninput [ { name: "x" } ]\n'),
    ("mediapipe.pbtxt", "", b'node {\n  calculator: "A"\n  options { op: "x" }\n}\n'),
    ("onnx.pbtxt", "onnx_text", b'ir_version: 8\ngraph {\n  node {\n    op_type: "Conv"\n  }\n}\n'),
    ("run_metadata.pbtxt", "", b"step_stats { }\npartition_graphs {\n" + TEXT.encode() + b"}\n"),
    ("caffe.pbtxt", "", b'name: "LeNet"\nlayer {\n  name: "data"\n}\n'),
    ("notes.pbtxt", "", b"node { this is prose, not a graph }"),
    ("graph.txt", "", TEXT.encode()),
]


@pytest.mark.parametrize(("name", "form", "data"), FORMS)
def test_the_form_of_a_file(name: str, form: str, data: bytes, tmp_path: Path) -> None:
    assert form_of_text(name, data[:HEAD]) == form
    (tmp_path / name).write_bytes(data)
    assert form_of(str(tmp_path / name)) == form


def test_a_folder_and_a_missing_file_hold_no_graph(tmp_path: Path) -> None:
    assert form_of(str(tmp_path)) == form_of(str(tmp_path / "graph.pb")) == ""


def test_any_head_of_a_graph_is_told_without_an_error() -> None:
    for data in (GRAPH, META, field(1, 1) + field(2, META), varint(1 << 70), b"\x0a" + b"\xff" * 30):
        for end in range(len(data)):
            assert form_of_text("graph.pb", data[:end]) in ("", "graph_def", "meta_graph", "saved_model")


def found(*paths: Path, force_exclude: bool = False) -> Discovery:
    return discover([str(path) for path in paths], DiscoverOptions(force_exclude=force_exclude))


def names(discovery: Discovery) -> list[str]:
    return [file.path.rsplit("/", 1)[-1] for file in discovery.files]


def test_a_walk_takes_only_what_holds_a_graph(tmp_path: Path) -> None:
    for number, (name, _, data) in enumerate(FORMS):
        (tmp_path / f"{number:02}").mkdir()
        (tmp_path / f"{number:02}" / name.lower()).write_bytes(data)
    told = found(tmp_path)
    assert [file.path.split("/")[-2] for file in told.files] == [f"{n:02}" for n, one in enumerate(FORMS) if one[1]]
    assert told.problems == []


def test_of_the_graphs_of_checkpoints_a_walk_takes_the_last(tmp_path: Path) -> None:
    for name in ("model.ckpt-5.meta", "model.ckpt-100.meta", "model.ckpt-20.meta", "other-7.meta", "model.meta"):
        (tmp_path / name).write_bytes(META)
    told = found(tmp_path)
    assert names(told) == ["model.ckpt-100.meta", "model.meta", "other-7.meta"]
    assert told.excluded == 2
    assert names(found(tmp_path / "model.ckpt-5.meta")) == ["model.ckpt-5.meta"]


def test_earlier_steps_are_superseded_whatever_their_order() -> None:
    steps = ["a-1.meta", "a-10.meta", "a-9.meta", "b-2.meta", "a-1.index", "c.meta", "-3.meta"]
    assert superseded(steps) == superseded(steps[::-1]) == {"a-1.meta", "a-9.meta"}


def test_who_names_a_saved_model_means_its_graph(tmp_path: Path) -> None:
    model = tmp_path / "export" / "1"
    (model / "variables").mkdir(parents=True)
    (model / "saved_model.pb").write_bytes(field(1, 1) + field(2, META))
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").write_text("*.pb\n")
    assert names(found(tmp_path)) == []
    assert names(found(model)) == ["saved_model.pb"]
    assert names(found(model, force_exclude=True)) == []


@pytest.mark.parametrize(
    ("name", "data", "reason", "detail"),
    [
        ("label_map.pbtxt", b"item { }", "not-a-graph", ""),
        ("graph.pb", b"", "not-a-graph", "empty file"),
        (
            "saved_model.pb",
            b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n",
            "not-a-graph",
            "git lfs pull",
        ),
        ("graph.pb", GRAPH[:-1], "graph-damaged", "byte "),
        ("graph.pbtxt", TEXT[:-2].encode(), "graph-damaged", "line "),
    ],
)
def test_a_named_file_without_a_graph_is_a_problem(
    name: str, data: bytes, reason: str, detail: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_bytes(data)
    assert names(found(tmp_path / name)) == [name]
    for told in (read_graph(str(tmp_path / name), name), read_graph("", name, data)):
        assert isinstance(told, Problem)
        assert (told.path, told.reason) == (name, reason)
        assert detail in told.detail


@pytest.mark.parametrize(
    ("name", "data", "problems"),
    [
        ("graph.pbtxt", TEXT.encode(), []),
        ("graph.pb", GRAPH, []),
        ("graph.pbtxt", TEXT[:-2].encode(), ["graph-damaged"]),
        ("graph.pbtxt", b"item { }", ["not-a-graph"]),
    ],
)
def test_a_graph_by_standard_input(name: str, data: bytes, problems: list[str]) -> None:
    sources = piped(Settings(stdin=data, stdin_filename=name)).files
    loaded = [load(source, data) for source in sources]
    assert [one.problem.reason for one in loaded if one.problem] == problems
    assert [one.graph is None for one in loaded] == [bool(problems)]


@pytest.mark.parametrize(
    ("data", "kinds", "reasons"),
    [
        (b'{"black-list": {"to-add": ["Cast"]}}', ["mixlist"], []),
        (b'{"blacklist": {"to-add": ["Cast"]}}', ["mixlist"], []),
        (b'[{"name": "aten::add", "ph": "X", "ts": 1}]', ["artifact"], []),
        (b'{"graph_module": {}}', ["graph"], []),
        (b'{"learning_rate": 1}', [], ["unsupported"]),
    ],
)
def test_json_by_standard_input_is_what_a_named_file_is(
    data: bytes, kinds: list[str], reasons: list[str], tmp_path: Path
) -> None:
    given = piped(Settings(stdin=data, stdin_filename="x.json"))
    (tmp_path / "x.json").write_bytes(data)
    for discovered in (given, found(tmp_path / "x.json")):
        assert [file.kind for file in discovered.files] == kinds
        assert [problem.reason for problem in discovered.problems] == reasons
