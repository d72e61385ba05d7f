"""Gaps between kernels: how long the device had nothing to do, from start times and durations alone."""

from __future__ import annotations

from array import array
from typing import Literal

from npulint.facts.kinds import fact_kind
from npulint.facts.model import Fact, FileFact, Span
from npulint.runs.read.kernel_words import is_input
from npulint.runs.read.quantities import Values, micro, nanoseconds, share
from npulint.runs.read.rows import Row

_MOST = 1_000_000  # kernels; of larger tables the beginning is judged
_DEVICES = 64
_TYPES = 4096  # that are told apart
_GAP_NS = 2_000  # shorter ones lie between any two kernels
_LONG_NS = 2_000_000  # no launch takes so long
_MOSTLY = 80.0  # percent
_TEXT = 100

Cause = Literal["launches", "pauses", "data", "communication", "unknown"]


@fact_kind("run_gaps")
class KernelGaps(FileFact, kw_only=True):
    """When the device had nothing to do between the first and the last kernel of a table (op_summary, kernel_details),
    at the kernel after the longest gap; the name is the device (0 where the table has no such column)."""

    kernels: int
    span_us: float
    """From the start of the first kernel to the end of the last one."""
    busy_us: float
    """At least one kernel or collective ran."""
    idle_us: float
    idle_share: float
    """In percent of the span."""
    exposed_us: float
    """Only collectives ran."""
    gaps: int
    """Of more than 2 µs."""
    median_us: float
    """Of these."""
    longest_us: float
    kernel_before: str
    """The type of the kernel before the longest gap."""
    kernel_after: str
    long_share: float
    """Percent of the idle time in gaps above 2 ms, longer than any launch."""
    cause: Cause
    """Of most of the idle time, where the table shows it: launches (gaps below 2 ms throughout), pauses (gaps above),
    data (before kernels that take the next batch), communication (around collectives)."""
    covered: bool = False
    """Whether a table of steps in the folder has the same information."""


class _Device:
    """The kernels of one device; collectives have a negative number of their type."""

    __slots__ = ("durations", "lines", "starts", "types")

    def __init__(self) -> None:
        self.starts, self.durations = array("q"), array("q")
        self.types, self.lines = array("l"), array("q")


class _Idle:
    """Idle nanoseconds by what stands at the gaps."""

    def __init__(self) -> None:
        self.all = self.long = self.data = self.around = 0
        self.longest = -1
        self.place = (0, 0, 0)  # kernel before, kernel after, line


class Gaps:
    """The kernels of a table by device, with the times at which they ran."""

    def __init__(self) -> None:
        self._devices: dict[str, _Device] = {}
        self._types: dict[str, int] = {}

    def see(self, line: int, row: Row, type_: str, communicates: bool) -> None:
        """Process a kernel, in any order."""
        start = nanoseconds(row.text.get("start_us"))
        name = row.text.get("device", "")[:_TEXT]
        device = self._devices.get(name)
        if device is None and len(self._devices) < _DEVICES:
            device = self._devices[name] = _Device()
        if device is None or start is None or len(device.starts) >= _MOST:
            return
        kind = type_[:_TEXT] if len(self._types) < _TYPES or type_[:_TEXT] in self._types else ""
        number = self._types.setdefault(kind, len(self._types) + 1)
        device.starts.append(start)
        device.durations.append(round(row.number["duration_us"] * 1000))
        device.types.append(-number if communicates else number)
        device.lines.append(line)

    def facts(self, path: str) -> list[Fact]:
        """A `run_gaps` for each device with at least two kernels at different times."""
        names = {number: name for name, number in self._types.items()}
        kernel_gapses = (self._fact(name, device, path, names) for name, device in sorted(self._devices.items()))
        return [kernel_gaps for kernel_gaps in kernel_gapses if kernel_gaps is not None]

    def _fact(self, name: str, device: _Device, path: str, names: dict[int, str]) -> KernelGaps | None:
        order = sorted(range(len(device.starts)), key=device.starts.__getitem__)
        if len(order) < 2:
            return None
        gaps, idle = Values(), _Idle()
        inputs = {number for number, type_ in names.items() if is_input(type_)}
        first, end, last = device.starts[order[0]], device.starts[order[0]], order[0]
        for at in order:
            start, gap = device.starts[at], device.starts[at] - end
            if gap > 0:
                _count(device, idle, gap, last, at, inputs)
                if gap > _GAP_NS:
                    gaps.add(gap / 1000, device.lines[at])
            if start + device.durations[at] >= end:
                end, last = start + device.durations[at], at
        span = end - first
        if span <= 0:
            return None
        before, after, line = idle.place
        return KernelGaps(
            name if name.isalnum() else "0",
            path,
            Span.at(line or 1),
            kernels=len(order),
            span_us=micro(span / 1000),
            busy_us=micro((span - idle.all) / 1000),
            idle_us=micro(idle.all / 1000),
            idle_share=share(idle.all, span),
            exposed_us=micro(_alone(device, order) / 1000),
            gaps=gaps.count,
            median_us=micro(gaps.median),
            longest_us=micro(max(idle.longest, 0) / 1000),
            kernel_before=names.get(abs(before), ""),
            kernel_after=names.get(abs(after), ""),
            long_share=share(idle.long, idle.all),
            cause=_cause(idle),
        )


def _count(device: _Device, idle: _Idle, gap: int, last: int, at: int, inputs: set[int]) -> None:
    """Count the gap between two kernels."""
    before, after = device.types[last], device.types[at]
    idle.all += gap
    idle.long += gap if gap > _LONG_NS else 0
    idle.data += gap if after in inputs else 0
    idle.around += gap if before < 0 or after < 0 else 0
    if gap > idle.longest:
        idle.longest, idle.place = gap, (before, after, device.lines[at])


def _cause(idle: _Idle) -> Cause:
    """What most of the idle time is due to."""
    if share(idle.data, idle.all) >= _MOSTLY:
        return "data"
    if share(idle.around, idle.all) >= _MOSTLY:
        return "communication"
    long = share(idle.long, idle.all)
    return "pauses" if long >= _MOSTLY else "launches" if long <= 100 - _MOSTLY else "unknown"


def _alone(device: _Device, order: list[int]) -> int:
    """Nanoseconds in which only collectives ran."""
    busy = computing = 0
    end = end_of_computing = device.starts[order[0]]
    for at in order:
        start, stop = device.starts[at], device.starts[at] + device.durations[at]
        busy += max(stop - max(start, end), 0)
        end = max(end, stop)
        if device.types[at] > 0:
            computing += max(stop - max(start, end_of_computing), 0)
            end_of_computing = max(end_of_computing, stop)
    return busy - computing
