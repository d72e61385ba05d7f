"""Whole runs over projects with graphs: lists of operators, findings shared with the source, and what they cost."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from npulint.commands.check.pipeline import facts_of, run
from npulint.commands.compare.compare_command import compare
from npulint.commands.session import Session
from npulint.commands.settings.config import load
from npulint.core.errors import CatalogueError
from npulint.discover.context_files import context_files
from npulint.discover.files import DiscoverOptions, discover
from npulint.judge.catalogue.load import load_catalogue
from npulint.judge.findings import RunResult
from npulint.judge.settings import Settings

pytestmark = pytest.mark.slow

GRAPH = """
node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } }
node { name: "PyFunc" op: "PyFunc" input: "x" }
node { name: "MatMul" op: "MatMul" input: "PyFunc" input: "PyFunc" }
node { name: "w" op: "VarHandleOp" }
node { name: "lr" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } } }
node { name: "gradients/step" op: "ResourceApplyGradientDescent" input: "w" input: "lr" input: "MatMul" }
"""
TRAIN = "import tensorflow as tf\nh = tf.py_func(f, [x], tf.float32)\ntf.Session().run(h)\n"
NET = """import torch
from torch.nn import functional as F


class Net(torch.nn.Module):
    def forward(self, x, y):
        return F.huber_loss(x, y)


def train(net, loader):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in loader:
        optimizer.zero_grad()
        net(x, y).backward()
        optimizer.step()


if __name__ == "__main__":
    train(Net().npu(), [])
"""
NODE = {
    "target": "torch.ops.aten.huber_loss.default",
    "outputs": [{"as_tensor": {"name": "huber_loss"}}],
    "metadata": {"stack_trace": '  File "/home/other/project/train.py", line 7, in forward\n'},
}
CHECK = """
code: NPU4399
since: "0.1"
status: preview
topic: unsupported_op
category: performance
consequence: stops
occurs: always
confidence: medium
joins: [NPU2336]
find: {torch_op: aten.huber_loss}
text:
  en: {title: t, message: "`{name}` runs on the CPU", why: w, fix: f}
  zh: {title: 题, message: "`{name}` 在 CPU 上", why: 因, fix: 改}
references: [{title: t, source: "https://example.org/"}]
examples:
  - bad: |
      x  # expect
  - good: |
      y
"""


def exported(folder: Path, name: str = "model.json") -> None:
    graph = {"nodes": [NODE], "inputs": [], "outputs": [], "tensor_values": {"huber_loss": {"dtype": 7, "sizes": []}}}
    program = {"graph_module": {"graph": graph}, "schema_version": {"major": 8, "minor": 8}, "torch_version": "2.7.1"}
    (folder / name).write_text(json.dumps(program), encoding="utf-8")


def listing(folder: Path, *ops: str) -> Path:
    path = folder / "ops.json"
    path.write_text(json.dumps({op: {"isGray": False, "isHeavy": False} for op in ops}), encoding="utf-8")
    return path


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty project that the working directory is; what is remembered lies beside it."""
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("NPULINT_CACHE_DIR", str(tmp_path / "cache"))
    return folder


def checked(**settings: Any) -> RunResult:
    return run(Settings(**{"cache": False, **settings}))


def test_the_recorded_list_is_used_and_told(project: Path) -> None:
    (project / "graph.pbtxt").write_text(GRAPH, encoding="utf-8")
    result = checked()
    (graph,) = result.graphs
    assert (graph.path, graph.form, graph.nodes, graph.trains) == ("graph.pbtxt", "graph_def", 6, True)
    assert graph.counts["host"] == 1
    assert (graph.listed, bool(graph.release)) == ("", True)
    assert result.target["operators"] == f"built-in list of {graph.release}"
    assert result.notices == []


def test_a_list_of_its_own_decides_also_over_what_is_remembered(project: Path) -> None:
    (project / "graph.pbtxt").write_text(GRAPH, encoding="utf-8")
    everything = ("Placeholder", "PyFunc", "MatMul", "VarHandleOp", "Const", "ResourceApplyGradientDescent")
    path = str(listing(project, *everything))
    remembered = {"cache": True, "supported_ops": (path,)}
    assert checked(cache=True).graphs[0].counts["host"] == 1
    for _ in range(2):
        result = checked(**remembered)
        assert "host" not in result.graphs[0].counts
        assert result.target["operators"] == result.graphs[0].listed == path
    listing(project, *everything[:-1])
    assert checked(**remembered).graphs[0].counts["host"]
    assert checked(cache=True).graphs[0].listed == ""


def test_the_installation_of_the_environment_is_used(project: Path) -> None:
    (project / "graph.pbtxt").write_text(GRAPH, encoding="utf-8")
    folder = project.parent / "opp" / "built-in" / "framework" / "tensorflow"
    folder.mkdir(parents=True)
    listing(folder, "MatMul").rename(folder / "npu_supported_ops.json")
    settings = load(["."], {"cache": False}, {"ASCEND_OPP_PATH": str(project.parent / "opp")})
    assert run(settings).graphs[0].listed.endswith("tensorflow/npu_supported_ops.json")


def test_a_list_that_cannot_be_used_is_told_once_a_graph_needs_it(project: Path) -> None:
    (project / "train.py").write_text(TRAIN, encoding="utf-8")
    assert checked(supported_ops=("nowhere",)).notices == []
    exported(project)
    assert checked(supported_ops=("nowhere",)).notices == []
    for name in ("a.pbtxt", "b.pbtxt"):
        (project / name).write_text(GRAPH, encoding="utf-8")
    for _ in range(2):
        result = checked(supported_ops=("nowhere",), cache=True)
        assert result.notices == ["warning: nowhere: this list of supported operators cannot be used: does not exist"]
        assert result.graphs[0].listed == ""


def test_source_and_graph_are_one_finding(project: Path) -> None:
    (project / "train.py").write_text(NET, encoding="utf-8")
    checks = project.parent / "checks" / "graph"
    checks.mkdir(parents=True)
    (checks / "huber-in-graph.yaml").write_text(CHECK, encoding="utf-8")
    wanted = {"checks": (str(checks.parent),), "select": ("NPU2336", "NPU4399", "unused-suppression")}
    (alone,) = checked(**wanted).findings
    exported(project)
    (both,) = checked(**wanted).findings
    assert (both.code, both.path, both.span, both.fingerprint) == ("NPU2336", "train.py", alone.span, alone.fingerprint)
    assert (alone.severity, both.severity) == ("warning", "error")
    assert [place.path for place in both.related] == ["model.json"]
    assert both.related[0].message == "the graph confirms it: `aten.huber_loss` runs on the CPU"
    for code in ("NPU2336", "NPU4399"):
        text = NET.replace("F.huber_loss(x, y)", f"F.huber_loss(x, y)  # npulint: ignore[{code}] known")
        (project / "train.py").write_text(text, encoding="utf-8")
        left = [one.code for one in checked(**wanted).findings]
        assert left == ([] if code == "NPU2336" else ["NPU2336"])


def test_a_graph_is_judged_although_the_script_beside_it_was_left_unported(project: Path) -> None:
    (project / "train.py").write_text(NET.replace(".npu()", ".cuda()"), encoding="utf-8")
    exported(project)
    alone = [one.code for one in checked().findings if one.subject or one.related]
    (project / "train_npu.py").write_text(f"import torch_npu\n{NET}", encoding="utf-8")
    both = [one.code for one in checked().findings if "model.json" in (one.program, *(r.path for r in one.related))]
    assert alone == ["NPU2336"]  # the graph confirms what the source says
    assert both == ["NPU4351"]  # of a script that was left the source says nothing


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        pytest.param("[NPU2336]", "[NPU4301]", "'NPU4301' is not the code of a source check", id="another graph"),
        pytest.param("[NPU2336]", "[host-sync]", "'host-sync' is not the code of a source check", id="a name"),
        pytest.param("[NPU2336]", "{a: b}", "must be a non-empty list", id="no list"),
    ],
)
def test_what_is_joined_are_checks_of_the_source(project: Path, old: str, new: str, complaint: str) -> None:
    (project / "graph").mkdir()
    (project / "graph" / "mine.yaml").write_text(CHECK.replace(old, new), encoding="utf-8")
    with pytest.raises(CatalogueError) as caught:
        load_catalogue((str(project),))
    assert "joins" in str(caught.value)
    assert complaint in str(caught.value)


def test_facts_of_a_graph_are_also_those_at_its_source(project: Path) -> None:
    (project / "train.py").write_text(NET, encoding="utf-8")
    exported(project)
    places = {(fact.kind, fact.path, fact.span.line) for fact in facts_of("model.json")}
    assert {("graph", "model.json", 1), ("torch_op", "train.py", 7)} <= places


def test_who_names_a_script_waits_for_no_graph(project: Path) -> None:
    (project / "train.py").write_text(NET, encoding="utf-8")
    (project / "other.py").write_text(TRAIN, encoding="utf-8")
    exported(project)
    options = DiscoverOptions()
    assert [file.path for file in context_files(discover(["train.py"], options), options)] == ["other.py"]
    assert checked(paths=("train.py",)).graphs == []
    named = checked(paths=("model.json",))
    assert [graph.path for graph in named.graphs] == ["model.json"]
    assert named.summary.files == 1


def test_editors_are_told_nothing_of_graphs(project: Path) -> None:
    (project / "train.py").write_text(NET, encoding="utf-8")
    (project / "graph.pbtxt").write_text(GRAPH, encoding="utf-8")
    exported(project)
    answer = Session(Settings(cache=False)).check(str(project / "train.py"))
    assert "model.json" not in answer.findings
    assert "graph.pbtxt" not in answer.findings
    assert not [one for found in answer.findings.values() for one in found if one.subject]


def test_a_comparison_reads_no_graph(project: Path) -> None:
    for side in ("reference", "migrated"):
        (project / side).mkdir()
        (project / side / "train.py").write_text(NET, encoding="utf-8")
        (project / side / "graph.pbtxt").write_text("node { broken", encoding="utf-8")
    result = compare(Settings(paths=("migrated",), cache=False), "reference")
    assert result.summary.files == 2
    assert result.unreadable == []


def test_fixes_leave_graphs_alone(project: Path) -> None:
    (project / "train.py").write_text(NET, encoding="utf-8")
    exported(project)
    (project / "graph.pbtxt").write_text(GRAPH, encoding="utf-8")
    before = {path.name: path.read_bytes() for path in project.iterdir() if path.suffix != ".py"}
    command = [sys.executable, "-m", "npulint", "check", ".", "--fix", "--unsafe-fixes", "--exit-zero"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "Graphs" in done.stdout
    assert before == {path.name: path.read_bytes() for path in project.iterdir() if path.suffix != ".py"}


def _imported(*words: str) -> set[str]:
    command = [sys.executable, "-X", "importtime", "-m", "npulint", "check", *words, "--exit-zero"]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, env={**os.environ, "ASCEND_OPP_PATH": "/"}
    )
    return {line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if line.startswith("import time:")}


def test_who_has_no_graph_pays_for_none(project: Path) -> None:
    (project / "train.py").write_text(NET, encoding="utf-8")
    about = (".graph", "_graph_", "supported", "postprocess.operators", "aten")
    needed = {"npulint.facts.graph", "npulint.discover.graphs"}
    _imported(".")  # the first run compiles the catalogue
    loaded = {name for name in _imported(".") if name.startswith("npulint") and any(part in name for part in about)}
    assert loaded <= needed
    exported(project)
    assert {"npulint.judge.postprocess.merge_graph_findings", "npulint.report.graphs"} <= _imported(".")
