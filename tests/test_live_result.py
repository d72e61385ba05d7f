"""The result of a live check: findings at the user's lines, tables, and what makes a test fail."""

from __future__ import annotations

import json
import linecache
from pathlib import Path
from typing import Any

import pytest

from npulint.core.errors import ConfigError
from npulint.facts.graph import Body, Graph, Node, NodeFrame
from npulint.live import LiveResult, NotReadyError
from npulint.live.judge import declared_torch, judged
from npulint.live.sources import NPULINT, is_own, own_frames
from tests.project_support import Project

_NET = """
import torch


def loss(x, y):
    return torch.nn.functional.huber_loss(x, y)


def read(x):
    return x.item()  # npulint: ignore[value-read-by-the-host] once in an epoch


def solve(x):
    return torch.linalg.inv(x)
"""
_FALLBACK = "operator-falls-back-to-cpu"


@pytest.fixture
def folder(project: Project) -> Path:
    project.write({"pkg/net.py": _NET, "npulint.toml": '[target]\ntorch = "2.6"\n'})
    return project.folder


def _node(name: str, op: str, path: Path | str, line: int, **more: Any) -> Node:
    attrs = {"dtypes": ["float32"], "shapes": [[8, 2]]}
    return Node(name, op, attrs=attrs, frames=(NodeFrame(str(path), line, "step"),), **more)


_BACKWARD = Node("mul", "aten.mul.Tensor", phase="backward")


def _graph(path: Path | str) -> Graph:
    nodes = [
        _node("huber_loss", "aten.huber_loss", path, 6, phase="forward"),
        _node("huber_loss_backward", "aten.huber_loss_backward.out", path, 6, phase="backward"),
        _node("inv", "aten.linalg_inv_ex", path, 14, phase="forward", count=2),
        _node("item", "aten._local_scalar_dense", path, 10, phase="forward", count=4),
        _node("add", "aten.add.Tensor", path, 14, phase="forward", count=3),
    ]
    return Graph("live_torch", [Body("", nodes)], "2.13.0")


@pytest.fixture
def result(folder: Path) -> LiveResult:
    return judged(_graph(folder / "pkg/net.py"), name="Net", target={"torch": "2.7"}, steps=2, notes=["shapes"])


def _placed(result: LiveResult) -> set[tuple[str, str, int]]:
    return {(one.subject, one.path, one.span.line) for one in result.findings if one.name == _FALLBACK}


def test_findings_lie_at_the_users_lines(result: LiveResult) -> None:
    assert _placed(result) >= {("aten.huber_loss", "pkg/net.py", 6), ("aten.linalg_inv_ex", "pkg/net.py", 14)}
    assert {one.path for one in result.findings} == {"pkg/net.py"}
    assert {one.code[:4] for one in result.findings} == {"NPU4"}


def test_a_comment_at_the_line_silences_and_the_configuration_holds(folder: Path, result: LiveResult) -> None:
    assert "value-read-by-the-host" not in {one.name for one in result.findings}
    (folder / "pkg/net.py").write_text(_NET.replace("  # npulint: ignore[value-read-by-the-host] once in an epoch", ""))
    again = judged(_graph(folder / "pkg/net.py"), name="Net")
    assert "value-read-by-the-host" in {one.name for one in again.findings}
    assert again.summary.release == "2.6"  # of npulint.toml
    (folder / "npulint.toml").write_text(f'ignore = ["{_FALLBACK}"]\n')
    assert not _placed(judged(_graph(folder / "pkg/net.py"), name="Net"))


def test_checks_are_selected_and_ignored_by_name(folder: Path) -> None:
    only = judged(_graph(folder / "pkg/net.py"), name="Net", select=[_FALLBACK])
    assert {one.name for one in only.findings} == {_FALLBACK}
    none = judged(_graph(folder / "pkg/net.py"), name="Net", ignore=["NPU4"])
    assert none.findings == [] and none.operators
    with pytest.raises(ConfigError, match="no-such-check"):
        judged(_graph(folder / "pkg/net.py"), name="Net", select=["no-such-check"])
    with pytest.raises(ConfigError):
        judged(_graph(folder / "pkg/net.py"), name="Net", target={"tourch": "2.7"})


def test_operators_and_syncs_are_told_with_their_counts(result: LiveResult) -> None:
    rows = {(one.name, one.phase): one for one in result.operators}
    assert rows["aten.huber_loss", "forward"].verdict == "cpu" and rows["aten.add.Tensor", "forward"].fine
    assert (rows["aten.linalg_inv_ex", "forward"].count, rows["aten.linalg_inv_ex", "forward"].line) == (2, 14)
    assert result.counts["cpu"] + result.counts["cpu_out"] >= 3
    assert next(iter(result.counts)) == "cpu" and sum(result.counts.values()) == 11
    assert [(one.count, one.path, one.line) for one in result.syncs] == [(4, "pkg/net.py", 10)]
    assert result.syncs_per_step == 2


@pytest.mark.parametrize(
    ("lang", "words"),
    [
        ("en", ["aten.huber_loss", "pkg/net.py:6", "backward", "waits for the device 2 times", "Not covered: shapes"]),
        ("zh", ["aten.huber_loss", "pkg/net.py:6", "反向", "每步 Host 等待 Device 2 次", "未覆盖：shapes"]),
    ],
)
def test_the_text_has_findings_and_tables_in_both_languages(result: LiveResult, lang: str, words: list[str]) -> None:
    text = result.text(lang)
    assert all(word in text for word in words), text
    assert f"[{_FALLBACK}]" in text and "aten.add.Tensor" not in text
    assert "aten.add.Tensor" in result.text(lang, all_operators=True)


def test_str_is_the_report_and_repr_a_line(result: LiveResult) -> None:
    assert str(result) == result.text()
    assert repr(result).startswith("<LiveResult of Net: ") and "\n" not in repr(result)


def test_json_is_that_of_a_run_with_operators(result: LiveResult) -> None:
    document = json.loads(result.to_json())
    assert document == result.to_dict()
    assert {"version", "findings", "graphs", "operators", "counts", "syncs", "steps", "notes"} <= set(document)
    assert document["steps"] == 2 and document["operators"][0]["name"] == "aten.huber_loss"


def test_a_result_fails_by_severity_and_but_for_what_is_allowed(result: LiveResult) -> None:
    assert result.ok("error") and not result.ok("warning") and result.ok("never")
    result.raise_for("error")
    with pytest.raises(NotReadyError, match=r"(?s)`Net`.*huber_loss.*net\.py:6") as raised:
        result.assert_ready()
    assert raised.value.result is result and isinstance(raised.value, AssertionError)
    assert "Target" not in str(raised.value)
    left = result.failing("warning", allow=["aten.huber_loss", "aten.huber_loss_backward"])
    assert {one.subject for one in left} == {"aten.linalg_inv_ex"}
    result.assert_ready(allow=[_FALLBACK])
    assert result.failing("warning", allow=["aten.huber"]) == result.failing("warning")
    with pytest.raises(ValueError, match="fail_on"):
        result.ok("grave")


def test_code_outside_of_the_project_and_of_any_file_is_placed_too(project: Project, tmp_path: Path) -> None:
    other = tmp_path / "lib" / "losses.py"
    other.parent.mkdir()
    other.write_text(_NET)
    project.write({"train.py": _NET, "npulint.toml": ""})
    nodes = [_node("a", "aten.huber_loss", project.folder / "train.py", 6, count=1)] * 2
    nodes.append(_node("b", "aten.huber_loss", other, 6))
    found = judged(Graph("live_torch", [Body("", [*nodes, _BACKWARD])]), name="Net")
    assert {path for _, path, _ in _placed(found)} == {"train.py", str(other)}
    unknown = Node("c", "aten.huber_loss", phase="forward")
    found = judged(Graph("live_torch", [Body("", [unknown, _BACKWARD])]), name="Net")
    assert _placed(found) == {("aten.huber_loss", "Net", 1)} and found.operators[0].path == ""


def test_cells_of_a_notebook_are_shown_with_their_source(project: Project) -> None:
    cell = "/nowhere/ipykernel_7/1234.py"
    lines = [f"{line}\n" for line in _NET.split("\n")]
    linecache.cache[cell] = (len(_NET), None, lines, cell)
    try:
        found = judged(_graph(cell), name="Net")
        assert _placed(found) >= {("aten.huber_loss", "1234.py", 6)}
        assert "nn.functional.huber_loss(x, y)" in found.text()
        assert "value-read-by-the-host" not in {one.name for one in found.findings}
    finally:
        del linecache.cache[cell]


def test_two_files_of_one_name_are_told_apart(project: Project) -> None:
    project.write({"npulint.toml": "", "net.py": _NET, "a/net.py": _NET, "b/a/net.py": _NET})
    nodes = [
        _node(name.replace("/", "_"), "aten.huber_loss", project.folder / name, 6)
        for name in ("net.py", "a/net.py", "b/a/net.py")
    ]
    found = judged(Graph("live_torch", [Body("", [*nodes, _BACKWARD])]), name="Net")
    assert {path for _, path, _ in _placed(found)} == {"net.py", "a/net.py", "b/a/net.py"}


def test_the_declared_release_is_that_of_the_configuration_or_of_the_requirements(folder: Path) -> None:
    near = str(folder / "pkg/net.py")
    assert declared_torch(near) == "2.6"
    assert declared_torch(near, target={"torch": "2.1"}) == "2.1"
    (folder / "npulint.toml").write_text("")
    assert declared_torch(near) == ""
    (folder / "requirements.txt").write_text("torch==2.4.1\n")
    assert declared_torch(near).startswith("2.4")


def test_frames_of_the_users_own_code() -> None:
    own, python = NodeFrame("/home/me/net.py", 3), NodeFrame("/usr/lib/python3/dist-packages/torch/nn.py", 9)
    check, caller = NodeFrame(NPULINT + "live/tensorflow/check.py", 5), NodeFrame("/home/me/test_net.py", 8)
    assert own_frames([caller, check, python, own]) == (own,)
    assert own_frames([NodeFrame("/home/me/pytest.py", 1), caller, check, python]) == (caller,)
    assert own_frames([caller, python, own]) == (caller, own)
    assert own_frames([python]) == () and own_frames([]) == ()
    assert not is_own("<string>") and is_own("/home/me/net.py") and not is_own(json.__file__)


def test_the_project_is_that_of_the_code_that_made_the_nodes_not_of_its_caller(folder: Path, tmp_path: Path) -> None:
    caller = tmp_path / "other" / "test_net.py"
    caller.parent.mkdir()
    caller.write_text(_NET)
    (caller.parent / "npulint.toml").write_text('[target]\ntorch = "2.1"\n')
    frames = (NodeFrame(str(caller), 6, "test"), NodeFrame(str(folder / "pkg/net.py"), 6, "loss"))
    node = Node("huber_loss", "aten.huber_loss", frames=frames, phase="forward")
    found = judged(Graph("live_torch", [Body("", [node, node, _BACKWARD])]), name="Net")
    assert found.summary.release == "2.6" and _placed(found) == {("aten.huber_loss", "pkg/net.py", 6)}
