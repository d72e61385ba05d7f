"""The sample project: npulint has much to say about it, and nothing once it was migrated."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent


def check(project: str, *options: str) -> list[dict[str, Any]]:
    command = [sys.executable, "-m", "npulint", "check", "--isolated", "--no-cache", "--format", "json", *options]
    done = subprocess.run([*command, f"examples/{project}"], cwd=ROOT, capture_output=True, check=False)
    assert done.stderr == b""
    found: list[dict[str, Any]] = json.loads(done.stdout)["findings"]
    return found


@pytest.fixture(scope="module")
def denoiser() -> list[dict[str, Any]]:
    return check("denoiser")


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("session-without-npu-config", "train.py"),
        ("variables-initialised-with-iterator", "train.py"),
        ("no-loss-scale", "model.py"),
        ("dynamic-top-k", "model.py"),
        ("batch-without-drop-remainder", "data.py"),
        ("variable-in-dataset-map", "data.py"),
        ("lookup-table-in-input-pipeline", "data.py"),
    ],
)
def test_the_gpu_project_is_found_fault_with(denoiser: list[dict[str, Any]], name: str, file: str) -> None:
    assert (name, f"examples/denoiser/{file}") in {(f["name"], f["path"]) for f in denoiser}


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("cuda-in-training-step", "main.py"),
        ("nccl-backend-selectable", "main.py"),
        ("loss-scale-switched-off", "main.py"),
        ("unfused-optimizer-under-apex-amp", "main.py"),
        ("ragged-last-batch", "main.py"),
        ("synchronisation-every-step", "main.py"),
        ("task-queue-off", "run.sh"),
    ],
)
def test_the_half_migrated_project_is_found_fault_with(name: str, file: str) -> None:
    assert (name, f"examples/classifier/{file}") in {(f["name"], f["path"]) for f in check("classifier")}


def test_the_exported_program_speaks_at_the_lines_of_the_model() -> None:
    warned = {(f["name"], f["path"], f["line"]) for f in check("exported") if f["severity"] == "warning"}
    text = (ROOT / "examples/exported/model.py").read_text(encoding="utf-8").split("\n")
    line = {word: next(at for at, one in enumerate(text, 1) if word in one) for word in ("linalg.inv", "huber_loss")}
    assert warned == {
        ("composite-reaches-cpu", "examples/exported/model.py", line["linalg.inv"]),
        ("operator-falls-back-to-cpu", "examples/exported/model.py", line["huber_loss"]),
    }


def test_the_finished_run_is_led_back_to_its_lines() -> None:
    found = {f["name"]: f for f in check("finished", "examples/finished/train.log") if f["severity"] != "note"}
    lines = (ROOT / "examples/finished/train.py").read_text(encoding="utf-8").split("\n")
    led = {
        name: {lines[p["line"] - 1].strip() for p in f["related"] if p["path"].endswith(".py")}
        for name, f in found.items()
    }
    assert found["reduce-sum-under-mixed-precision"]["path"] == "examples/finished/train.py"
    assert "a single core" in found["reduce-sum-under-mixed-precision"]["message"]
    assert led["stall-every-few-steps"] == {"if step % 100 == 0:"}
    assert "manager = ExponentialUpdateLossScaleManager(" in led["loss-scale-collapsed"]
    assert len(found) == 3


@pytest.mark.parametrize("soc", ["910A", "910B"])
@pytest.mark.parametrize("project", ["migrated", "classifier_npu"])
def test_the_migrated_project_gets_no_warning(project: str, soc: str) -> None:
    found = check(project, "--target", f"soc={soc}")
    assert [(f["name"], f["path"]) for f in found if f["severity"] != "note"] == []
