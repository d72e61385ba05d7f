"""Kernel tables: op_summary of msprof and kernel_details of torch_npu, one row for each kernel that ran."""

from __future__ import annotations

from functools import lru_cache
from typing import BinaryIO

from npulint.facts.model import Fact, GenericFact, Span
from npulint.read.artifacts.kernel_groups import Groups
from npulint.read.artifacts.kernel_patterns import CastPairs, Repeats, Small
from npulint.read.artifacts.kernel_words import (
    CUBE,
    LAYOUT,
    core_of,
    data_dtype,
    dtypes_of,
    is_communication,
    is_multicore,
)
from npulint.read.artifacts.quantities import micro, share
from npulint.read.artifacts.rows import Row, Seen, rows

_WANTED = (
    *("name", "type", "state", "core", "duration_us", "wait_us", "block", "mix_block", "hf32", "step", "stream"),
    *("in_shapes", "in_dtypes", "in_formats", "out_shapes", "out_dtypes", "out_formats"),
)
_STEPS = 10_000
_UNKNOWN = ("", "N/A", "NA", "0")
_ALWAYS_DYNAMIC = "aclnn"  # kernels that torch_npu launches without compiling come for any shape only


def read(stream: BinaryIO, path: str, seen: Seen) -> list[Fact]:
    """One `run_kernels` for the table; unless it has no operator data (a profile of level 0) also a `run_op` for each
    sort of kernel, `run_pair`, `run_repeated` and `run_small`. Times are in µs, shares in percent of the time of
    computing, which communication is no part of."""
    table = _Table()
    for line, row in rows(stream, seen.form, _WANTED, seen):
        table.add(line, row)
    return table.facts(path, seen)


class _Table:
    def __init__(self) -> None:
        self.groups, self.pairs, self.repeats, self.small = Groups(), CastPairs(), Repeats(), Small()
        self.steps: set[str] = set()
        self.kernels = self.named = self.stateful = self.dynamic = 0
        self.first = self.communications = self.aicpu = 0
        self.compute = self.communication = self.wait = 0.0
        self.layout = self.cube = self.cube_float = self.cube_hf32 = 0.0

    def add(self, line: int, row: Row) -> None:
        """The next row."""
        text, duration = row.text, row.number["duration_us"]
        type_, core = text.get("type", ""), _core(text.get("core", "")[:40])
        if len(self.steps) < _STEPS:
            self.steps.add(text.get("step", ""))
        if is_communication(core, type_):
            self.communications += 1
            self.communication += duration
            return
        self.kernels += 1
        self.compute += duration
        self.wait += row.number.get("wait_us", 0.0)
        self.first = self.first or line
        if type_ in _UNKNOWN:
            return
        self.named += 1
        state = text.get("state", "").lower()
        self.stateful += state in ("dynamic", "static")
        self._operator(line, row, type_[:100], core, duration, state == "dynamic")

    def _operator(self, line: int, row: Row, type_: str, core: str, duration: float, dynamic: bool) -> None:
        dtype, data, cube, layout = _traits(type_, row.text.get("in_dtypes", "")[:200])
        avoidable = dynamic and not row.text.get("name", "").startswith(_ALWAYS_DYNAMIC)
        self.dynamic += avoidable
        block = int(row.number.get("block", 0))
        single = block == 1 and is_multicore(core)
        self.groups.widest(core, block)
        self.groups.group(type_, core, dtype, single).add(line, row, duration, dynamic)
        self.pairs.see(line, type_, row, duration)
        self.repeats.see(line, type_, row, duration, avoidable)
        self.small.see(line, type_, duration)
        self.aicpu += core == "AI_CPU"
        if layout:
            self.layout += duration
        if cube:
            self.cube += duration
            if data == "FLOAT":
                self.cube_float += duration
                self.cube_hf32 += duration if row.text.get("hf32", "").upper() == "YES" else 0.0

    def facts(self, path: str, seen: Seen) -> list[Fact]:
        """Everything that the rows showed."""
        steps = len(self.steps.difference(_UNKNOWN))
        line = self.first or 1
        found: list[Fact] = [GenericFact("run_kernels", seen.form, path, Span.at(line), self._attrs(steps))]
        if self.named:
            matrix = {
                "float_share": share(self.cube_float, self.cube),
                "hf32_share": share(self.cube_hf32, self.cube_float),
            }
            found += self.groups.facts(path, self.compute, bool(self.stateful), {"matrix": {**matrix}})
            found += self.pairs.facts(path, self.compute)
            found += self.repeats.facts(path, self.compute, steps)
            found += self.small.facts(path, self.compute, steps)
        return found

    def _attrs(self, steps: int) -> dict[str, object]:
        return {
            "level": "operators" if self.named else "times" if self.kernels else "none",
            "kernels": self.kernels,
            "named": self.named,
            "steps": steps,
            "compute_us": micro(self.compute),
            "communication_us": micro(self.communication),
            "communications": self.communications,
            "wait_us": micro(self.wait),
            "aicpu": self.aicpu,
            "layout_us": micro(self.layout),
            "layout_share": share(self.layout, self.compute),
            "dynamic": share(self.dynamic, self.stateful) if self.stateful else None,
            "dynamic_repeated": self.repeats.repeated_dynamic if self.stateful else None,
            "cube_us": micro(self.cube),
            "cube_share": share(self.cube, self.compute),
            "cube_float": share(self.cube_float, self.cube),
            "cube_hf32": share(self.cube_hf32, self.cube_float),
        }


@lru_cache(maxsize=256)
def _core(text: str) -> str:
    return core_of(text[:40])


@lru_cache(maxsize=4096)
def _traits(type_: str, dtypes: str) -> tuple[str, str, bool, bool]:
    """Of a kernel: its first input's data type, that of its first data, whether the matrix unit computes it, whether
    it only changes a layout."""
    found = dtypes_of(dtypes)
    first = found[0] if found else ""
    return first, data_dtype(found), bool(CUBE.fullmatch(type_)), bool(LAYOUT.fullmatch(type_))
