"""Memory of the device while a run was profiled: how much allocators held, how much of it was in use, and by what.

Sources: `memory_record*.csv`, `operator_memory*.csv`, `npu_module_mem*.csv`, `static_op_mem*.csv` of msprof and
torch_npu.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import BinaryIO, TypeVar

from npulint.data.run_columns import plain
from npulint.facts.model import Fact, GenericFact, Span
from npulint.read.artifacts.quantities import share
from npulint.read.artifacts.rows import Seen, rows

_KEYS = 1000  # components and devices, or graphs, that are told apart
_SHOWN = 20
_NAME = 200
_NONE = -1.0  # no amount is below zero
_NEAR = 0.01  # allocators hold small tensors in segments of their own, so that the peak is one of both
_UNITS = 1024
_WHOLE = "TOTAL"
_IN_KB = plain("Total Reserved(KB)")
_Key = tuple[str, str]
_Kept = TypeVar("_Kept")


class _Held:
    """What a component held on a device, in MB. `used` is the most that was in use while it held about the most that
    it ever did, `line` the row of that: steps begin with little in use, which is no sign of waste."""

    def __init__(self) -> None:
        self.rows = self.line = 0
        self.reserved = 0.0
        self.allocated = self.active = self.used = _NONE
        self.least = math.inf

    def add(self, line: int, reserved: float, allocated: float, active: float) -> None:
        self.rows += 1
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

    def figures(self, unit: int) -> dict[str, object]:
        found = {"reserved_mb": self.reserved, "allocated_mb": self.allocated, "active_mb": self.active}
        attrs: dict[str, object] = {"rows": self.rows}
        attrs |= {key: _mb(value / unit) for key, value in found.items() if value >= 0}
        if self.used >= 0:
            unused = max(self.reserved - self.used, 0.0)
            attrs["used_mb"], attrs["unused_mb"] = _mb(self.used / unit), _mb(unused / unit)
            attrs["unused_share"] = share(unused, self.reserved)
            attrs["swing_share"] = share(max(self.allocated, self.active) - self.least, self.reserved)
        return attrs


class _Largest:
    """The allocations of one device or graph: how many, how many of them were never given back, and the largest."""

    def __init__(self) -> None:
        self.count = self.held = self.line = 0
        self.size = 0.0
        self.op = ""
        self.whole: float | None = None

    def add(self, line: int, op: str, size: float) -> None:
        self.count += 1
        if not self.line or size > self.size:
            self.line, self.op, self.size = line, op[:_NAME], size


def read_components(stream: BinaryIO, path: str, seen: Seen) -> list[Fact]:
    """`run_memory` for each component and device: of memory_record allocators (PTA: that of torch_npu, GE: that of
    graphs, APP: the whole process), of module_memory the modules of CANN and of the driver."""
    held: dict[_Key, _Held] = {}
    for line, (text, number) in rows(stream, seen.form, _wanted(seen.form), seen):
        key = text["component"], text.get("device", "")
        found = held.get(key) or _kept(held, key, _Held)
        if found is not None:
            uses = number.get("allocated_mb", _NONE), number.get("active_mb", _NONE)
            found.add(line, number["reserved_mb"], *uses)
    unit = _unit(seen)
    facts: list[Fact] = []
    for (name, device), one in sorted(held.items(), key=lambda item: (-item[1].reserved, item[0]))[:_SHOWN]:
        if one.reserved > 0:
            attrs = {"form": seen.form, "device": device[:_NAME], **one.figures(unit)}
            facts.append(GenericFact("run_memory", name[:_NAME], path, Span.at(one.line), attrs))
    return facts


def _wanted(form: str) -> Sequence[str]:
    uses = ("allocated_mb", "active_mb") if form == "memory_record" else ()
    return "component", "device", "reserved_mb", *uses


def read_operators(stream: BinaryIO, path: str, seen: Seen) -> list[Fact]:
    """`run_memory` named ``operators`` for each device: the largest allocation. What was only given back while the
    profile was taken has no operator and no size of its own: such rows count, and tell nothing."""
    found: dict[_Key, _Largest] = {}
    for line, row in rows(stream, seen.form, ("name", "size_kb", "released_us", "device"), seen):
        one = _kept(found, ("", row.text.get("device", "")), _Largest)
        if one is not None and row.number["size_kb"] > 0:
            one.add(line, row.text["name"], row.number["size_kb"])
            one.held += not row.text.get("released_us", "-").strip()
    return _of_largest(found, path, seen, "operators")


def read_static(stream: BinaryIO, path: str, seen: Seen) -> list[Fact]:
    """`run_memory` named ``static`` for each graph and device: the largest allocation that was planned when the graph
    was compiled, and, as `allocated_mb`, the sum for the graph where the table gives it."""
    found: dict[_Key, _Largest] = {}
    for line, row in rows(stream, seen.form, ("name", "graph", "size_kb", "device"), seen):
        one = _kept(found, (row.text["graph"], row.text.get("device", "")), _Largest)
        if one is not None and row.number["size_kb"] > 0:
            if row.text["name"] == _WHOLE:
                one.whole = max(row.number["size_kb"], one.whole or 0.0)
            else:
                one.add(line, row.text["name"], row.number["size_kb"])
    return _of_largest(found, path, seen, "static")


def _of_largest(found: dict[_Key, _Largest], path: str, seen: Seen, name: str) -> list[Fact]:
    facts: list[Fact] = []
    for (graph, device), one in sorted(found.items(), key=lambda item: (-item[1].size, item[0]))[:_SHOWN]:
        attrs: dict[str, object] = {"form": seen.form, "device": device[:_NAME], "rows": one.count}
        attrs |= {"op": one.op, "size_mb": _mb(one.size / _UNITS)}
        if graph:
            attrs["graph"] = graph[:_NAME]
        if "released_us" in seen.columns:
            attrs["held"] = one.held
        if one.whole is not None:
            attrs["allocated_mb"] = _mb(one.whole / _UNITS)
        if one.line:
            facts.append(GenericFact("run_memory", name, path, Span.at(one.line), attrs))
    return facts


def _kept(known: dict[_Key, _Kept], key: _Key, new: type[_Kept]) -> _Kept | None:
    """What is known of the key; None when there are too many of them already."""
    found = known.get(key)
    if found is None and len(known) < _KEYS:
        found = known[key] = new()
    return found


def _unit(seen: Seen) -> int:
    """How many of its unit are one MB: msprof measures in KB, torch_npu in MB."""
    return _UNITS if any(plain(heading) == _IN_KB for heading in seen.headings) else 1


def _mb(value: float) -> float:
    return round(value, 3)
