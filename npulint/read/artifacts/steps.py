"""Where the time of a step went: computing, communication, idle device, data, the loop of the host.

Sources: `step_trace_time.csv` (torch_npu), `cluster_step_trace_time.csv` (msprof-analyze), `step_trace*.csv` of graph
runs (msprof).
"""

from __future__ import annotations

from typing import BinaryIO

from npulint.facts.model import Fact, Span
from npulint.read.artifacts.figures import Values, micro, nanoseconds, share
from npulint.read.artifacts.rows import Row, Seen, rows

_PARTS = ("computing_us", "exposed_us", "free_us")
_MORE = ("overlapped_us", "communication_us", "bubble_us", "preparing_us")
_RANKS = 100_000
_MODELS = 1000
_INIT_MODEL = "1"


def read_step_trace_time(stream: BinaryIO, path: str, seen: Seen) -> list[Fact]:
    """`run_step`: the means over all steps, at the line of the longest. The time of a step is computing, communication
    that nothing overlaps, and idle time together."""
    sums = dict.fromkeys(_PARTS + _MORE, 0.0)
    ends = Values()
    for line, row in rows(stream, "step_trace_time", _PARTS + _MORE, seen):
        for key in sums:
            sums[key] += row.number.get(key, 0.0)
        ends.add(sum(row.number[key] for key in _PARTS), line)
    if not ends.count or ends.total <= 0:
        return []
    attrs: dict[str, object] = {"steps": ends.count, "step_us": micro(ends.mean), "max_us": micro(ends.largest)}
    for key in (*_PARTS, "communication_us", "overlapped_us", "bubble_us", "preparing_us"):
        attrs[key] = micro(sums[key] / ends.count)
    for key in (*_PARTS, "bubble_us"):
        attrs[key.replace("_us", "_share")] = share(sums[key], ends.total)
    return [Fact("run_step", "step", path, _span(ends.largest_line), attrs)]


class _Rank:
    """All steps of one rank; `line` is its first row."""

    def __init__(self, line: int) -> None:
        self.line = line
        self.parts = dict.fromkeys(_PARTS, 0.0)

    @property
    def whole(self) -> float:
        return sum(self.parts.values())


def read_cluster_step_trace_time(stream: BinaryIO, path: str, seen: Seen) -> list[Fact]:
    """`run_skew` for computing, communication, idle time and the share of idle time: how far ranks lie apart."""
    ranks: dict[str, _Rank] = {}
    for line, row in rows(stream, "cluster_step_trace_time", ("type", "index", *_PARTS), seen):
        if row.text["type"].lower() != "rank" or (row.text["index"] not in ranks and len(ranks) >= _RANKS):
            continue
        rank = ranks.setdefault(row.text["index"], _Rank(line))
        for key in _PARTS:
            rank.parts[key] += row.number[key]
    if len(ranks) < 2:
        return []
    names = {"computing": "computing_us", "communication": "exposed_us", "idle": "free_us"}
    facts = [_skew(name, {rank: found.parts[key] for rank, found in ranks.items()}, ranks, path, "_us")
             for name, key in names.items()]  # fmt: skip
    idle = {rank: share(found.parts["free_us"], found.whole) for rank, found in ranks.items()}
    return [*facts, _skew("idle_share", idle, ranks, path, "")]


def _skew(name: str, values: dict[str, float], ranks: dict[str, _Rank], path: str, unit: str) -> Fact:
    """Ranks wait for the slow one: it computes longest, and its own communication is the shortest."""
    most = max(values, key=lambda rank: values[rank])
    least = min(values, key=lambda rank: values[rank])
    attrs: dict[str, object] = {
        "ranks": len(ranks),
        f"max{unit}": micro(values[most]),
        f"min{unit}": micro(values[least]),
        "most": most,
        "least": least,
        "suspect": least if name == "communication" else most,
        "spread": share(values[most] - values[least], values[most]),
    }
    return Fact("run_skew", name, path, _span(ranks[most].line), attrs)


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
        if key in models or len(models) < _MODELS:
            models.setdefault(key, _Model()).add(line, row)
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
    return Fact("run_iteration", form, path, _span(time.largest_line), attrs)


def _span(line: int) -> Span:
    return Span(line or 1, 1, line or 1, 1)
