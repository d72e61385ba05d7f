"""Losses, times of steps and device graphs of a log."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from npulint.facts.model import Fact
from npulint.runs.read.series import SeriesWatcher
from npulint.runs.read.series.stalls import periods
from npulint.runs.read.series.step_rate import timing_of
from tests.fact_support import attrs_of
from tests.growth import ended_if_stuck

_GIVEN = Path(__file__).parent.parent.parent / "shared" / "samples"
SAMPLES = _GIVEN if _GIVEN.is_dir() else None


def facts_of(lines: list[str]) -> list[Fact]:
    watcher = SeriesWatcher()
    for number, line in enumerate(lines, 1):
        watcher.see(number, line)
    return watcher.facts("train.log")


def told(lines: list[str], name: str) -> list[dict[str, Any]]:
    return [attrs_of(fact) for fact in facts_of(lines) if fact.name == name]


@pytest.mark.parametrize(
    ("line", "seconds"),
    [
        ("epoch 0, total_step 20, loss is 5.0, time 200.0 samples/sec", 0.005),
        ("throughput: 50.0", 0.02),
        ("global_step/sec: 4.0", 0.25),
        ("examples/sec: 80", 0.0125),
        ("FPS: 100", 0.01),
        ("samples_per_second = 20", 0.05),
        ("  1%| | 112/14471 [04:21<1:45:56,  2.00it/s]", 0.5),
        ("  1%| | 112/14471 [04:21<1:45:56,  2.00s/it]", 2.0),
        ("390/390 [====] - 93s 238ms/step - loss: 0.4", 0.238),
        ("Step 10, loss 1.2, 0.20 seconds/step", 0.2),
        ("epoch 1  step 39  loss 0.05 - time per batch 19.25", 19.25),
        ("iteration 10/ 500 | elapsed time per iteration (ms): 612.5 | lm loss: 1.0", 0.6125),
        ("this step use time: %s 0:00:01.500000", 1.5),
        ("Epoch: [0][10/500] Time 0.123 (0.130) Loss 2.3", 0.123),
        ("time cost: 12 ms", 0.012),
    ],
)
def test_forms_of_times(line: str, seconds: float) -> None:
    timing = timing_of(line.lower())
    assert timing is not None
    assert timing.seconds == pytest.approx(seconds)


@pytest.mark.parametrize(
    "line", ["see /usr/local/src/step.py", "0.00 it/s", "step 3, loss 2.0", "5 steps done", "time to go", "fps"]
)
def test_no_time(line: str) -> None:
    assert timing_of(line.lower()) is None


def test_every_fiftieth_step_stalls() -> None:
    lines = [f"step {n}, loss 2.0, {30.0 if n % 50 == 0 else 0.1} sec/step" for n in range(1, 1001)]
    (found,) = told(lines, "periodic")
    assert (found["period"], found["phase"], found["events"]) == (50, 0, 20)
    assert found["lost_seconds"] == pytest.approx(20 * 29.9)
    assert found["worst"] == 300


def test_the_length_of_the_numbers_between_makes_no_other_series() -> None:
    scales = (2.0**32, 1e-05, float("nan"), 1.0)
    lines = [f"step {n}, loss 0.5, loss_scale = {scales[n % 4]}, 0.{61 + n % 3:03d} sec/step" for n in range(1, 81)]
    (pace,) = told(lines, "pace")
    assert pace["points"] == 80


def test_slow_steps_at_odd_places_have_no_period() -> None:
    odd = {7, 31, 64, 109, 173, 190, 222, 301, 377, 458}
    lines = [f"step {n}, {5.0 if n in odd else 0.1} sec/step" for n in range(1, 501)]
    assert not told(lines, "periodic")
    assert told(lines, "pace")[0]["worst"] == 50


def test_times_since_the_start_are_made_times_of_steps() -> None:
    clock, lines = 0.0, []
    for n in range(1, 400):
        clock += 20.0 if n % 100 == 0 else 1.0
        lines.append(f"Iteration {n}: 0.2, 0.48  time: {clock}")
    (pace,) = told(lines, "pace")
    assert pace["worst"] == 20


def test_a_run_that_slows_down() -> None:
    (pace,) = told([f"step {n}, {0.1 + n * 0.001} sec/step" for n in range(200)], "pace")
    assert pace["slowdown"] > 60
    (pace,) = told([f"step {n}, 0.1 sec/step" for n in range(200)], "pace")
    assert pace["slowdown"] == 0


@settings(max_examples=60, deadline=None)
@given(st.integers(3, 400), st.integers(0, 399), st.integers(1, 3))
def test_any_period_is_found(every: int, phase: int, stride: int) -> None:
    steps = list(range(0, every * stride * 12, stride))
    slow = [index for index, step in enumerate(steps) if step % (every * stride) == (phase % every) * stride]
    found = periods(steps, slow)
    assert found[0].every == every * stride
    assert found[0].events == slow


def test_loss_that_becomes_nan() -> None:
    lines = [f"step {n}, loss_scale: 1024.0, loss: {'nan' if n >= 20 else 2.0 - n * 0.05}" for n in range(30)]
    (loss,) = told(lines, "loss")
    assert (loss["bad"], loss["bad_value"], loss["numbers_before"]) == (10, "nan", 20)
    assert (loss["scale_before"], loss["recovered"], loss["last"]) == (1024, 0, 1.05)


def test_flat_and_falling_losses() -> None:
    (flat,) = told([f"step {n} loss = {2.3026 + (n % 3) * 0.001}" for n in range(100)], "loss")
    assert flat["spread"] < 1 and abs(flat["change"]) < 1
    (falling,) = told([f"step {n} loss = {2.3 / (1 + n)}" for n in range(100)], "loss")
    assert falling["spread"] > 50 and falling["change"] < -80


@pytest.mark.parametrize(
    "form",
    [
        "loss: {}",
        "Loss={}",
        "total loss is {} , other 3",
        "loss {}",
        "{{'loss': {}}}",
        "loss: tensor({}, x)",
        "loss [[{}]]",
    ],
)
def test_forms_of_losses(form: str) -> None:
    (loss,) = told([form.format(value) for value in ("4.5", "3.5", "2.5")], "loss")
    assert (loss["first"], loss["last"], loss["points"]) == (4.5, 2.5, 3)


def test_words_are_no_loss() -> None:
    assert not told(["stop when loss is nan", "the loss is inf here", "loss weight: 3", "loss_weight 3"] * 5, "loss")


COMPILED = (
    "2022-08-04 21:24:{:06.3f}: I tf_adapter/kernels/geop_npu.cc:805] The model has been compiled on the Ascend AI "
    "processor, current graph id is: {}"
)


def test_compiles_in_a_burst_and_late() -> None:
    early = [COMPILED.format(n * 10, 1 + 10 * n) for n in range(2)]
    late = [COMPILED.format(50 + n * 0.5, 21 + 10 * n).replace("is: ", "is:") for n in range(4)]
    steps = [f"step {n}: loss 2.0" for n in range(100)]
    lines = [*early, *steps[:80], *late, *steps[80:]]
    (graph,) = told(lines, "graph")
    assert (graph["graphs"], graph["ids"], graph["burst"], graph["late"]) == (6, "1 11 21 31 41 51", 4, 4)
    assert next(fact for fact in facts_of(lines) if fact.kind == "run_compile").span.line == 83


def test_compiles_of_a_process_that_begins_late_are_not_late() -> None:
    steps = [f"step {n}: loss 2.0" for n in range(100)]
    first, second = ([COMPILED.format(n * 10, 1 + 10 * n) for n in range(count)] for count in (3, 4))
    (graph,) = told([*first, *steps, *second, *steps[:30]], "graph")
    assert (graph["graphs"], graph["most"], graph["late"]) == (7, 4, 0)


@pytest.mark.parametrize("name", ["best loss", "best_val_loss", "min loss", "lowest train loss", "current best loss"])
def test_the_best_so_far_is_no_course(name: str) -> None:
    assert not told([f"step {n} {name}: inf" for n in range(5)] + [f"step {n} {name}: 2.0" for n in range(60)], "loss")
    assert not told([f"step {n} {name.replace('loss', 'accuracy')}: 0.0" for n in range(60)], "accuracy")


def test_the_loss_that_is_told_is_one_that_is_not_switched_off() -> None:
    lines = [f"iter {n}: loss_cls: 0.0000, loss_bbox: {3 - n / 100}" for n in range(60)]
    (loss,) = told(
        [line.replace("loss_cls:", "cls loss:").replace("loss_bbox:", "box loss:") for line in lines], "loss"
    )
    assert loss["label"] == "box loss"
    (loss,) = told([f"iter {n}: loss: 0.0" for n in range(60)], "loss")
    assert loss["maximum"] == 0, "the only one is told"


def test_a_graph_of_samples_is_small_beside_that_of_batches() -> None:
    run = "I geop_npu.cc:573] [GEOP] RunGraphAsync callback, status:0, kernel_name:GeOp{}_0[ 9000us]"
    size = "I geop_npu.cc:103] BuildOutputTensorInfo, output index:0, total_bytes:{}, shape: 1"
    lines = [
        text for name, many in (("A", 1000), ("B", 9999), ("C", 100)) for text in (size.format(many), run.format(name))
    ]
    assert {one["graph"]: one["small"] for one in told(lines, "graph_runs")} == {
        "GeOpA_0": "no",
        "GeOpB_0": "no",
        "GeOpC_0": "yes",
    }
    assert [one["small"] for one in told([run.format("A"), run.format("B")], "graph_runs")] == ["no", "no"]


def test_where_a_loss_is_lost_and_what_it_ends_at() -> None:
    (loss,) = told([f"step {n}: loss {'nan' if n >= 30 else 30 - n}" for n in range(60)], "loss")
    assert (loss["numbers_before"], loss["recovered"], loss["end"], loss["curve"][:3]) == (30, 0, 2, [30, 29, 28])


def test_runs_of_a_graph() -> None:
    run = "I geop_npu.cc:573] [GEOP] RunGraphAsync callback, status:0, kernel_name:GeOp3_0[ {}us]"
    size = "I geop_npu.cc:103] BuildOutputTensorInfo, output index:0, total_bytes:15680, shape: 1 98 40"
    times = [900_000, *[9_000] * 60, 200_000, *[9_000] * 40]
    (runs,) = told([line for value in times for line in (size, run.format(value))], "graph_runs")
    assert (runs["runs"], runs["first_ms"], runs["median_ms"], runs["spikes"]) == (102, 900, 9, 1)
    assert (runs["max_ms"], runs["output_bytes"]) == (200, 15680)


def test_the_log_of_the_runtime_has_no_times_of_steps() -> None:
    line = "[EVENT] FE(146,python):2020-12-05-11:53:48.118.910 [graph_fusion.cpp:634]789 Run: time cost: 12 ms, step 3"
    assert not facts_of([line] * 50)


@pytest.mark.parametrize(
    "line",
    [
        "time" + " " * 16000,
        "1" * 16000,
        "loss" * 4000,
        "step " * 3000,
        "1." * 8000,
        "loss_scale " * 1500,
        "time per " * 1800,
    ],
)
def test_hostile_lines_are_quick(line: str) -> None:
    watcher = SeriesWatcher()
    with ended_if_stuck():
        for number in range(20):
            watcher.see(number, line)


def test_long_logs_are_thinned_but_overflows_are_all_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("npulint.runs.read.series.watcher._FULL", 100)
    lines = [f"step {n}, loss: 2.0, 0.1 sec/step" for n in range(2000)]
    for n in range(5):
        lines.insert(300 * (n + 1), "Find overflow in this step, skip apply gradients, loss scale value=4096")
    lines.insert(1777, "step 1770, loss: nan")
    facts = {fact.name: attrs_of(fact) for fact in facts_of(lines)}
    assert facts["loss_scale"]["skipped"] == 5
    assert facts["loss"]["bad_value"] == "nan"
    assert facts["loss"]["points"] < 300


def sample(name: str) -> list[Fact]:
    if SAMPLES is None:
        pytest.skip("no samples here")
    (path,) = list(SAMPLES.glob(f"**/{name}"))
    watcher = SeriesWatcher()
    with path.open("rb") as stream:
        for number, line in enumerate(stream, 1):
            if any(want in line for want in watcher.wants):
                for part in line.decode("utf-8", "replace").rstrip("\n").split("\r"):
                    watcher.see(number, part)
    return watcher.facts(name)


def test_sample_with_stalls_each_300_steps() -> None:
    facts = sample("if_npu.log")
    by_300, by_2000 = (attrs_of(fact) for fact in facts if fact.name == "periodic")
    assert by_300["points"] == 14199
    assert (by_300["period"], by_300["events"], by_2000["period"], by_2000["events"]) == (300, 946, 2000, 141)
    assert next(fact for fact in facts if fact.kind == "run_compile").get("graphs") == 7


def test_sample_with_31_compiles() -> None:
    (graph,) = (attrs_of(fact) for fact in sample("cpc_npu.log") if fact.kind == "run_compile")
    assert (graph["graphs"], graph["ids"].split()[-1]) == (31, "291")
    assert graph["burst"] >= 20


def test_sample_with_a_graph_for_each_sample() -> None:
    graphs = {fact.get("graph"): attrs_of(fact) for fact in sample("ds-cnn_tf_hw81087854/train.log")}
    runs = graphs["GeOp21_0"]
    assert (runs["runs"] - 1, runs["output_bytes"], round(runs["median_ms"], 1)) == (763, 15680, 9.5)
    assert round(runs["first_ms"]) == 11595 or round(runs["first_ms"]) == 11596
    assert round(graphs["GeOp3_0"]["first_ms"]) == 3993


@pytest.mark.parametrize("job", ["job5c32ed15", "jobf609c0c2"])
def test_sample_with_a_dumped_scale(job: str) -> None:
    assert not [fact for fact in sample(f"{job}*stdout.log") if fact.name == "loss_scale"]
