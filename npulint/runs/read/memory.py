"""Device memory during a profile: amounts reserved and in use by component.

Sources: `memory_record*.csv`, `npu_module_mem*.csv` of msprof and torch_npu."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import BinaryIO, Literal

from npulint.data.run_columns import plain
from npulint.facts.kinds import fact_kind
from npulint.facts.model import Fact, FileFact, Span
from npulint.runs.read.quantities import share
from npulint.runs.read.rows import Seen, rows

_KEYS = 1000  # components and devices that are distinguished
_SHOWN = 20
_NAME = 200
_NONE = -1.0  # less than any amount
_NEAR = 0.01  # relative tolerance of the peak: allocators keep small tensors in separate segments
_UNITS = 1024
_IN_KB = plain("Total Reserved(KB)")


@fact_kind("run_memory")
class ComponentMemory(FileFact):
    """Memory of a device that a component holds: in memory_record PTA (the allocator of torch_npu), GE (that of
    graphs), APP (the whole process), PTA+GE…; a module of CANN in module_memory; the largest 20."""

    form: Literal["memory_record", "module_memory"]
    reserved_mb: float
    """The peak."""
    used_mb: float | None
    """The most in use while about the peak was reserved, of memory_record; so are the next ones."""
    unused_mb: float | None
    """The rest of the peak."""
    unused_share: float | None
    """The same in percent."""
    swing_share: float | None
    """How far use went up and down, in percent of the peak."""


class _Held:
    """The memory of a component on a device, in MB. `used` is the maximum in use while about the peak was reserved,
    `line` its row: little use at the beginning of a step is not waste."""

    def __init__(self) -> None:
        self.line = 0
        self.reserved = 0.0
        self.allocated = self.active = self.used = _NONE
        self.least = math.inf

    def add(self, line: int, reserved: float, allocated: float, active: float) -> None:
        if reserved > self.reserved or not self.line:
            if reserved > self.reserved * (1 + _NEAR):
                self.used = _NONE
            if self.used < 0:
                self.line = line
            self.reserved = reserved
        if allocated > self.allocated:
            self.allocated = allocated
        if active > self.active:
            self.active = active
        use = allocated if allocated > active else active
        if use >= 0:
            if use < self.least:
                self.least = use
            if use > self.used and reserved >= self.reserved * (1 - _NEAR):
                self.used, self.line = use, line

    def fact(self, name: str, path: str, form: str, unit: int) -> ComponentMemory:
        unused = max(self.reserved - self.used, 0.0)
        measured = self.used >= 0
        return ComponentMemory(
            name,
            path,
            Span.at(self.line),
            "memory_record" if form == "memory_record" else "module_memory",
            _mb(self.reserved / unit),
            _mb(self.used / unit) if measured else None,
            _mb(unused / unit) if measured else None,
            share(unused, self.reserved) if measured else None,
            share(max(self.allocated, self.active) - self.least, self.reserved) if measured else None,
        )


def read_components(stream: BinaryIO, path: str, seen: Seen) -> list[Fact]:
    """A `run_memory` for each component and device: allocators for memory_record (PTA: of torch_npu, GE: of graphs,
    APP: the whole process), modules of CANN and the driver for module_memory."""
    held: dict[tuple[str, str], _Held] = {}
    for line, (text, number) in rows(stream, seen.form, _wanted(seen.form), seen):
        key = text["component"], text.get("device", "")
        usage = held.get(key)
        if usage is None and len(held) < _KEYS:
            usage = held[key] = _Held()
        if usage is not None:
            uses = number.get("allocated_mb", _NONE), number.get("active_mb", _NONE)
            usage.add(line, number["reserved_mb"], *uses)
    unit = _unit(seen)
    ordered = sorted(held.items(), key=lambda item: (-item[1].reserved, item[0]))[:_SHOWN]
    return [usage.fact(name[:_NAME], path, seen.form, unit) for (name, _), usage in ordered if usage.reserved > 0]


def _wanted(form: str) -> Sequence[str]:
    uses = ("allocated_mb", "active_mb") if form == "memory_record" else ()
    return "component", "device", "reserved_mb", *uses


def _unit(seen: Seen) -> int:
    """How many units are one MB: msprof measures in KB, torch_npu in MB."""
    return _UNITS if any(plain(heading) == _IN_KB for heading in seen.headings) else 1


def _mb(value: float) -> float:
    return round(value, 3)
