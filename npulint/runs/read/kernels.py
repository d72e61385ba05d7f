"""Kernel tables: op_summary of msprof and kernel_details of torch_npu, one row for each kernel that ran."""

from __future__ import annotations

from functools import lru_cache
from typing import BinaryIO, Literal

from npulint.facts.kinds import fact_kind
from npulint.facts.model import Fact, FileFact, Span
from npulint.runs.read.kernel_gaps import Gaps
from npulint.runs.read.kernel_groups import RATIOS, Groups
from npulint.runs.read.kernel_patterns import CastPairs, Repeats, Small
from npulint.runs.read.kernel_sequences import Sequences
from npulint.runs.read.kernel_words import CUBE, core_of, data_dtype, dtypes_of, is_communication, is_multicore
from npulint.runs.read.quantities import micro, share
from npulint.runs.read.rows import Row, Seen, rows

_WANTED = (
    *(
        "name",
        "type",
        "state",
        "core",
        "start_us",
        "duration_us",
        "wait_us",
        "block",
        "hf32",
        "step",
        "stream",
        "device",
    ),
    *("in_shapes", "in_dtypes", "in_formats", "out_shapes", "out_dtypes", "out_formats"),
    *RATIOS,
)
_STEPS = 10_000
_UNKNOWN = ("", "N/A", "NA", "0")
_ALWAYS_DYNAMIC = "aclnn"  # aclnn kernels are not compiled per shape, hence always dynamic


@fact_kind("run_kernels")
class KernelTable(FileFact):
    """A table of kernels (op_summary, kernel_details), one fact for the table; the name is kernel_table."""

    level: Literal["operators", "times", "none"]
    """Times: it has no operator types (a profile of level 0); none: it has no kernel."""
    kernels: int
    named: int
    """Kernels with a type."""
    steps: int
    """0 where the table has no such column."""
    compute_us: float
    dynamic: float | None
    """Percent of kernels with a dynamic shape, without those of aclnn interfaces, which have no other; none without
    that column."""
    dynamic_repeated: float | None
    """Percent of these whose type and shapes come again."""
    cube_us: float
    """The time of MatMul, Conv and the like."""
    cube_float: float
    """Percent of that time on float32 data."""
    cube_hf32: float
    """Percent of this that may use HF32."""


def read(stream: BinaryIO, path: str, seen: Seen) -> list[Fact]:
    """A `run_kernels` for the table, `run_gaps` and, unless it has no operator data (level 0), a `run_op` for each
    group of kernels, `run_pair`, `run_repeated`, `run_small` and `run_fusible`. Times are in µs, shares in percent of
    computing time without communication."""
    table = _Table()
    for line, row in rows(stream, seen.form, _WANTED, seen):
        table.add(line, row)
    return table.facts(path, seen)


class _Table:
    def __init__(self) -> None:
        self.groups, self.pairs, self.repeats, self.small = Groups(), CastPairs(), Repeats(), Small()
        self.gaps, self.sequences = Gaps(), Sequences()
        self.steps: set[str] = set()
        self.kernels = self.named = self.stateful = self.dynamic = 0
        self.first = 0
        self.compute = self.cube = self.cube_float = self.cube_hf32 = 0.0

    def add(self, line: int, row: Row) -> None:
        """Add a row."""
        text, duration = row.text, row.number["duration_us"]
        type_, core = text.get("type", ""), _core(text.get("core", "")[:40])
        if len(self.steps) < _STEPS:
            self.steps.add(text.get("step", ""))
        communicates = is_communication(core, type_)
        self.gaps.see(line, row, text.get("name", "") if type_ in _UNKNOWN else type_, communicates)
        if communicates:
            return
        self.kernels += 1
        self.compute += duration
        self.first = self.first or line
        if type_ in _UNKNOWN:
            return
        self.named += 1
        state = text.get("state", "").lower()
        self.stateful += state in ("dynamic", "static")
        self._operator(line, row, type_[:100], core, duration, state == "dynamic")

    def _operator(self, line: int, row: Row, type_: str, core: str, duration: float, dynamic: bool) -> None:
        dtype, data, cube = _traits(type_, row.text.get("in_dtypes", "")[:200])
        avoidable = dynamic and not row.text.get("name", "").startswith(_ALWAYS_DYNAMIC)
        self.dynamic += avoidable
        block = int(row.number.get("block", 0))
        single = block == 1 and is_multicore(core)
        self.groups.widest(core, block)
        self.groups.group(type_, core, dtype, single).add(line, row, duration)
        self.pairs.see(line, type_, row, duration)
        self.repeats.see(line, type_, row, duration, avoidable)
        self.small.see(line, type_, duration)
        self.sequences.see(line, row.text.get("stream", ""), type_, duration)
        if cube:
            self.cube += duration
            if data == "FLOAT":
                self.cube_float += duration
                self.cube_hf32 += duration if row.text.get("hf32", "").upper() == "YES" else 0.0

    def facts(self, path: str, seen: Seen) -> list[Fact]:
        """The facts of all rows."""
        steps = len(self.steps.difference(_UNKNOWN))
        table = self._fact(path, seen.form, steps)
        gaps = self.gaps.facts(path)
        if not self.named:
            return [table, *gaps]
        return [
            table,
            *gaps,
            *self.groups.facts(path, self.compute, (table.cube_float, table.cube_hf32)),
            *self.pairs.facts(path, self.compute),
            *self.repeats.facts(path, self.compute, steps),
            *self.small.facts(path, self.compute, steps),
            *self.sequences.facts(path, self.compute, steps),
        ]

    def _fact(self, path: str, form: str, steps: int) -> KernelTable:
        return KernelTable(
            form,
            path,
            Span.at(self.first or 1),
            level="operators" if self.named else "times" if self.kernels else "none",
            kernels=self.kernels,
            named=self.named,
            steps=steps,
            compute_us=micro(self.compute),
            dynamic=share(self.dynamic, self.stateful) if self.stateful else None,
            dynamic_repeated=self.repeats.repeated_dynamic if self.stateful else None,
            cube_us=micro(self.cube),
            cube_float=share(self.cube_float, self.cube),
            cube_hf32=share(self.cube_hf32, self.cube_float),
        )


@lru_cache(maxsize=256)
def _core(text: str) -> str:
    return core_of(text[:40])


@lru_cache(maxsize=4096)
def _traits(type_: str, dtypes: str) -> tuple[str, str, bool]:
    """(data type of the first input, type of the first data input, runs on the matrix unit) of a kernel."""
    normalised = dtypes_of(dtypes)
    first = normalised[0] if normalised else ""
    return first, data_dtype(normalised), bool(CUBE.fullmatch(type_))
