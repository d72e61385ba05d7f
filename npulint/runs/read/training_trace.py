"""Step traces of 2020: text lines with timestamps (10 ns ticks) of forward start, backward end and iteration end."""

from __future__ import annotations

from typing import BinaryIO

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.model import Fact
from npulint.runs.read.quantities import Values
from npulint.runs.read.rows import Seen
from npulint.runs.read.steps import iteration_fact

_TICK_US = 0.01
_LINE = 1 << 12
_MARK = lazy_compile(rb"(FP_start|BP_end|iteration_end)\s*[=:,]\s*(\d{1,18})\s*\Z")


def read(stream: BinaryIO, path: str, seen: Seen) -> list[Fact]:
    """A `run_iteration`: from the end of an iteration to the end of the next, and the time until forward begins."""
    time, data, refresh, compute = Values(), Values(), Values(), Values()
    start = back = end = -1
    number, whole = 0, True
    while text := stream.readline(_LINE):
        number, whole = number + whole, text.endswith(b"\n")
        match = _MARK.search(text)
        if match is None:
            continue
        mark, tick = match.group(1), int(match.group(2))
        if mark == b"FP_start":
            start, back = tick, -1
        elif mark == b"BP_end":
            back = tick
        else:
            seen.rows += 1
            if end >= 0 and end <= start <= tick:
                time.add((tick - end) * _TICK_US, number)
                data.add((start - end) * _TICK_US)
                if start <= back <= tick:
                    compute.add((back - start) * _TICK_US)
                    refresh.add((tick - back) * _TICK_US)
            start, end = -1, tick
    return [iteration_fact("training_trace", path, time, data, refresh, compute)] if time.count else []
