"""Where the time of a step went: computing, communication, idle device, data, the loop of the host.

Sources: `step_trace_time.csv` (torch_npu), `cluster_step_trace_time.csv` (msprof-analyze), `step_trace*.csv` of graph
runs (msprof).
"""

from __future__ import annotations

from typing import BinaryIO

from npulint.facts.model import Fact, GenericFact, Span
from npulint.lazy_regex import lazy_compile
from npulint.read.artifacts.quantities import Values, micro, nanoseconds, share
from npulint.read.artifacts.rows import Row, Seen, rows
from npulint.read.artifacts.skews import PARTS, Rank, skews

_MORE = ("overlapped_us", "communication_us", "bubble_us", "preparing_us")
_RANKS = 100_000
_MODELS = 1000
_INIT_MODEL = "1"
_NUMBER = lazy_compile(r"[0-9]+")


def read_step_trace_time(stream: BinaryIO, path: str, seen: Seen) -> list[Fact]:
    """`run_step`: the means over all steps, at the line of the longest. The time of a step is computing, communication
    that nothing overlaps, and idle time together."""
    sums = dict.fromkeys(PARTS + _MORE, 0.0)
    ends = Values()
    for line, row in rows(stream, "step_trace_time", PARTS + _MORE, seen):
        for key, value in row.number.items():
            sums[key] += value
        ends.add(row.number["computing_us"] + row.number["exposed_us"] + row.number["free_us"], line)
    if not ends.count or ends.total <= 0:
        return []
    attrs: dict[str, object] = {"from": "step_trace_time", "steps": ends.count}
    attrs |= {"step_us": micro(ends.mean), "max_us": micro(ends.largest)}
    sums["exchange_us"] = max(0.0, sums["exposed_us"] - sums["bubble_us"])
    for key in sums:
        attrs[key] = micro(sums[key] / ends.count)
    for key in (*PARTS, "exchange_us", "bubble_us"):
        attrs[key.replace("_us", "_share")] = share(sums[key], ends.total)
    return [GenericFact("run_step", "step", path, Span.at(ends.largest_line or 1), attrs)]


def read_cluster_step_trace_time(stream: BinaryIO, path: str, seen: Seen) -> list[Fact]:
    """`run_skew` for computing, communication, idle time and the share of idle time: how far ranks lie apart."""
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
        """µs from the end of the iteration before until forward begins, by the stamps."""
        start, previous = nanoseconds(row.text.get("fp_start_us")), self.end
        self.end = nanoseconds(row.text.get("end_us"))
        return (start - previous) / 1000 if start is not None and previous is not None and start >= previous else None


def read_step_trace(stream: BinaryIO, path: str, seen: Seen) -> list[Fact]:
    """`run_iteration` for each model of a graph run but the one that initialises (1, if there are others), as medians
    without the first iteration."""
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
    if models and not any(found.time.count for found in models.values()):
        seen.note = "first"
    others = {model for _, model in models if model != _INIT_MODEL}
    return [
        iteration_fact("step_trace", path, found.time, found.data, found.refresh, found.compute, model)
        for (_, model), found in sorted(models.items())
        if found.time.count and not (others and model == _INIT_MODEL)
    ]


def iteration_fact(
    form: str, path: str, time: Values, data: Values, refresh: Values, compute: Values, model: str = ""
) -> Fact:
    """`run_iteration`, at the line of the longest iteration."""
    middle = time.median
    attrs: dict[str, object] = {
        "form": form,
        "iterations": time.count,
        "iteration_us": micro(middle),
        "max_us": micro(time.largest),
    }
    if model:
        attrs["model"] = model
    for key, values in (("data", data), ("refresh", refresh), ("compute", compute)):
        if values.count:
            attrs[f"{key}_us"] = micro(values.median)
            attrs[f"{key}_max_us"] = micro(values.largest)
            attrs[f"{key}_share"] = share(values.median, middle)
    return GenericFact("run_iteration", form, path, Span.at(time.largest_line or 1), attrs)
