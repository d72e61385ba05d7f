"""Two runs that differ in fusion, and whether the loss or accuracy is better without."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from npulint.commands.check.pipeline import run
from npulint.judge.findings import Finding
from npulint.judge.settings import Settings

CODE = "NPU5225"
ON = {"SoftmaxFusionPass": 40, "ConvConcatFusionPass": 9, "ConstToAttrPass": 0}
FORCED = {"ConvConcatFusionPass": 2}
"""What cannot be switched off."""
SWITCHES = '{"Switch": {"GraphFusion": {"ALL": "off"}, "UBFusion": {"ALL": "off"}}}'


def write(folder: Path, lines: list[str], passes: Mapping[str, int] | None = None, switches: str = "") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "train.log").write_text("\n".join(["Using NPU device 0", *lines]) + "\n")
    if passes is not None:
        times = {name: {"match_times": str(count), "effect_times": str(count)} for name, count in passes.items()}
        report = {"graph_fusion": times, "session_and_graph_id": "0_1"}
        (folder / "fusion_result.json").write_text(json.dumps(report, indent=4))
    if switches:
        (folder / "fusion_switch.cfg").write_text(switches)


def losses(end: float, count: int = 200, noise: float = 0.0) -> list[str]:
    return [f"step {n}: loss {end + 2 * 0.95**n + noise * (-1) ** n:.4f}" for n in range(count)]


def accuracies(end: float) -> list[str]:
    return [f"step {n}: loss 0.5, accuracy {end * (1 - 0.95**n):.4f}" for n in range(200)]


def found(*paths: Path) -> list[Finding]:
    return run(Settings(paths=tuple(map(str, paths)), cache=False, select=(CODE,))).findings


@pytest.mark.parametrize("off", [{}, FORCED])
def test_a_loss_that_is_lower_without_fusion(off: dict[str, int], tmp_path: Path) -> None:
    write(tmp_path / "on", losses(0.9), ON)
    write(tmp_path / "off", losses(0.4), off)
    for paths in ((tmp_path,), (tmp_path / "on", tmp_path / "off"), (tmp_path / "off", tmp_path / "on")):
        (one,) = found(*paths)
        assert one.path.endswith("on/train.log")
        assert "2 passes took effect" in one.message


def test_a_run_without_fusion_is_known_by_its_switch_file(tmp_path: Path) -> None:
    write(tmp_path / "on", accuracies(0.7), ON)
    write(tmp_path / "off", accuracies(0.8), switches=SWITCHES)
    (one,) = found(tmp_path)
    assert "accuracy" in one.message
    write(tmp_path / "off", accuracies(0.8), switches=SWITCHES.replace("ALL", "SoftmaxFusionPass"))
    assert not found(tmp_path), "only one pass is off"


def test_values_that_are_not_numbers_with_fusion_only(tmp_path: Path) -> None:
    write(tmp_path / "on", [*losses(0.4)[:100], *[f"step {n}: loss nan" for n in range(100, 200)]], ON)
    write(tmp_path / "off", losses(0.4), FORCED)
    (one,) = found(tmp_path)
    assert one.span.line == 102
    write(tmp_path / "off", [*losses(0.4)[:100], *[f"step {n}: loss nan" for n in range(100, 200)]], FORCED)
    assert not found(tmp_path), "without as well"


@pytest.mark.parametrize(
    ("on", "off", "left"),
    [
        (losses(0.42), losses(0.4), FORCED),
        (losses(0.4), losses(0.9), FORCED),
        (losses(0.9), losses(0.4), ON),
        (losses(0.9), losses(0.4), {"SoftmaxFusionPass": 20}),
        (losses(0.9, noise=0.4), losses(0.7, noise=0.4), FORCED),
        (losses(0.9, count=60), losses(0.4), FORCED),
        (losses(0.9, count=15), losses(0.4, count=15), FORCED),
        (losses(0.9), [line.replace("loss", "val_loss") for line in losses(0.4)], FORCED),
    ],
    ids=["alike", "worse", "with fusion", "half of it", "noise", "shorter", "too short", "other measures"],
)
def test_runs_that_show_nothing(on: list[str], off: list[str], left: dict[str, int], tmp_path: Path) -> None:
    write(tmp_path / "on", on, ON)
    write(tmp_path / "off", off, left)
    assert not found(tmp_path)


def test_of_three_runs_nobody_knows_which_to_compare(tmp_path: Path) -> None:
    for name, end, passes in (("a", 0.9, ON), ("b", 0.4, FORCED), ("c", 0.5, FORCED)):
        write(tmp_path / name, losses(end), passes)
    assert not found(tmp_path)


def test_one_run_has_no_second(tmp_path: Path) -> None:
    write(tmp_path, losses(0.9), ON, SWITCHES)
    assert not found(tmp_path)
