"""Breakdown of step time: computing, communication, idle device, data loading, host loop.

Sources: `step_trace_time.csv` (torch_npu), `cluster_step_trace_time.csv` (msprof-analyze), `step_trace*.csv` of graph
runs (msprof)."""

from __future__ import annotations

from typing import Any, BinaryIO

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.kinds import fact_kind
from npulint.facts.model import Fact, FileFact, Span
from npulint.runs.read.quantities import Values, micro, nanoseconds, share
from npulint.runs.read.rows import Row, Seen, rows
from npulint.runs.read.skews import PARTS, Rank, skews

_RANKS = 100_000
_MODELS = 1000
_INIT_MODEL = "1"
_NUMBER = lazy_compile(r"[0-9]+")


@fact_kind("run_step")
class StepBreakdown(FileFact, kw_only=True):
    """Where the time of steps goes (step_trace_time, otherwise a trace), one fact with the means of all steps; the name
    is step. Shares are in percent of the step."""

    traced: bool = False
    """Whether a trace shows it."""
    level: str = "unknown"
    """Of the profile: levelnone level0 level1 level2 unknown."""
    steps: int
    step_us: float
    computing_us: float
    computing_share: float
    exposed_us: float
    """Communication that nothing overlaps."""
    exposed_share: float
    exchange_us: float
    """The same without `bubble_us`."""
    exchange_share: float
    free_us: float
    """The device is idle."""
    free_share: float
    overlapped_share: float = 0.0
    """Of communication, in percent of the step: what runs while the device computes."""
    bubble_us: float | None = None
    """A pipeline stage waits for another one."""
    bubble_share: float | None = None


@fact_kind("run_iteration")
class IterationTimes(FileFact, kw_only=True):
    """Where the time of an iteration of a graph run goes: medians without the first iteration. The name is step_trace
    (TensorFlow) or training_trace (2020)."""

    iterations: int
    iteration_us: float
    data_us: float | None = None
    """Before forward begins."""
    data_share: float | None = None
    refresh_us: float | None = None
    """After backward."""
    refresh_share: float | None = None
    compute_us: float | None = None
    compute_share: float | None = None


def read_step_trace_time(stream: BinaryIO, path: str, seen: Seen) -> list[Fact]:
    """A `run_step` with the means over all steps, at the line of the longest. Step time is computing, communication
    that is not overlapped, and idle time together."""
    wanted = (*PARTS, "bubble_us", "overlapped_us")
    sums = dict.fromkeys(wanted, 0.0)
    ends = Values()
    for line, row in rows(stream, "step_trace_time", wanted, seen):
        for key, value in row.number.items():
            sums[key] += value
        ends.add(row.number["computing_us"] + row.number["exposed_us"] + row.number["free_us"], line)
    if not ends.count or ends.total <= 0:
        return []
    sums["exchange_us"] = max(0.0, sums["exposed_us"] - sums["bubble_us"])
    overlapped = share(sums.pop("overlapped_us"), ends.total)
    means: dict[str, Any] = {key: micro(total / ends.count) for key, total in sums.items()}
    means |= {key.replace("_us", "_share"): share(total, ends.total) for key, total in sums.items()}
    place = Span.at(ends.largest_line or 1)
    return [
        StepBreakdown(
            "step", path, place, steps=ends.count, step_us=micro(ends.mean), overlapped_share=overlapped, **means
        )
    ]


def read_cluster_step_trace_time(stream: BinaryIO, path: str, seen: Seen) -> list[Fact]:
    """A `run_skew` for computing and communication: the differences between ranks."""
    ranks: dict[str, Rank] = {}
    stages: set[frozenset[str]] = set()
    for line, row in rows(stream, "cluster_step_trace_time", ("type", "index", *PARTS, "bubble_us"), seen):
        kind, index = row.text["type"].lower(), row.text["index"]
        if kind == "stage" and len(stages) < _MODELS:
            stages.add(frozenset(_NUMBER.findall(index)))
        if kind != "rank" or (index not in ranks and len(ranks) >= _RANKS):
            continue
        rank = ranks.setdefault(index, Rank(path, line, dict.fromkeys(PARTS, 0.0)))
        rank.bubble += row.number.get("bubble_us", 0.0)
        for key in PARTS:
            rank.parts[key] += row.number[key]
    return skews(ranks, sorted(stages, key=sorted))


class _Model:
    """The iterations of one graph on one device, without the first."""

    def __init__(self) -> None:
        self.time, self.data, self.refresh, self.compute = Values(), Values(), Values(), Values()
        self.end: int | None = None

    def add(self, line: int, row: Row) -> None:
        bound = row.number.get("data_bound_us")
        if bound is None:
            bound = self._before_forward(row)
        if row.text["iteration"] == "1":
            return
        self.time.add(row.number["iteration_us"], line)
        if bound is not None:
            self.data.add(bound)
        for values, key in ((self.refresh, "refresh_us"), (self.compute, "fp_to_bp_us")):
            if key in row.number:
                values.add(row.number[key])

    def _before_forward(self, row: Row) -> float | None:
        """µs from the end of the previous iteration to the beginning of forward, by timestamps."""
        start, previous = nanoseconds(row.text.get("fp_start_us")), self.end
        self.end = nanoseconds(row.text.get("end_us"))
        return (start - previous) / 1000 if start is not None and previous is not None and start >= previous else None


def read_step_trace(stream: BinaryIO, path: str, seen: Seen) -> list[Fact]:
    """A `run_iteration` for each model of a graph run except the initialising one (1, if there are others), with
    medians without the first iteration."""
    wanted = ("device", "iteration", "fp_start_us", "end_us", "iteration_us", "fp_to_bp_us", "refresh_us",
              "data_bound_us", "model")  # fmt: skip
    models: dict[tuple[str, str], _Model] = {}
    for line, row in rows(stream, "step_trace", wanted, seen):
        key = row.text.get("device", ""), row.text.get("model", "")
        model = models.get(key)
        if model is None and len(models) < _MODELS:
            model = models[key] = _Model()
        if model is not None:
            model.add(line, row)
    if models and not any(iterations.time.count for iterations in models.values()):
        seen.note = "first"
    others = {model for _, model in models if model != _INIT_MODEL}
    return [
        iteration_fact("step_trace", path, iterations.time, iterations.data, iterations.refresh, iterations.compute)
        for (_, model), iterations in sorted(models.items())
        if iterations.time.count and not (others and model == _INIT_MODEL)
    ]


def iteration_fact(form: str, path: str, time: Values, data: Values, refresh: Values, compute: Values) -> Fact:
    """A `run_iteration`, at the line of the longest iteration."""
    middle = time.median
    parts: dict[str, Any] = {}
    for key, values in (("data", data), ("refresh", refresh), ("compute", compute)):
        if values.count:
            parts |= {f"{key}_us": micro(values.median), f"{key}_share": share(values.median, middle)}
    place = Span.at(time.largest_line or 1)
    return IterationTimes(form, path, place, iterations=time.count, iteration_us=micro(middle), **parts)


# Step traces of 2020: text lines with timestamps (10 ns ticks) of forward start, backward end and iteration end.

_TICK_US = 0.01
_LINE = 1 << 12
_MARK = lazy_compile(rb"(FP_start|BP_end|iteration_end)\s*[=:,]\s*(\d{1,18})\s*\Z")


def read_training_trace(stream: BinaryIO, path: str, seen: Seen) -> list[Fact]:
    """A `run_iteration`: from the end of an iteration to the end of the next, and the time until forward begins."""
    time, data, refresh, compute = Values(), Values(), Values(), Values()
    start = back = end = -1
    number, ended = 0, True
    while text := stream.readline(_LINE):
        number, ended = number + ended, text.endswith(b"\n")
        match = _MARK.search(text)
        if match is None:
            continue
        mark, tick = match.group(1), int(match.group(2))
        if mark == b"FP_start":
            start, back = tick, -1
        elif mark == b"BP_end":
            back = tick
        else:
            seen.rows += 1
            if end >= 0 and end <= start <= tick:
                time.add((tick - end) * _TICK_US, number)
                data.add((start - end) * _TICK_US)
                if start <= back <= tick:
                    compute.add((back - start) * _TICK_US)
                    refresh.add((tick - back) * _TICK_US)
            start, end = -1, tick
    return [iteration_fact("training_trace", path, time, data, refresh, compute)] if time.count else []
