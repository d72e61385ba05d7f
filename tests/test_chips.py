"""Chips: how files name them, what is inferred for a project, and how severe findings are there."""

from __future__ import annotations

import pytest

from npulint.data.chips import chip
from npulint.judge.catalogue.check import Applies, Check, CheckText, Query
from npulint.judge.evaluate.chips import TargetChips, for_chips, holds, target_chips
from npulint.read.chip_names import chip_names
from tests.project_support import Project

_TRAIN = """import torch
import torch_npu

model = torch.nn.Linear(4, 2).npu()
for images, labels in loader:
    logits = model(images.npu())
    logits[labels.npu() > 0].mean().backward()
"""
_IN_BFLOAT16 = _TRAIN.replace("for images", "model = model.bfloat16()\nfor images")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param("export SOC_VERSION=Ascend910B1", {"910B"}, id="a SoC version"),
        pytest.param("ARG SOC=ascend910_9391", {"910C"}, id="the SoC version of A3"),
        pytest.param('export SOC_VERSION="Ascend910"', {"910A"}, id="the first generation as a value"),
        pytest.param("echo needs Ascend910 or later", set(), id="Ascend910 in a sentence"),
        pytest.param("FROM quay.io/ascend/cann:8.0.rc1-910b-ubuntu22.04-py3.10", {"910B"}, id="the tag of an image"),
        pytest.param("FROM ascendai/cann:9.1.0-a3-openeuler24.03-py3.11", {"910C"}, id="the tag of an image for A3"),
        pytest.param("echo 'for Atlas 800T A2 servers'", {"910B"}, id="a product"),
        pytest.param("# Ascend910B only", set(), id="a comment"),
        pytest.param("atc --model=a.onnx --soc_version=Ascend910B1", set(), id="a conversion for inference"),
        pytest.param("export SOC_VERSION=Ascend310P3", set(), id="a chip for inference"),
        pytest.param("bash ascend_A3.sh", set(), id="three characters of a file name"),
        pytest.param("export ASCEND_910B_COUNT=8", set(), id="the beginning of another word"),
    ],
)
def test_chips_are_read_from_text(text: str, found: set[str]) -> None:
    assert {fact.name for fact in chip_names(text + "\n", "run.sh") if fact.kind == "chip"} == found


def test_releases_of_cann_are_read_from_text() -> None:
    facts = chip_names("FROM x\nRUN bash Ascend-cann-toolkit_8.0.RC1_linux.run\nENV CANN_VERSION=7.0\n", "Dockerfile")
    assert [(fact.get("version"), fact.span.line) for fact in facts] == [("8.0.RC1_linux.run", 2), ("7.0", 3)]


def test_socs_belong_to_generations() -> None:
    socs = ("Ascend910B3", "a2", "A3", "910_9391", "910", "910PremiumA", "A5", "950PR", "310P3", "310", "")
    found = ["910B", "910B", "910C", "910C", "910A", "910A", "950", "950", "310P", "", ""]
    assert [chip(soc) for soc in socs] == found


@pytest.mark.parametrize(
    ("chips", "target", "answer"),
    [
        pytest.param((), TargetChips(), "yes", id="any chip"),
        pytest.param(("910A",), TargetChips(), "unknown", id="one chip, unknown"),
        pytest.param(("910B", "910C"), TargetChips(), "yes", id="the chips of today, unknown"),
        pytest.param(("910A",), TargetChips(frozenset(("910A",))), "yes", id="the same chip"),
        pytest.param(("A1",), TargetChips(frozenset(("910A",))), "yes", id="the same chip by its generation"),
        pytest.param(("910A",), TargetChips(frozenset(("910B",))), "no", id="another chip"),
        pytest.param(("910A",), TargetChips(frozenset(("910A", "910B"))), "unknown", id="one of two chips"),
    ],
)
def test_a_check_holds_on_some_chips(chips: tuple[str, ...], target: TargetChips, answer: str) -> None:
    assert holds(chips, target) == answer


def _check(
    severity: str, soc: tuple[str, ...] = (), severe_on: tuple[str, ...] = (), category: str = "performance"
) -> Check:
    texts = {"en": CheckText("T", "It is slow.", "w", "f"), "zh": CheckText("T", "很慢。", "w", "f")}
    rule = Applies(soc=soc)
    return Check(
        "NPU2999",
        "a",
        "pytorch",
        "0.1",
        "preview",
        "other",
        category,
        severity,
        "high",
        Query("x"),
        texts,
        rule,
        severe_on=severe_on,
    )


@pytest.mark.parametrize(
    ("check", "target", "severity", "message"),
    [
        pytest.param(_check("warning", ("910A",)), {}, "note", "On 910A: It is slow.", id="unknown"),
        pytest.param(_check("warning", ("910A",)), {"soc": "910A"}, "warning", "It is slow.", id="declared"),
        pytest.param(_check("error", ("910B", "910C")), {}, "error", "It is slow.", id="the chips of today"),
        pytest.param(_check("warning", (), ("910A",)), {}, "note", "It is slow.", id="severe on an old chip, unknown"),
        pytest.param(
            _check("warning", (), ("910A",)), {"soc": "A1"}, "warning", "It is slow.", id="severe on the chip"
        ),
        pytest.param(
            _check("warning", (), ("910B", "910C")), {}, "warning", "It is slow.", id="severe on the chips of today"
        ),
        pytest.param(_check("warning", (), ("910A",)), {"soc": "A2"}, "note", "It is slow.", id="severe elsewhere"),
    ],
)
def test_findings_are_as_severe_as_on_the_chip(
    check: Check, target: dict[str, str], severity: str, message: str
) -> None:
    found = for_chips(check, target_chips(target), "en")
    assert found is not None
    assert (found.severity, found.text["en"].message) == (severity, message)


def test_unlikely_chips_lower_a_check_and_drop_a_note() -> None:
    unlikely = target_chips({}, unlikely=("910A", "310P"))
    lowered = for_chips(_check("warning", (), ("910A",)), unlikely, "en")
    assert lowered is not None and lowered.severity == "note"
    assert for_chips(_check("note", ("910A",)), unlikely, "en") is None
    assert for_chips(_check("warning", ("910A",)), unlikely, "en") is None  # it is about speed
    assert for_chips(_check("error", ("910A",), ("910A",), category="functional"), unlikely, "en") is None
    kept = for_chips(_check("warning", ("910A",), category="functional"), unlikely, "zh")
    assert kept is not None and kept.severity == "note" and kept.text["zh"].message == "在 910A 上：很慢。"


@pytest.mark.parametrize(
    ("files", "options", "soc", "severities"),
    [
        pytest.param({"train.py": _TRAIN}, [], None, {"note"}, id="nothing shows the chip"),
        pytest.param({"train.py": _TRAIN}, ["soc=A1"], "A1 (specified)", {"warning"}, id="declared"),
        pytest.param(
            {"train.py": _TRAIN, "Dockerfile": "FROM ascendai/cann:8.0.rc1-910b-ubuntu22.04\n"},
            [],
            "910B (inferred from cann:8.0.rc1-910b in Dockerfile:1)",
            set(),
            id="an image",
        ),
        pytest.param(
            {"train.py": _TRAIN, "run.sh": "export SOC_VERSION=Ascend910A\npython3 train.py\n"},
            [],
            "910A (inferred from Ascend910A in run.sh:1)",
            {"warning"},
            id="a launcher",
        ),
        pytest.param(
            {"train.py": _IN_BFLOAT16},
            [],
            "probably not 910A, 310P (inferred from bfloat16 in train.py:5)",
            set(),
            id="bfloat16",
        ),
        pytest.param(
            {"train.py": _TRAIN, "sft.yaml": "stage: sft\nfinetuning_type: lora\ntemplate: qwen\nbf16: true\n"},
            [],
            "probably not 910A, 310P (inferred from bfloat16 in sft.yaml:4)",
            set(),
            id="bfloat16 in a configuration",
        ),
        pytest.param(
            {"train.py": _TRAIN},
            ["torch=2.7"],
            "probably not 910A, 310P (inferred from torch 2.7)",
            set(),
            id="a new PyTorch",
        ),
        pytest.param(
            {"train.py": _TRAIN},
            ["cann=8.0"],
            "probably not 910A, 310P (inferred from CANN 8.0)",
            set(),
            id="a new CANN",
        ),
        pytest.param({"train.py": _TRAIN}, ["torch=1.11"], None, {"note"}, id="an old PyTorch"),
    ],
)
def test_the_chip_of_a_project_is_inferred_and_printed(
    project: Project, files: dict[str, str], options: list[str], soc: str | None, severities: set[str]
) -> None:
    targets = [word for option in options for word in ("--target", option)]
    answer = project.write(files).run("check", "--format", "json", "--no-cache", *targets)
    assert answer.document["target"].get("soc") == soc
    assert {one["severity"] for one in answer.findings if one["code"] == "NPU2368"} == severities
