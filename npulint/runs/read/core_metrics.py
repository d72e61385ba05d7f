"""Metrics of single cores while one kernel ran: what msopprof measures of an operator.

Sources: `OpBasicInfo.csv`, `PipeUtilization.csv`, `ResourceConflictRatio.csv`, `ArithmeticUtilization.csv`,
`L2Cache.csv` and `Memory.csv` in an ``OPPROF_`` folder. Each row is one core; ratios there are parts of its cycles."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import BinaryIO, Literal

from npulint.facts.kinds import fact_kind
from npulint.facts.model import Fact, FileFact, Span
from npulint.runs.read.quantities import Values, micro, share
from npulint.runs.read.rows import Row, Seen, rows

CoreKind = Literal["cube", "vector"]
Pipe = Literal["cube", "vec", "scalar", "mte1", "mte2", "mte3", "fixpipe", "none"]

_TEXT = 200
_PIPES: tuple[tuple[CoreKind, str, tuple[Pipe, ...]], ...] = (
    ("cube", "aic", ("cube", "vec", "scalar", "mte1", "mte2", "mte3", "fixpipe")),
    ("vector", "aiv", ("vec", "scalar", "mte2", "mte3")),
)
_TIMES = {"aic": "cube_us", "aiv": "vector_us"}


@fact_kind("run_measured")
class MeasuredKernel(FileFact):
    """A kernel that msopprof measured (OpBasicInfo); the name is that of the operator."""

    type: str
    duration_us: float
    block: int
    """0 unknown, as the next."""
    mix_block: int
    slowed: float | None
    """How much the clock was below its rated frequency, in percent."""


@fact_kind("run_pipes")
class PipeUse(FileFact):
    """What the cores of a measured kernel do with their time (PipeUtilization), one fact for each kind of core, with
    means in percent of their cycles; the name is cube or vector. Pipes work at the same time: parts do not add up."""

    name: CoreKind
    op: str
    """The folder of the table, which is called after the kernel or the profile."""
    cores: int
    mean_us: float
    longest_us: float
    uneven: float
    """How much longer the longest core takes than the mean, in percent."""
    bound: Pipe
    """The pipe with the largest part; none if no pipe is measured."""
    bound_share: float
    compute: float
    """Cube or vector instructions, the larger."""
    scalar: float
    mte1: float
    """Copies within the core (L1 to L0)."""
    mte2: float
    """Copies from memory into the core."""
    mte3: float
    """Copies from the core to memory."""
    fixpipe: float
    icache: float
    """Misses of the instruction cache, in percent."""


@fact_kind("run_conflicts")
class CoreConflicts(FileFact):
    """What vector and cube units of a measured kernel wait for (ResourceConflictRatio), means in percent of the
    instructions' cycles; the name is core."""

    op: str
    bankgroup: float
    """Several addresses in one group of banks of the unified buffer."""
    bank: float
    """Read and write in one bank."""
    resource: float
    mte: float
    total: float
    vector_wait: float
    cube_wait: float


@fact_kind("run_arithmetic")
class CoreArithmetic(FileFact):
    """Which instructions a measured kernel spends its cycles on (ArithmeticUtilization), means in percent; the name is
    core."""

    op: str
    cube: float
    cube_fp16: float
    cube_int8: float
    vector: float
    vector_fp32: float
    vector_fp16: float
    vector_int32: float
    vector_misc: float
    """Conversions, comparisons, selections and the like."""


@fact_kind("run_core_cache")
class CoreCache(FileFact):
    """How often reads and writes of a measured kernel hit the L2 cache (L2Cache), for each kind of core; the name is
    cube or vector."""

    name: CoreKind
    op: str
    hit: float
    """In percent."""


@fact_kind("run_core_memory")
class CoreMemory(FileFact):
    """Traffic between cores and memory of a measured kernel (Memory); the name is core. Usages are in percent of the
    bandwidth of a channel, the mean of the cores."""

    op: str
    read_kb: float
    written_kb: float
    usage: float
    """Of the busiest channel."""
    channel: str
    """gm_to_ub ub_to_gm gm_to_l1 l0c_to_gm"""


class _Means:
    """The mean of each column over the rows in which it has a number."""

    def __init__(self) -> None:
        self._values: dict[str, Values] = {}
        self.first = 0

    def add(self, line: int, row: Row) -> None:
        self.first = self.first or line
        for key, value in row.number.items():
            self._values.setdefault(key, Values()).add(value, line)

    def of(self, key: str) -> float:
        """The mean; 0 without a number."""
        values = self._values.get(key)
        return values.mean if values is not None else 0.0

    def percent(self, key: str) -> float:
        """The mean of a ratio as percent."""
        return round(100 * max(min(self.of(key), 1e6), 0.0), 1)

    def times(self, key: str) -> Values:
        return self._values.get(key) or Values()


def _op(path: str) -> str:
    """The folder of a table: numbers of repetitions belong to the kernel above."""
    parts = [folder for folder in path.replace("\\", "/").split("/")[:-1] if folder]
    while len(parts) > 1 and parts[-1].isdecimal():
        parts.pop()
    return parts[-1][:_TEXT] if parts else os.path.basename(path)[:_TEXT]


def read_basic(stream: BinaryIO, path: str, seen: Seen) -> list[Fact]:
    """A `run_measured` for each kernel."""
    wanted = ("name", "type", "duration_us", "block", "mix_block", "freq", "rated")
    return [_measured(line, row, path) for line, row in rows(stream, seen.form, wanted, seen)]


def _measured(line: int, row: Row, path: str) -> Fact:
    freq, rated = row.number.get("freq"), row.number.get("rated")
    slowed = share(rated - freq, rated) if freq and rated and freq < rated else None
    return MeasuredKernel(
        row.text.get("name", "")[:_TEXT] or _op(path),
        path,
        Span.at(line),
        type=row.text.get("type", "")[:_TEXT],
        duration_us=micro(row.number["duration_us"]),
        block=int(row.number.get("block", 0)),
        mix_block=int(row.number.get("mix_block", 0)),
        slowed=slowed,
    )


def _means(stream: BinaryIO, seen: Seen, wanted: Sequence[str]) -> _Means:
    means = _Means()
    for line, row in rows(stream, seen.form, wanted, seen):
        means.add(line, row)
    return means


def read_pipes(stream: BinaryIO, path: str, seen: Seen) -> list[Fact]:
    """A `run_pipes` for each kind of core that ran."""
    wanted = [f"{prefix}_{pipe}" for _, prefix, pipes in _PIPES for pipe in (*pipes, "icache")]
    means = _means(stream, seen, (*wanted, *_TIMES.values()))
    pipe_uses = (_pipes(kind, prefix, pipes, means, path) for kind, prefix, pipes in _PIPES)
    return [pipe_use for pipe_use in pipe_uses if pipe_use is not None]


def _pipes(kind: CoreKind, prefix: str, pipes: Sequence[Pipe], means: _Means, path: str) -> PipeUse | None:
    times = means.times(_TIMES[prefix])
    parts = {pipe: means.percent(f"{prefix}_{pipe}") for pipe in pipes}
    if times.mean <= 0 or not any(parts.values()):
        return None
    bound = max(parts, key=lambda pipe: parts[pipe])
    return PipeUse(
        kind,
        path,
        Span.at(times.largest_line or means.first or 1),
        op=_op(path),
        cores=times.count,
        mean_us=micro(times.mean),
        longest_us=micro(times.largest),
        uneven=share(times.largest - times.mean, times.mean),
        bound=bound,
        bound_share=parts[bound],
        compute=max(parts.get("cube", 0.0), parts.get("vec", 0.0)),
        scalar=parts.get("scalar", 0.0),
        mte1=parts.get("mte1", 0.0),
        mte2=parts.get("mte2", 0.0),
        mte3=parts.get("mte3", 0.0),
        fixpipe=parts.get("fixpipe", 0.0),
        icache=means.percent(f"{prefix}_icache"),
    )


_CONFLICTS = ("bankgroup", "bank", "resource", "mte", "total", "vector_wait", "cube_wait")
_ARITHMETIC = (
    *("cube", "cube_fp16", "cube_int8"),
    *("vector", "vector_fp32", "vector_fp16", "vector_int32", "vector_misc"),
)
_CHANNELS = ("gm_to_ub", "ub_to_gm", "gm_to_l1", "l0c_to_gm")


def read_conflicts(stream: BinaryIO, path: str, seen: Seen) -> list[Fact]:
    """A `run_conflicts`."""
    means = _means(stream, seen, _CONFLICTS)
    if not means.first:
        return []
    return [CoreConflicts("core", path, Span.at(means.first), _op(path), *map(means.percent, _CONFLICTS))]


def read_arithmetic(stream: BinaryIO, path: str, seen: Seen) -> list[Fact]:
    """A `run_arithmetic`."""
    means = _means(stream, seen, _ARITHMETIC)
    if not means.first:
        return []
    return [CoreArithmetic("core", path, Span.at(means.first), _op(path), *map(means.percent, _ARITHMETIC))]


def read_cache(stream: BinaryIO, path: str, seen: Seen) -> list[Fact]:
    """A `run_core_cache` for each kind of core with a hit rate."""
    means = _means(stream, seen, ("aic_hit", "aiv_hit"))
    kinds: tuple[tuple[CoreKind, str], ...] = (("cube", "aic_hit"), ("vector", "aiv_hit"))
    return [
        CoreCache(kind, path, Span.at(means.first), _op(path), round(means.of(key), 1))
        for kind, key in kinds
        if means.times(key).count
    ]


def read_memory(stream: BinaryIO, path: str, seen: Seen) -> list[Fact]:
    """A `run_core_memory`."""
    means = _means(stream, seen, ("read_kb", "write_kb", *_CHANNELS))
    if not means.first:
        return []
    channel = max(_CHANNELS, key=means.of)
    amounts = round(means.times("read_kb").total, 1), round(means.times("write_kb").total, 1)
    usage = round(means.of(channel), 1)
    return [CoreMemory("core", path, Span.at(means.first), _op(path), *amounts, usage, channel if usage else "")]
