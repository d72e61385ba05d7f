"""Lines of user code by device time of their operators, and those that block the host.

Source: `operator_details.csv` of torch_npu with `with_stack=True`."""

from __future__ import annotations

from typing import BinaryIO

from npulint.facts.kinds import fact_kind
from npulint.facts.model import Fact, Span
from npulint.runs.read.frames import LineFact, StackFrame, user_frame
from npulint.runs.read.host_lines import HostLines
from npulint.runs.read.quantities import micro, share
from npulint.runs.read.rows import Seen, rows

COLLECTIVE = ("hcom", "Hccl", "HCCL", "c10d::")
"""Prefixes of the names of collective operators; shares exclude these."""

_LINES = 5000
_STACKS = 2000
_SHOWN = 50


@fact_kind("run_line")
class CostlyLine(LineFact, kw_only=True):
    """A line of the user's code, with its file, whose operators take time on the device (operator_details, trace)."""

    device_us: float
    share: float
    """In percent of computing."""
    rank: int


class PythonLine:
    """The device time of one line of code. `where` is the artifact line with the best example."""

    def __init__(self) -> None:
        self.device = 0.0
        self.longest = -1.0
        self.where = 1

    def add(self, device: float, where: int) -> None:
        """Add one operator of this line with its own time in µs."""
        if device > self.longest:
            self.longest, self.where = device, where
        self.device += device


def line_facts(lines: dict[StackFrame, PythonLine], path: str, computing: float) -> list[Fact]:
    """A `run_line` for the lines with the most device time; shares are relative to `computing` (µs)."""
    costly = sorted((item for item in lines.items() if item[1].device > 0), key=lambda item: (-item[1].device, item[0]))
    return [
        CostlyLine(
            frame.place,
            path,
            Span.at(python_line.where),
            **frame.attrs(),
            device_us=micro(python_line.device),
            share=share(python_line.device, computing),
            rank=rank,
        )
        for rank, (frame, python_line) in enumerate(costly[:_SHOWN], 1)
    ]


def read(stream: BinaryIO, path: str, seen: Seen) -> list[Fact]:
    """A `run_line` for each line of user code (operators are nested: only their own times are added), `run_wait` and
    `run_host` for what blocks the host."""
    host_lines = HostLines()
    lines: dict[StackFrame, PythonLine] = {}
    stacks: dict[str, StackFrame | None] = {}
    computing = 0.0
    columns = ("name", "stack", "host_self_us", "host_total_us", "device_self_us")
    for line, row in rows(stream, "operator_details", columns, seen):
        device = row.number.get("device_self_us", 0.0)
        computing += 0.0 if row.text["name"].startswith(COLLECTIVE) else device
        stack = row.text.get("stack", "")
        if stack not in stacks:
            if len(stacks) >= _STACKS:
                stacks.clear()
            stacks[stack] = user_frame(stack)
        frame = stacks[stack]
        host_lines.add(
            row.text["name"], row.number.get("host_self_us", 0.0), row.number.get("host_total_us", 0.0), line, frame
        )
        if frame is not None and (frame in lines or len(lines) < _LINES):
            lines.setdefault(frame, PythonLine()).add(device, line)
    return line_facts(lines, path, computing) + host_lines.facts(path)
