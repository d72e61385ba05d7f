"""From the course of a run to the lines that caused it: loss scale, loss, stalls, compiles."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from npulint.commands.check.pipeline import run
from npulint.judge.findings import Finding, RunResult
from npulint.judge.settings import Settings

TF = """import tensorflow as tf
from npu_bridge.npu_init import *

optimizer = tf.train.AdamOptimizer(1e-3)
manager = ExponentialUpdateLossScaleManager(init_loss_scale=2**32, incr_every_n_steps=1000)
optimizer = NPULossScaleOptimizer(optimizer, manager)
train_op = optimizer.minimize(loss)
config = tf.ConfigProto()
custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = "NpuOptimizer"
custom_op.parameter_map["precision_mode"].s = tf.compat.as_bytes("allow_mix_precision")
custom_op.parameter_map["iterations_per_loop"].i = 50
with tf.Session(config=npu_config_proto(config_proto=config)) as sess:
    for step in range(100000):
        sess.run(train_op)
        if step % 20 == 0:
            print(step)
        if step % 50 == 0:
            saver.save(sess, "model", global_step=step)
"""
TORCH = """import torch
import torch_npu
from torch_npu.npu.amp import GradScaler, autocast

model = Net().npu()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = GradScaler(init_scale=65536.0)
for images, labels in loader:
    with autocast():
        loss = criterion(model(images.npu()), labels.npu())
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
"""


def collapse() -> str:
    lines = ["Using NPU device 0"]
    scale = 2.0**32
    for step in range(400):
        if step > 100 and scale > 1:
            scale /= 2
        lines.append(f"step {step}: loss 2.31 loss_scale: {scale}")
    return "\n".join(lines) + "\n"


def torch_collapse() -> str:
    lines = ["Using NPU device 0", *(f"step {n}: loss 2.5" for n in range(60))]
    for power in range(15, -1, -1):
        lines += ["Gradient overflow. Skipping step", f"Loss scaler reducing loss scale to {2.0**power}"]
    return "\n".join(lines) + "\n"


def stall(every: int, count: int) -> str:
    times = ("24.00" if step % every == 0 and step else "0.21" for step in range(count))
    return "NPU\n" + "".join(f"step {n}: loss {3 / (n + 1):.4f}, {time} seconds/step\n" for n, time in enumerate(times))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "src").mkdir()
    return tmp_path


def checked(folder: Path, log: str, code: str = "", name: str = "train.log", **settings: Any) -> RunResult:
    if code:
        (folder / "src/train.py").write_text(code, encoding="utf-8")
    (folder / name).write_text(log, encoding="utf-8")
    return run(Settings(paths=("src", name) if code else (name,), cache=False, **settings))


def of_run(result: RunResult, code: str) -> Finding:
    (one,) = [one for one in result.findings if one.code == code]
    return one


def related(one: Finding) -> set[tuple[str, int]]:
    return {(place.path, place.span.line) for place in one.related}


def test_a_collapsed_loss_scale_leads_to_its_manager(folder: Path) -> None:
    one = of_run(checked(folder, collapse(), TF), "NPU5230")
    assert (one.path, one.span.line, one.severity) == ("train.log", 134, "error")
    assert "from 4,294,967,296 to 1" in one.message
    assert {("src/train.py", 5), ("src/train.py", 6)} <= related(one)


def test_a_collapsed_loss_scale_leads_to_the_scaler_of_torch(folder: Path) -> None:
    one = of_run(checked(folder, torch_collapse(), TORCH), "NPU5230")
    assert (one.path, one.span.line) == ("train.log", 93)
    assert ("src/train.py", 7) in related(one)


def test_a_collapse_is_told_without_code_and_in_chinese(folder: Path) -> None:
    one = of_run(checked(folder, collapse(), lang="zh"), "NPU5230")
    assert one.related == ()
    assert one.message.startswith("loss scale 从 4,294,967,296 降到 1")


def test_a_stall_leads_to_what_happens_as_often(folder: Path) -> None:
    one = of_run(checked(folder, stall(50, 601), TF), "NPU5361")
    assert (one.path, one.span.line) == ("train.log", 52)
    assert "Every 50 steps" in one.message and "(12 times)" in one.message
    assert {("src/train.py", 12), ("src/train.py", 18)} <= related(one)
    assert ("src/train.py", 16) not in related(one), "what happens every 20 steps is not meant"


@pytest.mark.parametrize(("slow", "told"), [("5.00", True), ("1.00", False)])
def test_an_evaluation_is_told_where_it_costs_much(folder: Path, slow: str, told: bool) -> None:
    log = stall(100, 901).replace("24.00 seconds", f"{slow} seconds")
    assert any(one.code == "NPU5361" for one in checked(folder, log).findings) is told


def test_a_stall_of_another_period_leads_nowhere(folder: Path) -> None:
    assert related(of_run(checked(folder, stall(30, 601), TF), "NPU5361")) == set()


def test_the_steps_of_an_estimator(folder: Path) -> None:
    code = "import tensorflow as tf\nfrom npu_bridge.npu_init import *\n\n"
    code += 'config = NPURunConfig(model_dir="out", save_checkpoints_steps=100, iterations_per_loop=1)\n'
    code += "estimator = NPUEstimator(model_fn=model_fn, config=config)\nestimator.train(input_fn=input_fn)\n"
    assert ("src/train.py", 4) in related(of_run(checked(folder, stall(100, 901), code), "NPU5361"))


def test_a_growing_graph_is_one_finding_with_the_line_that_builds_it(folder: Path) -> None:
    code = "import tensorflow as tf\nfrom npu_bridge.npu_init import *\n\n"
    code += "with tf.Session(config=npu_config_proto()) as sess:\n    for step in range(100000):\n"
    code += "        sess.run(tf.assign(rate, 0.1 / (step + 1)))\n        sess.run(train_op)\n"
    log = "NPU\n" + "".join(f"step {n}: loss {3 / (n + 1):.4f}, {0.2 + n / 400:.3f} seconds/step\n" for n in range(300))
    result = checked(folder, log, code)
    (one,) = [one for one in result.findings if one.code in ("NPU1317", "NPU5364")]
    assert (one.code, one.path, one.span.line) == ("NPU1317", "src/train.py", 6)
    assert ("train.log", 2) in related(one)


def test_tables_are_read_when_they_are_named(folder: Path) -> None:
    rows = "".join(f"{n},{2.3 if n < 40 else 'nan'},{max(2.0 ** (16 - n // 2), 1.0)}\n" for n in range(60))
    table = "step,loss,loss_scale\n" + rows
    assert {one.code for one in checked(folder, table, TORCH, "metrics.csv").findings} >= {"NPU5235", "NPU5230"}
    (folder / "src/metrics.csv").write_text(table, encoding="utf-8")
    found = run(Settings(paths=("src",), cache=False)).findings
    assert not [one for one in found if one.code.startswith("NPU52")], "data beside the code is no run"


def test_ranks_that_compiled_different_graphs(folder: Path) -> None:
    compiled = "I geop_npu.cc:735] The model has been compiled on the Ascend AI processor, current graph id is:{}\n"
    names = []
    for rank, count in ((0, 3), (1, 3), (2, 2)):
        names.append(f"train_rank_{rank}.log")
        text = "".join(compiled.format(1 + 10 * n) for n in range(count))
        timeout = "[EI0002: The wait execution of the Notify register times out.]\n" if rank == 2 else ""
        (folder / names[-1]).write_text(text + timeout, encoding="utf-8")
    one = of_run(run(Settings(paths=tuple(names), cache=False)), "NPU5180")
    assert (one.path, one.span.line) == ("train_rank_2.log", 1)
    assert "rank 2: 2, rank 1: 3" in one.message


def test_a_healthy_run_has_no_finding(folder: Path) -> None:
    lines = [
        f"step {n}: loss {2.5 * 0.99**n:.4f} loss_scale: 65536.0 {0.2 + n % 7 / 50:.2f} s/step" for n in range(900)
    ]
    result = checked(folder, "NPU\n" + "\n".join(lines), select=("NPU5",))
    assert result.findings == []
