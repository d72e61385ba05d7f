"""Launchers for GPUs beside launchers for the NPU: one training, and what the first says is not judged."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from npulint.hosts.cli.main import main
from npulint.recognizers.counterparts import LauncherStart, launcher_counterparts

_ARGUMENTS: dict[str, object] = {
    "model": "Qwen/Qwen3-8B",
    "data": "data/a.json",
    "backend": "nccl",
    "batch": 8,
    "lr": None,
}

# what the launcher for the NPU passes otherwise -> whether the one for GPUs has it as its counterpart
_CHANGES: dict[str, tuple[dict[str, object], bool]] = {
    "nothing": ({}, True),
    "numbers and the backend": ({"batch": 2, "backend": "hccl"}, True),
    "the folder of the model": ({"model": "/models/Qwen3-8B"}, True),
    "the device in an output": ({"data": "data/a_npu.json"}, True),
    "one more argument": ({"device": "npu"}, True),
    "another model": ({"model": "Qwen/Qwen3-32B"}, False),
    "other data": ({"data": "data/b.json"}, False),
    "other texts": ({"backend": "mpi"}, False),
    "other arguments": ({"stage": 3, "zero": 1}, False),
}


@pytest.mark.parametrize(("changed", "expected"), _CHANGES.values(), ids=_CHANGES.keys())
def test_a_launcher_for_the_npu_with_comparable_arguments_is_used_instead(
    changed: dict[str, object], expected: bool
) -> None:
    own = LauncherStart("run.sh", "train.py", "gpu", _ARGUMENTS)
    other = LauncherStart("npu/run.sh", "train.py", "npu", {**_ARGUMENTS, **changed})
    assert launcher_counterparts([own, other]) == ({"run.sh": "npu/run.sh"} if expected else {})


def test_a_launcher_of_something_else_is_no_counterpart() -> None:
    own = LauncherStart("run.sh", "train.py", "gpu", _ARGUMENTS)
    more = LauncherStart("run.sh", "evaluate.py", "gpu", _ARGUMENTS)
    other = LauncherStart("run_npu.sh", "train.py", "npu", _ARGUMENTS)
    assert launcher_counterparts([own, other._replace(started="evaluate.py")]) == {}
    assert launcher_counterparts([own, more, other]) == {}
    assert launcher_counterparts([own, other._replace(target="unknown")]) == {}


def test_a_launcher_and_its_copy_for_the_npu_are_one_training(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = "swift sft --model Qwen/Qwen3-8B --train_type lora\n"
    (tmp_path / "sft.sh").write_text(f"export CUDA_VISIBLE_DEVICES=0,1\n{command}")
    (tmp_path / "ascend.sh").write_text(f"export ASCEND_RT_VISIBLE_DEVICES=0,1\n{command}")
    main(["check", "--no-cache", "--format", "json", str(tmp_path)])
    document = json.loads(capsys.readouterr().out)
    assert [Path(program["entry"]).name for program in document["verdict"]["training"]] == ["ascend.sh"]
    assert not [each for each in document["findings"] if each["path"].endswith("sft.sh")]
