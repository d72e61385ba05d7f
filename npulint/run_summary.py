"""A training run as a whole, as reports tell it: what was read of it, where its time went, how it went."""

from __future__ import annotations

import msgspec


class RunFile(msgspec.Struct, frozen=True):
    """A file that a run left behind: its `form` and `generation` (as of the fact ``run_source``), its rows, how many of
    them are malformed and the line of the first, the needed columns that are `missing`, and a `note` where there is no
    verdict: empty, header, unread, older, first, no-npu, no-operators, no-kernels, no-values."""

    path: str
    form: str
    generation: int | str = 0
    rows: int = 0
    malformed: int = 0
    first_malformed: int = 0
    missing: str = ""
    note: str = ""


class RunPart(msgspec.Struct, frozen=True):
    """A part of some time: its µs and its share of the whole in percent; of operators how many kernels it has."""

    name: str
    us: float
    share: float
    count: int = 0


class RunTimes(msgspec.Struct, frozen=True):
    """Where the time of one table goes. `what`: operators (`parts` are types, `count` is the number of kernels, `us`
    what they computed), step (computing, exposed, free; the mean of `count` steps) or iteration (data, compute,
    refresh; medians of `count` iterations). `more` further types take `rest_us`, `rest_share` percent. `line` shows it
    best."""

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
    """The course of a number. `what`: loss_scale, loss, accuracy, or similarity (of outputs in the order of the graph).
    `points` are few that stand for `count` values; None is no number. Of these values `bad` are no numbers or, of a
    similarity, lie below 0.98."""

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
    """Slow steps that come again every `period` steps, `count` times: the share of the whole time that they lose in
    percent, the seconds where these are known (else 0), and how many times the median the worst takes."""

    path: str
    line: int
    label: str
    period: int
    phase: int
    count: int
    lost_share: float
    lost_seconds: float = 0.0
    worst: float = 0.0


class RunGraph(msgspec.Struct, frozen=True):
    """Runs of one graph on the device: the first one, and the median and the longest of the later ones, in ms."""

    path: str
    line: int
    graph: str
    count: int
    first_ms: float
    median_ms: float
    max_ms: float


class RunSummary(msgspec.Struct, frozen=True):
    """What the artifacts of one project tell as a whole. `left_out` counts pictures that are too many to be kept."""

    files: tuple[RunFile, ...] = ()
    times: tuple[RunTimes, ...] = ()
    curves: tuple[RunCurve, ...] = ()
    stalls: tuple[RunStall, ...] = ()
    graphs: tuple[RunGraph, ...] = ()
    left_out: int = 0
