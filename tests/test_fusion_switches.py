"""Switch files of the fusion engine: which passes they switch, and which files the engine rejects."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from npulint.commands.check.pipeline import run
from npulint.data.ops import known_pass, near_pass
from npulint.discover.artifacts import is_switch_file
from npulint.discover.files import discover
from npulint.facts.model import Fact
from npulint.judge.settings import Settings
from npulint.runs.read.fusion_switches import read_switches
from tests.fact_support import attrs_of


def facts(content: object) -> list[Fact]:
    text = content if isinstance(content, str) else json.dumps(content, indent=1)
    return read_switches(io.BytesIO(text.encode()), "fusion_switch.cfg")


def switch(sections: object) -> dict[str, object]:
    return {"Switch": sections}


def test_switches_of_both_formats() -> None:
    found = facts(switch({"GraphFusion": {"ALL": "off", "SoftmaxFusionPass": "on"}, "UBFusion": {"Auto": " off "}}))
    assert [(f.name, f.get("value"), f.span.line) for f in found] == [
        ("ALL", "off", 4),
        ("SoftmaxFusionPass", "on", 5),
        ("Auto", "off", 8),
    ]
    assert [attrs_of(f)["known_ones"] for f in found] == [2, 2, 2]
    found = facts("ConvFusion:off\r\n\nTbePool : on\n")
    assert [(f.name, f.get("value"), f.span.line) for f in found] == [("ConvFusion", "off", 1), ("TbePool", "on", 3)]


@pytest.mark.parametrize(
    "content",
    [
        {},
        switch({}),
        switch({"GraphFusion": {}, "UBFusion": {}}),
        {"Priority": {"GraphFusion": {"Top": {"SoftmaxFusionPass": "1"}}}},
        {"Switch": {"UBFusion": {"ALL": "off"}}, "ExceptionalPassOfO1Level": ["SoftmaxFusionPass"]},
        "\ufeffSoftmaxFusionPass:off",
    ],
)
def test_files_that_are_accepted(content: object) -> None:
    assert not [fact for fact in facts(content) if fact.kind == "run_fusion_problem"]


@pytest.mark.parametrize(
    ("content", "problem", "line"),
    [
        ("", "empty", 1),
        (" \n", "empty", 1),
        ("turn it off\n", "no-colon", 1),
        ("# all\nALL:off\n", "no-colon", 1),
        ("ALL:off\nSoftmaxFusionPass=off\n", "no-colon", 2),
        ("ALL:false", "wrong-value", 1),
        ("ALL:off\nALL:on", "duplicate", 2),
        ('{"Switch": {"GraphFusion": {"ALL": "off"', "invalid-json", 1),
        ('{"Switch": {"GraphFusion": {"ALL": "off",}}}', "invalid-json", 1),
        ('{\n// all\n"Switch": {"GraphFusion": {"ALL": "off"}}}', "invalid-json", 2),
        ({"GraphFusion": {"ALL": "off"}}, "unknown-key", 2),
        (switch({"GraphFusoin": {"ALL": "off"}}), "unknown-key", 3),
        (switch({"GraphFusion": "off"}), "wrong-shape", 3),
        ({"Switch": ["ALL"]}, "wrong-shape", 2),
        ("[]", "wrong-shape", 1),
        (switch({"GraphFusion": {"ALL": False}}), "wrong-value", 4),
        (switch({"GraphFusion": {"ALL": "OFF"}}), "wrong-value", 4),
    ],
)
def test_files_that_the_engine_rejects(content: object, problem: str, line: int) -> None:
    (found,) = [fact for fact in facts(content) if fact.kind == "run_fusion_problem"]
    assert (found.name, found.span.line) == (problem, line)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("softmaxfusionpass", "SoftmaxFusionPass"),
        ("Softmax_Fusion_Pass", "SoftmaxFusionPass"),
        ("SoftmaxFusion", "SoftmaxFusionPass"),
        ("Softmax", "SoftmaxFusionPass"),
        ("SoftamxFusionPass", "SoftmaxFusionPass"),
        ("ConvConcaFusionPass", "ConvConcatFusionPass"),
        ("SoftmaxFusionPass", None),
        ("InventedFusionPass", None),
        ("Conv9DQuantProcessFusionPass", None),
    ],
)
def test_names_that_mean_a_pass(name: str, meant: str | None) -> None:
    assert near_pass(name) == meant


def test_names_that_may_be_a_pass() -> None:
    names = "NoSuchPass InventedFusionRule2 ConcatCOptimize TbeAippConvZ FIXPIPEFUSIONPASS everything Conv2D conv_bn"
    found = facts("".join(f"{name}:off\n" for name in names.split()))
    assert [f.name for f in found if attrs_of(f)["possible"] == "no"] == ["everything", "Conv2D", "conv_bn"]
    assert known_pass("ConcatCOptimize")


@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("fusion_switch.cfg", True),
        ("fusion_off.json", True),
        ("srflow_fusion_switch.cfg", True),
        ("fusion_off_layer.cfg", True),
        ("fusion_switch_config.json", True),
        ("fusion-switch.cfg", True),
        ("fusionswitch.cfg", True),
        ("fusion_offset.cfg", False),
        ("fusion_result.json", False),
        ("confusion_switch.cfg", False),
        ("fusion_switch.py", False),
    ],
)
def test_names_of_switch_files(name: str, read: bool) -> None:
    assert is_switch_file(name) is read


@pytest.mark.parametrize("name", ["fusion_switch.cfg", "conf/fusion_off.json"])
def test_a_switch_file_is_read_anywhere_in_a_project(name: str, tmp_path: Path) -> None:
    (tmp_path / "conf").mkdir()
    (tmp_path / "train.py").write_text("import torch\n")
    (tmp_path / name).write_text("nonsense\n")
    assert sorted(file.kind for file in discover([str(tmp_path)]).files) == ["artifact", "python"]
    result = run(Settings(paths=(str(tmp_path),), cache=False))
    assert [(one.code, one.span.line) for one in result.findings] == [("NPU5181", 1)]
    assert not result.runs, "a switch file is no run"


def test_an_empty_switch_file_is_rejected(tmp_path: Path) -> None:
    (tmp_path / "fusion_switch.cfg").write_text("")
    assert [one.code for one in run(Settings(paths=(str(tmp_path),), cache=False)).findings] == ["NPU5181"]


def test_hostile_switches_are_limited() -> None:
    assert len(facts("x\n" * 100_000)) == 2000
    assert len(facts("".join(f"NoSuchPass{n}:off\n" for n in range(100_000)))) == 2000
