"""The values of a run by step: what logs, tables, event files and states of trainers record."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from npulint.runs.read.recorded import recorded_values
from npulint.runs.read.recorded.values import Recorded, quantity_of
from tests.test_series_events import event


def values(folder: Path, name: str, content: str | bytes) -> dict[tuple[str, str], Recorded]:
    """The series of one file by quantity and label."""
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
    return {(one.quantity, one.label): one for one in recorded_values(str(folder / name), name)}


LOGS = {
    "transformers": (
        "{{'loss': {loss}, 'grad_norm': 1.5, 'learning_rate': 5e-05, 'epoch': {epoch}}}",
        {"loss", "grad_norm", "learning_rate"},
        "epoch",
    ),
    "megatron": (
        " iteration {step:8d}/ 1000 | consumed samples: 160 | elapsed time per iteration (ms): 530.1 | learning rate: "
        "1.0E-05 | global batch size: 16 | lm loss: {loss}E+00 | loss scale: 4096.0 | grad norm: 2.3 |",
        {"loss", "grad_norm", "learning_rate", "loss_scale", "step_time"},
        "step",
    ),
    "mmcv": (
        "2026-01-01 00:00:00,000 - mmcls - Iter [{step}/900] lr: 1.0e-02, eta: 1:23:45, time: 0.35, loss: {loss}",
        {"loss", "learning_rate", "step_time"},
        "step",
    ),
    "estimator": ("INFO:tensorflow:loss = {loss}, step = {step} (12.300 sec)", {"loss", "step_time"}, "step"),
    "script": ("iter {step}: loss {loss}, time 20.1ms, mfu 3.1%", {"loss", "step_time"}, "step"),
    "json lines": (
        '{{"current_steps": {step}, "total_steps": 90, "loss": {loss}, "lr": 5e-05}}',
        {"loss", "learning_rate"},
        "step",
    ),
}


@pytest.mark.parametrize("name", LOGS)
def test_lines_of_logs(tmp_path: Path, name: str) -> None:
    line, quantities, axis = LOGS[name]
    text = "".join(
        "noise\n" + line.format(step=step, loss=2 - step / 100, epoch=f"{step / 100:.2f}") + "\n"
        for step in range(10, 60, 10)
    )
    found = values(tmp_path, "train.log", text)
    assert {one.quantity for one in found.values()} == quantities
    (loss,) = [one for one in found.values() if one.quantity == "loss"]
    assert loss.axis == axis
    assert loss.values == pytest.approx([1.9, 1.8, 1.7, 1.6, 1.5])
    assert loss.at == pytest.approx([10, 20, 30, 40, 50] if axis == "step" else [0.1, 0.2, 0.3, 0.4, 0.5])
    assert loss.lines == [2, 4, 6, 8, 10]


def test_steps_of_further_epochs_are_counted_on(tmp_path: Path) -> None:
    text = "".join(
        f"Epoch: [{epoch}][{step}/100] Loss {epoch + 1}.5 (1.5)\n" for epoch in range(2) for step in range(0, 100, 50)
    )
    ((_, loss),) = values(tmp_path, "a.log", text).items()
    assert (loss.at, loss.values) == ([0, 50, 100, 150], [1.5, 1.5, 2.5, 2.5])


def test_values_of_several_ranks_are_averaged(tmp_path: Path) -> None:
    text = "".join(f"[rank{rank}] step {step} loss: {rank}.0\n" for step in (1, 2, 3) for rank in (1, 3))
    ((_, loss),) = values(tmp_path, "a.log", text).items()
    assert (loss.at, loss.values) == ([1, 2, 3], [2.0, 2.0, 2.0])


def test_evaluations_and_records_are_not_the_loss_of_the_training(tmp_path: Path) -> None:
    text = (
        "step 1 loss: 2.0\nEval: step 1 loss: 9.0\n{'eval_loss': 1.0, 'epoch': 1.0}\nstep 2 loss: 1.5, best loss: 1.0\n"
    )
    ((key, loss),) = values(tmp_path, "a.log", text).items()
    assert key == ("loss", "loss") and loss.values == [2.0, 1.5]


def test_a_state_of_a_trainer(tmp_path: Path) -> None:
    history = [
        {"step": 10 * n, "epoch": n / 5, "loss": 2.0, "learning_rate": 1e-5, "grad_norm": math.nan} for n in (1, 2)
    ]
    state = json.dumps({"log_history": [*history, {"step": 20, "eval_loss": 1.0}], "global_step": 20})
    found = values(tmp_path, "trainer_state.json", state)
    assert set(found) == {("loss", "loss"), ("learning_rate", "learning_rate"), ("grad_norm", "grad_norm")}
    assert found["loss", "loss"].at == [10, 20]
    assert all(map(math.isnan, found["grad_norm", "grad_norm"].values))


def test_a_table(tmp_path: Path) -> None:
    found = values(
        tmp_path, "metrics.csv", "epoch,step,train_loss,val_loss,lr-Adam\n0,49,1.5,,\n0,49,,,0.1\n0,99,1.25,2.0,\n"
    )
    assert found["loss", "train_loss"].at == [49, 99] and found["learning_rate", "lr-Adam"].values == [0.1]
    assert len(found) == 2


def test_event_files_of_a_run_that_was_continued_are_one(tmp_path: Path) -> None:
    for name, steps in (("events.out.tfevents.1.a", range(0, 40)), ("events.out.tfevents.2.a", range(30, 60))):
        (tmp_path / name).write_bytes(b"".join(event(step, "train/loss", float(name[20])) for step in steps))
    (loss,) = recorded_values(str(tmp_path), "run")
    assert loss.at == list(range(60)) and loss.values[29:31] == [1.0, 2.0]


def test_of_checkpoints_the_last_state_counts(tmp_path: Path) -> None:
    for steps in (1000, 500, 40):
        place = tmp_path / f"checkpoint-{steps}"
        place.mkdir()
        history = [{"step": step, "loss": 1.0} for step in range(10, steps + 1, 10)]
        (place / "trainer_state.json").write_text(json.dumps({"global_step": steps, "log_history": history}))
    (loss,) = recorded_values(str(tmp_path), "run")
    assert loss.at[-1] == 1000 and loss.path == "run/checkpoint-1000/trainer_state.json"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("trainer_state.json", b"{"),
        ("trainer_state.json", b'{"log_history": [1, {"loss": "x", "step": null}, {"loss": 1e999, "step": 1e999}]}'),
        ("trainer_state.json", b"[" * 100_000),
        ("a.csv", b"step,loss\n1\n\xff\xfe,\n" + b"9" * 400 + b",1\n"),
        ("events.out.tfevents.1.a", b"\xff" * 300),
        ("a.log", b"step " + b"9" * 5000 + b" loss: " + b"9" * 5000),
        ("a.log.gz", b"\x1f\x8b\x08broken"),
    ],
)
def test_broken_files_have_no_values(tmp_path: Path, name: str, content: bytes) -> None:
    assert all(not one.at or math.isfinite(one.at[-1]) for one in values(tmp_path, name, content).values())


def test_links_are_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside.log"
    outside.write_text("step 1 loss: 1.0\n")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "train.log").symlink_to(outside)
    assert recorded_values(str(tmp_path / "run"), "run") == []


@pytest.mark.parametrize(
    ("label", "quantity"),
    [
        ("train/loss", "loss"),
        ("Loss/train", "loss"),
        ("eval/loss", None),
        ("val_loss", None),
        ("best_loss", None),
        ("train/learning_rate", "learning_rate"),
        ("lr-AdamW/pg1", "learning_rate"),
        ("colour", None),
        ("train/grad_norm", "grad_norm"),
        ("loss_scale", "loss_scale"),
        ("step_time", "step_time"),
        ("accuracy", None),
        ("loss_cls", None),
    ],
)
def test_names_of_quantities(label: str, quantity: str | None) -> None:
    assert quantity_of(label) == quantity
