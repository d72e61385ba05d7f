"""Lines of the user's code by the time that their operators took on the device, and those that stop the host.

Source: `operator_details.csv` of torch_npu, taken with `with_stack=True`.
"""

from __future__ import annotations

from typing import BinaryIO

from npulint.facts.model import Fact, GenericFact, Span
from npulint.read.artifacts.frames import StackFrame, user_frame
from npulint.read.artifacts.host_lines import HostLines
from npulint.read.artifacts.quantities import micro, share
from npulint.read.artifacts.rows import Seen, rows

COLLECTIVE = ("hcom", "Hccl", "HCCL", "c10d::")
"""How the names of collective operators begin; shares leave these out."""

_LINES = 5000
_STACKS = 2000
_OPS = 200
_SHOWN = 50


class PythonLine:
    """What one line of code cost. `where` is the line of the artifact that shows it best."""

    def __init__(self) -> None:
        self.count = 0
        self.device = self.backward = self.host = self.longest = 0.0
        self.where = 1
        self.ops: dict[str, float] = {}

    def add(self, name: str, device: float, host: float, where: int, backward: bool = False) -> None:
        """One operator of this line with its own times in µs."""
        if not self.count or device > self.longest:
            self.longest, self.where = device, where
        self.count += 1
        self.device += device
        self.backward += device if backward else 0.0
        self.host += host
        if name in self.ops or len(self.ops) < _OPS:
            self.ops[name] = self.ops.get(name, 0.0) + device


def line_facts(lines: dict[StackFrame, PythonLine], form: str, path: str, whole: float) -> list[Fact]:
    """`run_line` for the lines that cost most on the device; shares are parts of `whole` (µs of computing)."""
    facts: list[Fact] = []
    costly = sorted((item for item in lines.items() if item[1].device > 0), key=lambda item: (-item[1].device, item[0]))
    for rank, (frame, found) in enumerate(costly[:_SHOWN], 1):
        ops = sorted(found.ops, key=lambda name: (-found.ops[name], name))
        attrs: dict[str, object] = {
            "from": form,
            "file": frame.file,
            "source_line": frame.line,
            "function": frame.function,
            "count": found.count,
            "device_us": micro(found.device),
            "backward_us": micro(found.backward),
            "host_us": micro(found.host),
            "share": share(found.device, whole),
            "ops": ", ".join(op[:60] for op in ops[:3]),
            "rank": rank,
        }
        facts.append(GenericFact("run_line", frame.place, path, Span.at(found.where), attrs))
    return facts


def read(stream: BinaryIO, path: str, seen: Seen) -> list[Fact]:
    """`run_line` for each line of the user's code. Operators contain others: only times of their own are added. What
    stops the host are `run_wait` and `run_host`."""
    host_lines = HostLines()
    lines: dict[StackFrame, PythonLine] = {}
    stacks: dict[str, StackFrame | None] = {}
    whole = 0.0
    columns = ("name", "stack", "host_self_us", "host_total_us", "device_self_us")
    for line, row in rows(stream, "operator_details", columns, seen):
        device = row.number.get("device_self_us", 0.0)
        whole += 0.0 if row.text["name"].startswith(COLLECTIVE) else device
        stack = row.text.get("stack", "")
        if stack not in stacks:
            if len(stacks) >= _STACKS:
                stacks.clear()
            stacks[stack] = user_frame(stack)
        frame = stacks[stack]
        host = row.number.get("host_self_us", 0.0)
        host_lines.add(row.text["name"], host, row.number.get("host_total_us", 0.0), line, frame)
        if frame is not None and (frame in lines or len(lines) < _LINES):
            lines.setdefault(frame, PythonLine()).add(row.text["name"], device, host, line)
    return line_facts(lines, "operator_details", path, whole) + host_lines.facts(path)
