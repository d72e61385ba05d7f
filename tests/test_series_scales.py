"""The course of a loss scale, from the lines of every format."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from npulint.runs.read.series import SeriesWatcher
from tests.fact_support import attrs_of


def scales_of(lines: list[str]) -> list[dict[str, Any]]:
    watcher = SeriesWatcher()
    for number, line in enumerate(lines, 1):
        watcher.see(number, line)
    return [attrs_of(fact) for fact in watcher.facts("train.log") if fact.name == "loss_scale"]


def one(lines: list[str]) -> dict[str, Any]:
    (attributes,) = scales_of(lines)
    return attributes


def steps(first: int, count: int) -> list[str]:
    return [f"step {number}: loss 2.5" for number in range(first, first + count)]


def test_apex_warm_up_is_no_overflow() -> None:
    down = "Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to {}"
    lines = [line for power in (15, 14, 13) for line in (down.format(2.0**power), f"step {16 - power}: loss 2.5")]
    told = one(lines + steps(4, 500))
    assert (told["drops"], told["late_drops"], told["skipped"]) == (3, 0, 3)
    assert (told["first"], told["last"], told["minimum"]) == (65536, 8192, 8192)


def test_apex_falls_without_end() -> None:
    lines = steps(0, 300)
    for index in range(16):
        value = 2.0 ** (15 - index)
        lines += [
            f"Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to {value}",
            *steps(300 + index, 1),
        ]
    told = one(lines)
    assert (told["minimum"], told["late_drops"], told["longest_run"], told["static"]) == (1, 16, 16, "no")
    assert told["share"] == pytest.approx(5.1)


def test_a_scale_that_has_risen_between_falls_anew() -> None:
    line = "Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to 32768.0"
    told = one([*steps(0, 100), line, *steps(100, 2000), line, *steps(2100, 2000), line])
    assert (told["drops"], told["longest_run"], told["minimum"]) == (3, 1, 32768)
    assert told["share"] == 0.1


def test_ranks_that_say_the_same_are_one() -> None:
    line = "Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to 32768.0"
    told = one([*steps(0, 30), *[line] * 8, *steps(30, 30)])
    assert (told["drops"], told["skipped"]) == (1, 1)


def test_torch_npu() -> None:
    lines = [*steps(0, 40), "Gradient overflow. Skipping step", "Loss scaler reducing loss scale to 32768.0"]
    lines += [*steps(40, 10), "Loss scaler increasing loss scale to 65536.0"]
    told = one(lines)
    assert (told["skipped"], told["drops"], told["last"]) == (1, 1, 65536)


def test_torch_npu_with_a_static_scale_loses_steps() -> None:
    told = one([*steps(0, 40), *["Gradient overflow. Skipping step"] * 5])
    assert (told["static"], told["skipped"]) == ("yes", 5)


def test_deepspeed_tells_the_start_and_one_rank_counts() -> None:
    lines = []
    for power in range(32, 15, -1):
        for rank in (0, 1):
            change = f"Attempted loss scale: {2**power}, reducing to {2 ** (power - 1)}"
            lines.append(f"[deepspeed] OVERFLOW! Rank {rank} Skipping step. {change}")
    told = one(lines + steps(0, 100))
    assert (told["first"], told["last"], told["drops"], told["late_drops"]) == (2**32, 2**15, 17, 0)
    assert told["scaler"] == "0"


def test_deepspeed_at_the_least_scale_still_skips() -> None:
    line = "OVERFLOW! Rank 0 Skipping step. Attempted loss scale: 1, reducing to 1"
    told = one([*steps(0, 30), *[line] * 4])
    assert (told["minimum"], told["skipped"]) == (1, 4)


def test_fairseq_gives_up() -> None:
    lines = ["gradient overflow detected, ignoring gradient, setting loss scale to: 64.0"]
    told = one([*lines, "FloatingPointError: Minimum loss scale reached (0.0001). Your loss is probably exploding."])
    assert (told["limit_reached"], told["minimum"]) == ("yes", 0.0001)


def test_megatron_counts_skipped_steps() -> None:
    lines = [
        f" iteration {number * 10:8d}/  500000 | lm loss: 1.05E+01 | loss scale: {scale} | grad norm: 1.0 | "
        f"number of skipped iterations: {skipped:3d} | number of nan iterations:   0 |"
        for number, (scale, skipped) in enumerate([(65536.0, 0)] * 30 + [(32768.0, 1)] * 10, 1)
    ]
    told = one(lines)
    assert (told["points"], told["skipped"], told["late_drops"], told["share"]) == (40, 10, 1, 2.6)


@pytest.mark.parametrize(
    "form",
    [
        "loss_scale = {}",
        "step 3 loss_scale is: {}",
        ">>> Current Loss Scale >>>  [{}]",
        "loss_scale: [[{}]]",
        "| loss 4.1 | loss_scale {} |",
        "{{'loss': 2.1, 'loss_scale': {}}}",
        "PrecisionTool: Train steps 7, loss_scale={} / not_overflow_status=True",
    ],
)
def test_forms_with_a_value_each_step(form: str) -> None:
    told = one([form.format(value) for value in [1024.0] * 30 + [512.0, 256.0, 128.0]])
    assert (told["first"], told["last"], told["points"], told["late_drops"]) == (1024, 128, 33, 3)
    assert told["longest_run"] == 3


def test_precision_tool_counts_overflows() -> None:
    lines = [f"PrecisionTool: Train steps {n}, loss_scale=1024.0 / not_overflow_status={n % 2 == 0}" for n in range(40)]
    told = one(lines)
    assert (told["skipped"], told["static"]) == (20, "yes")


def test_hook_of_a_static_scale() -> None:
    told = one(["Find overflow in this step, skip apply gradients, loss scale value=4096"] * 5)
    assert (told["static"], told["skipped"], told["last"]) == ("yes", 5, 4096)


@pytest.mark.parametrize(
    "lines",
    [
        ["  loss_scaler            128.0", *steps(0, 50)],
        [*[" 'loss_scale': 1024,"] * 8, *steps(0, 50)],
        ["init_loss_scale: 65536", "loss_scale_window: 1000", "min_loss_scale = 1"] * 30,
    ],
)
def test_a_dump_of_the_configuration_is_no_series(lines: list[str]) -> None:
    assert not scales_of(lines)


WORDS = "loss scale scaler nan inf step 12 3.5 is : = overflow gradient time samples/s [ ] / per epoch it/s compiled"
NOISE = st.sampled_from(WORDS.split())


@settings(max_examples=150, deadline=None)
@given(st.lists(st.lists(NOISE, max_size=12).map(lambda words: "note " + " ".join(words)), max_size=2))
def test_few_words_of_the_field_are_no_series(lines: list[str]) -> None:
    watcher = SeriesWatcher()
    for number, line in enumerate(lines, 1):
        watcher.see(number, line)
    assert watcher.facts("x") == []


@settings(max_examples=150, deadline=None)
@given(st.lists(st.text(max_size=200), max_size=40))
def test_noise_is_no_series(lines: list[str]) -> None:
    watcher = SeriesWatcher()
    for number, line in enumerate(lines, 1):
        watcher.see(number, line)
    assert watcher.facts("x") == []


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from((0.5, 1.0, 2.0)), min_size=25, max_size=80))
def test_what_is_told_is_what_was_printed(factors: list[float]) -> None:
    values = [2.0**20]
    for factor in factors:
        values.append(values[-1] * factor)
    told = one([f"step {number}, loss_scale: {value}" for number, value in enumerate(values)])
    drops = sum(factor < 1 for factor in factors)
    assert told["drops"] == drops
    assert (told["static"] == "no") == any(factor != 1 for factor in factors)
    assert told["minimum"] == pytest.approx(min(values), rel=1e-5)
    assert told["longest_run"] <= told["late_drops"] <= drops
