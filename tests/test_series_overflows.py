"""How many steps overflow after a dynamic loss scale has settled, and when that is too many."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from npulint.commands.check.pipeline import run
from npulint.judge.settings import Settings

CODE = "NPU5231"

Lines = Callable[[int, float, bool], list[str]]
"""The lines of a step: its number, the scale after it, and whether it overflowed."""


def sparse(text: str) -> Lines:
    return lambda n, scale, over: [*(text.format(scale=scale, before=scale * 2).split("\n") if over else ()), loss(n)]


def loss(step: int) -> str:
    return f"step {step} loss {2.5 - step / 10_000:.4f}"


FORMATS: dict[str, Lines] = {
    "apex": sparse("Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to {scale}"),
    "torch_npu": sparse("Gradient overflow. Skipping step\nLoss scaler reducing loss scale to {scale}"),
    "deepspeed": sparse("OVERFLOW! Rank 0 Skipping step. Attempted loss scale: {before}, reducing to {scale}"),
    "fairseq": sparse("overflow detected, ignoring gradient, setting loss scale to: {scale}"),
    "script": lambda n, scale, _: [f"{loss(n)} loss_scale = {scale}"],
    "hook": lambda n, scale, over: [
        *([f"Find overflow in this step, skip apply gradients, loss scale value={scale}"] if over else ()),
        f"{loss(n)} loss_scale: {scale}",
    ],
    "precision_tool": lambda n, scale, over: [
        f"PrecisionTool: Train steps {n}, loss_scale={scale} / not_overflow_status={not over}"
    ],
    "megatron": lambda n, scale, over: [
        f" iteration {n}/ 9000 | lm loss: 2.1 | loss scale: {scale} | grad norm: 1.0 | "
        f"number of skipped iterations: {int(over)} | number of nan iterations: 0 |"
    ],
}


def log(form: str, steps: int, overflows: set[int], grows: int, first: float = 65536.0) -> list[str]:
    """A log whose scale is halved at each overflow and doubled after `grows` steps without one."""
    scale, good, lines = first, 0, []
    for step in range(steps):
        if step in overflows:
            scale, good = scale / 2, 0
        else:
            good += 1
            scale *= 2 if good % grows == 0 else 1
        lines += FORMATS[form](step, scale, step in overflows)
    return lines


def codes(lines: list[str], folder: Path) -> list[str]:
    (folder / "train.log").write_text("\n".join(["Using NPU device 0", *lines]) + "\n")
    found = run(Settings(paths=(str(folder / "train.log"),), cache=False, select=("NPU5230", CODE, "NPU5232"))).findings
    return [one.code for one in found]


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize(("every", "grows"), [(60, 50), (30, 25)])
def test_more_overflows_than_the_target(form: str, every: int, grows: int, tmp_path: Path) -> None:
    assert codes(log(form, 600, set(range(45, 600, every)), grows), tmp_path) == [CODE]


@pytest.mark.parametrize("form", FORMATS)
def test_one_overflow_each_time_the_scale_grows_is_within_the_target(form: str, tmp_path: Path) -> None:
    assert codes(log(form, 4000, set(range(500, 4000, 500)), 499), tmp_path) == []


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("first", [2.0**16, 2.0**32])
def test_a_scale_that_settles_is_within_the_target(form: str, first: float, tmp_path: Path) -> None:
    assert codes(log(form, 400, set(range(14)), 1000, first), tmp_path) == []


@pytest.mark.parametrize("form", ["script", "precision_tool", "apex"])
def test_few_overflows_of_few_steps_may_be_chance(form: str, tmp_path: Path) -> None:
    assert codes(log(form, 150, {60, 90, 120}, 29), tmp_path) == []


def test_overflows_that_do_not_lower_the_scale_count(tmp_path: Path) -> None:
    lines = [
        f"PrecisionTool: Train steps {n}, loss_scale={65536.0 if n < 300 else 131072.0} / "
        f"not_overflow_status={n % 60 != 45}"
        for n in range(600)
    ]
    assert codes(lines, tmp_path) == [CODE]
    rare = [line.replace("=False", "=True") if number not in (105, 405) else line for number, line in enumerate(lines)]
    assert codes(rare, tmp_path) == []


def test_a_run_that_begins_anew_settles_anew(tmp_path: Path) -> None:
    for form in ("script", "apex", "precision_tool"):
        assert codes(log(form, 300, set(range(12)), 1000) * 3, tmp_path) == [], form


def test_each_of_many_ranks_reports_the_same_overflow(tmp_path: Path) -> None:
    lines = [
        line
        for step in range(3000)
        for line in [f"[Rank {rank}] Gradient overflow. Skipping step" for rank in range(8) if step % 1000 == 500]
        + [f"Loss scaler reducing loss scale to {32768.0}" for _ in range(8) if step % 1000 == 500]
        + [loss(step)]
    ]
    assert codes(lines, tmp_path) == []
