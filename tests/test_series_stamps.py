"""Steps that stall at regular intervals in logs whose only times are the time stamps of their lines."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta

import pytest

from npulint.runs.read.series.watcher import stamp_of
from tests.test_series_times import facts_of, told

START = datetime(2023, 12, 31, 23, 58, 30)
"""The runs pass midnight and the end of the year."""


def moments(
    steps: int, step: float = 0.2, stalls: Callable[[int], float] = lambda _: 0.0, start: datetime = START
) -> Iterator[tuple[int, datetime]]:
    """The steps of a run, each with the time when its line is printed."""
    numbers, now = random.Random(1), start
    for number in range(steps):
        now += timedelta(seconds=step * numbers.uniform(0.9, 1.1) + stalls(number))
        yield number, now


def every(period: int, seconds: float = 8.0) -> Callable[[int], float]:
    return lambda step: seconds if step and step % period == 0 else 0.0


def milli(now: datetime) -> str:
    return f"{now:%Y-%m-%d %H:%M:%S},{now.microsecond // 1000:03d}"


def plain(step: int, now: datetime) -> str:
    return f"{milli(now)} - INFO - step {step} loss {2.5 - step / 1000:.4f}"


def bar(step: int, now: datetime) -> str:
    minutes, seconds = divmod(int((now - START).total_seconds()), 60)
    return f"loss {2.5 - step / 1000:.4f}: 12%|##  | {step}/999 [{minutes:02d}:{seconds:02d}<10:00]"


FORMATS: dict[str, Callable[[int, datetime], str]] = {
    "logging": plain,
    "tensorflow": lambda n, t: (
        f"I{t:%m%d %H:%M:%S.%f} 14073 basic_session_run_hooks.py:260] loss = 2.{n:04d}, step = {n}"
    ),
    "absl": lambda n, t: f"I{t:%m%d %H:%M:%S.%f} 14073 train.py:26] step {n}: loss 2.{n:04d}",
    "glog": lambda n, t: f"I{t:%m%d %H:%M:%S.%f}  1234 solver.cpp:228] Iteration {n}, loss = 2.{n:04d}",
    "modelarts": lambda n, t: f"[{t:%Y-%m-%d %H:%M:%S}] step {n}: loss=2.{n:04d}",
    "modelarts service": lambda n, t: f"[ModelArts Service Log]{t:%Y-%m-%d %H:%M:%S} step: {n} loss: 2.{n:04d}",
    "iso": lambda n, t: f"{t:%Y-%m-%dT%H:%M:%S.%f}Z train iter {n} loss: 2.{n:04d}",
    "slashes": lambda n, t: f"[{t:%Y/%m/%d %H:%M:%S}] Iteration: {n}/999 total_loss: 2.{n:04d}",
    "tqdm": bar,
    "time.time": lambda n, t: f"{t.timestamp():.3f} step {n} loss 2.{n:04d}",
    "time.time at the end": lambda n, t: f"step {n} loss 2.{n:04d} {t.timestamp():.6f}",
    "strftime": lambda n, t: f"step {n} loss 2.{n:04d} at {t:%H:%M:%S}",
    "ctime": lambda n, t: f"{t:%a %b %d %H:%M:%S %Y} step {n} loss 2.{n:04d}",
    "loguru": lambda n, t: f"{t:%Y-%m-%d %H:%M:%S.%f} | INFO | __main__:train:88 - iter: {n}, loss: 2.{n:04d}",
    "mmcv": lambda n, t: (
        f"{milli(t)} - mmdet - INFO - Epoch [1][{n}/999]\tlr: 1e-3, eta: 1:0{n % 9}:33, loss: 2.{n:04d}"
    ),
    "no year": lambda n, t: f"{t:%m-%d %H:%M:%S} [12345] step={n}, loss=2.{n:04d}",
}


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize(("period", "printed"), [(50, 1), (50, 10), (100, 1), (100, 20)])
def test_every_nth_step_stalls(form: str, period: int, printed: int) -> None:
    steps = [(n, t) for n, t in moments(1000, stalls=every(period, 25.0)) if n % printed == 0]
    (found,) = told([FORMATS[form](n, t) for n, t in steps], "periodic")
    assert (found["period"], found["phase"], found["events"]) == (period, 0, 1000 // period - 1)
    assert found["lost_share"] > 20
    assert found["lost_seconds"] == pytest.approx(25.0 * found["events"], rel=0.1)


def test_the_case_of_a_long_stop_after_fifty_quick_steps() -> None:
    (found,) = told([FORMATS["modelarts"](n, t) for n, t in moments(400, 0.04, every(50, 1200.0))], "periodic")
    assert (found["period"], found["events"], round(found["lost_share"])) == (50, 7, 100)
    assert found["label"] == ""


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("step", [0.01, 0.2, 0.9, 1.1, 3.4])
def test_steady_steps_have_no_period(form: str, step: float) -> None:
    assert not told([FORMATS[form](n, t) for n, t in moments(600, step)], "periodic")


def test_stops_at_odd_places_have_no_period() -> None:
    odd = {7, 31, 64, 109, 173, 190, 222, 301, 377, 458}
    stalls = moments(600, stalls=lambda step: 8.0 if step in odd else 0.0)
    assert not told([plain(n, t) for n, t in stalls], "periodic")


@pytest.mark.parametrize(
    "line",
    [
        "{} - INFO - Evaluating on the validation set",
        "{} - INFO - eval: accuracy 0.71",
        "{} - INFO - Test: [0/391] Time 0.1",
        "{} - mmdet - INFO - Iter(val) [50] bbox_mAP: 0.3",
        "{} - INFO - step {} val_loss 2.1",
        "{} - INFO - Epoch {} begins",
    ],
)
def test_a_pause_that_the_log_explains_is_no_stall(line: str) -> None:
    lines = []
    for number, now in moments(600, stalls=every(50)):
        if number % 50 == 0:
            lines.append(line.format(milli(now - timedelta(seconds=1)), number))
        lines.append(plain(number, now))
    assert not told(lines, "periodic")


def test_the_validation_loss_at_the_end_of_a_line_explains_its_time() -> None:
    run = moments(600, stalls=every(50))
    assert not told([plain(n, t) + (" val_loss: 2.1" if n % 50 == 0 else "") for n, t in run], "periodic")


@pytest.mark.parametrize("first", [0, 1])
def test_the_first_step_of_an_epoch_may_be_slow(first: int) -> None:
    run = moments(600, stalls=every(50))
    assert not told([plain(n % 50 + first, t) for n, t in run], "periodic")
    assert not told([f"Epoch {n // 50} " + plain(n, t) for n, t in moments(600, stalls=every(50))], "periodic")


@pytest.mark.parametrize("first", [0, 1])
def test_stalls_in_short_epochs(first: int) -> None:
    run = moments(1000, stalls=lambda step: 8.0 if step % 100 == 25 or step % 100 == 75 else 0.0)
    (found,) = told([plain(n % 100 + first, t) for n, t in run], "periodic")
    assert (found["period"], found["phase"]) == (50, 25 + first)


def test_ranks_with_names_are_series_of_their_own() -> None:
    for name in ("[Rank {}]", "rank: {},", "[1,{}]<stdout>:", "[default{}]:", "{}:"):
        lines = [f"{name.format(rank)} {plain(n, t)}" for n, t in moments(400, stalls=every(50)) for rank in range(4)]
        (found,) = told(lines, "periodic")
        assert (found["period"], found["points"]) == (50, 400)


@pytest.mark.parametrize("stalled", [True, False])
def test_ranks_without_names_count_once(stalled: bool) -> None:
    numbers = random.Random(2)
    lines = [
        (t + timedelta(seconds=rank * 0.01 + numbers.uniform(0, 0.3)), n)
        for rank in range(4)
        for n, t in moments(400, stalls=every(50) if stalled else lambda _: 0.0)
    ]
    found = told([plain(n, t) for t, n in sorted(lines)], "periodic")
    assert [one["period"] for one in found] == [50] * stalled


@pytest.mark.parametrize("stalled", [True, False])
def test_several_lines_of_one_step_are_one_step(stalled: bool) -> None:
    lines = []
    for number, now in moments(400, stalls=every(50) if stalled else lambda _: 0.0):
        lines += [plain(number, now), f"{milli(now)} - INFO - step {number} lr 0.1", plain(number, now)]
    assert [one["period"] for one in told(lines, "periodic")] == [50] * stalled


def test_lines_that_were_held_back_have_no_times() -> None:
    for form in ("logging", "modelarts"):
        lines = []
        for number, _ in moments(2048):
            flushed = START + timedelta(seconds=25 * (number // 128), milliseconds=(number % 128) // 50)
            lines.append(FORMATS[form](number, flushed))
        assert not told(lines, "periodic")


def test_a_clock_that_is_set_and_a_run_that_is_resumed_are_no_stalls() -> None:
    run = list(moments(600, start=datetime(2024, 3, 2, 12)))
    lines = [plain(n, t - timedelta(hours=n // 100)) for n, t in run]
    lines += [plain(n, t + timedelta(days=3)) for n, t in run[300:]]
    assert not told(lines, "periodic")


def test_times_of_the_script_count_more_than_stamps() -> None:
    run = moments(600, stalls=every(50))
    lines = [f"{plain(n, t)}, {8.2 if n and n % 100 == 0 else 0.2} sec/step" for n, t in run]
    (found,) = told(lines, "periodic")
    assert (found["label"], found["period"]) == ("sec/step", 100)


def test_times_of_a_logging_hook() -> None:
    lines = [
        f"INFO:tensorflow:loss = 2.1, step = {n} ({9.0 if n % 500 == 0 else 1.0} sec)" for n in range(0, 5000, 100)
    ]
    (found,) = told(lines, "periodic")
    assert (found["period"], found["worst"]) == (500, 9)


def test_a_time_without_a_loss_and_a_remaining_time_are_no_stamps() -> None:
    assert not told([plain(n, t).replace("loss", "rate") for n, t in moments(400, stalls=every(50))], "periodic")
    assert stamp_of("step 3, loss 2.0, eta: 1:02:33") is None
    assert stamp_of("step 3, loss 2.0, 1:02:33:44, 12345678901234567") is None


@pytest.mark.parametrize(
    "line", ["step 1 loss 1 " + "1:22:33:" * 2000, "[0:00" * 3000 + "step 1 loss", "step 1 loss" + "1" * 9999]
)
def test_hostile_stamps_raise_nothing(line: str) -> None:
    assert not [fact for fact in facts_of([line] * 30) if fact.name == "periodic"]
