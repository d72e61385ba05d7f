"""Summary of a training run for reports: the artifacts read, where the time went, and how values developed."""

from __future__ import annotations

import msgspec


class RunFile(msgspec.Struct, frozen=True):
    """A run artifact: its `form` and `generation` (as in the fact ``run_source``), its rows, the number of malformed
    ones and the line of the first, the required columns that are `missing`, and a `note` when it was not evaluated:
    empty, header, unread, older, first, no-npu, gpu, no-operators, no-kernels, no-values."""

    path: str
    form: str
    generation: int | str = 0
    rows: int = 0
    malformed: int = 0
    first_malformed: int = 0
    missing: str = ""
    note: str = ""


class RunPart(msgspec.Struct, frozen=True):
    """A part of a time: its µs and its share of the total in percent; for operators, their number of kernels."""

    name: str
    us: float
    share: float
    count: int = 0


class RunTimes(msgspec.Struct, frozen=True):
    """How the time of one table is divided. `what`: operators (`parts` are types, `count` is the number of kernels,
    `us` their compute time), step (computing, exposed, free; mean of `count` steps) or iteration (data, compute,
    refresh; medians of `count` iterations). `more` further types take `rest_us`, `rest_share` percent. `line` is the
    row that shows it best."""

    path: str
    line: int
    what: str
    us: float
    count: int
    parts: tuple[RunPart, ...] = ()
    more: int = 0
    rest_us: float = 0.0
    rest_share: float = 0.0


class RunCurve(msgspec.Struct, frozen=True):
    """A value over the run. `what`: loss_scale, loss, accuracy, or similarity (of outputs in graph order). `points`
    are samples of `count` values; None is NaN or infinite. `bad` counts such values or, for a similarity, those
    below 0.98."""

    path: str
    line: int
    what: str
    label: str
    count: int
    points: tuple[float | None, ...]
    first: float | None = None
    last: float | None = None
    minimum: float | None = None
    maximum: float | None = None
    bad: int = 0


class RunStall(msgspec.Struct, frozen=True):
    """Slow steps that recur every `period` steps, `count` times: their share of the total time in percent, the seconds
    if known (else 0), and the worst step as a multiple of the median."""

    path: str
    line: int
    label: str
    period: int
    phase: int
    count: int
    lost_share: float
    lost_seconds: float = 0.0
    worst: float = 0.0


class RunChange(msgspec.Struct, frozen=True):
    """A time of a profile beside that of another one. `what`: step (`name` is step, computing, exposed or free) or
    operator (`name` is a type, or computing for all of them). `us` and `before_us` are of a step or, if `per` is
    profile, of the whole profile. `trend`: slower, faster, alike, new or gone; `change` is in percent of the time
    before, None if there was none. Core types are where most of the time is spent, empty if unknown."""

    path: str
    line: int
    what: str
    name: str
    us: float
    before_us: float
    trend: str
    change: float | None = None
    per: str = "step"
    count: float = 0.0
    before_count: float = 0.0
    core: str = ""
    before_core: str = ""


class RunGraph(msgspec.Struct, frozen=True):
    """Executions of one graph on the device: the first, and the median and maximum of the later ones, in ms."""

    path: str
    line: int
    graph: str
    count: int
    first_ms: float
    median_ms: float
    max_ms: float


class RunSummary(msgspec.Struct, frozen=True):
    """The summary of all artifacts of one project. `left_out` counts curves beyond the limit."""

    files: tuple[RunFile, ...] = ()
    times: tuple[RunTimes, ...] = ()
    curves: tuple[RunCurve, ...] = ()
    stalls: tuple[RunStall, ...] = ()
    graphs: tuple[RunGraph, ...] = ()
    changes: tuple[RunChange, ...] = ()
    left_out: int = 0
