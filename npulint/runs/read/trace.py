"""Traces of torch_npu or msprof: attributes kernels and waits to Python lines, and summarizes host activity.

Source: `trace_view.json`, `msprof_*.json`. Lines need `with_stack=True`."""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator
from typing import Any, BinaryIO

from npulint.facts.kinds import fact_kind
from npulint.facts.model import Fact, FileFact, Span
from npulint.runs.read.frames import StackFrame
from npulint.runs.read.host_lines import HostWait
from npulint.runs.read.interfaces import HostActivity
from npulint.runs.read.python_lines import COLLECTIVE, PythonLine, line_facts
from npulint.runs.read.quantities import Values, micro, share
from npulint.runs.read.rows import Seen
from npulint.runs.read.steps import StepBreakdown
from npulint.runs.read.trace_state import OVERLAP, Host, TraceState

# Reads Chrome traces event by event in constant memory: files may have gigabytes.

_CHUNK = 1 << 20
_EVENT = 4 << 20
_START = '"traceEvents"'
_BETWEEN = " \t\r\n,\ufeff"
_decoder = json.JSONDecoder()


class Reader:
    """Reads at most `limit` bytes of a trace. `line` is that of the last event; `damaged` or `cut` (by the limit) say
    that the rest is missing."""

    def __init__(self, stream: BinaryIO, limit: int) -> None:
        self._stream = stream
        self._left = limit
        self._decode = codecs.getincrementaldecoder("utf-8-sig")("replace").decode
        self._text = ""
        self._at = 0
        self.cut = False
        self.line = self._next = 1
        self.damaged = False

    def enter(self) -> bool:
        """Skip to the first event; False if there is no list of events."""
        first = True
        while self._more():
            head = self._text.lstrip(_BETWEEN)
            if first and head.startswith("["):
                return self._from(len(self._text) - len(head) + 1)
            first = first and not head
            at = self._text.find(_START)
            bracket = self._text.find("[", at) if at >= 0 else -1
            if bracket >= 0:
                return self._from(bracket + 1)
            if head and at < 0:  # another key has an array first
                self._next += self._text.count("\n", 0, -len(_START))
                self._text = self._text[-len(_START) :] if len(self._text) > len(_START) else self._text
        return False

    def _from(self, at: int) -> bool:
        self._next += self._text.count("\n", 0, at)
        self._at = at
        return True

    def next(self) -> Any:
        """The next event, or None."""
        while True:
            self._skip()
            if self._at < len(self._text):
                if self._text[self._at] == "]":
                    return None
                try:
                    event, end = _decoder.raw_decode(self._text, self._at)
                except (ValueError, RecursionError):
                    if len(self._text) - self._at > _EVENT:
                        self.damaged = True
                        return None
                else:
                    self.line = self._next
                    self._next += self._text.count("\n", self._at, end)
                    self._at = end
                    return event if event is not None else 0
            if not self._more():
                self.damaged = not self.cut
                return None

    def _skip(self) -> None:
        text, at = self._text, self._at
        while at < len(text) and text[at] in _BETWEEN:
            self._next += text[at] == "\n"
            at += 1
        self._at = at

    def _more(self) -> bool:
        """Read more; False at the end of the file or at the limit."""
        if self._left <= 0:
            self.cut = True
            return False
        data = self._stream.read(min(_CHUNK, self._left))
        self._left -= len(data)
        if not data:
            return False
        self._text = self._text[self._at :] + self._decode(data)
        self._at = 0
        return True


def events(reader: Reader, seen: Seen) -> Iterator[tuple[int, dict[str, Any]]]:
    """(line, event) of a trace (a list, or an object with `traceEvents`). Invalid JSON ends the reading and counts as
    malformed; so does an event over 4 MB."""
    if not reader.enter():
        seen.reject(1)
        return
    while True:
        event = reader.next()
        if event is None:
            if reader.damaged:
                seen.reject(reader.line)
            return
        if isinstance(event, dict):
            seen.rows += 1
            yield reader.line, event
        else:
            seen.reject(reader.line)


LIMIT = 200 << 20
"""Maximum bytes of a trace that are read."""

_SHOWN = 20


@fact_kind("run_trace")
class TraceRead(FileFact):
    """A trace; the name is trace."""

    cut: bool
    """Whether it was not read to its end."""


@fact_kind("run_clock")
class DeviceClock(FileFact):
    """The frequency of a device while a trace was taken; the name is ai_core."""

    max: float
    """In MHz."""
    min: float
    """In MHz."""
    drop: float
    """In percent."""


def read(stream: BinaryIO, path: str, seen: Seen) -> list[Fact]:
    """`run_trace`, `run_step`, `run_line`, `run_wait`, `run_host` and `run_clock` of a trace, of which at most 200 MB
    are read."""
    trace = TraceState()
    reader = Reader(stream, LIMIT)
    for line, event in events(reader, seen):
        trace.take(event, line)
    trace.settle()
    if not seen.rows:
        return []
    analysed = sum(trace.overlapped(name) for name in OVERLAP)
    lines, computed = _lines(trace)
    facts: list[Fact] = [TraceRead("trace", path, Span(), reader.cut or trace.dropped > 0)]
    facts += _step(trace, path, analysed)
    facts += line_facts(lines, path, computed)
    facts += _waits(trace, path, analysed)
    return facts + _host(trace, path, analysed) + _clock(trace, path)


def _step(trace: TraceState, path: str, analysed: float) -> list[Fact]:
    """A `run_step`: the mean of the steps by the overlap analysis, if the trace has both."""
    if not trace.steps or analysed <= 0:
        return []
    (computing, computing_share), (exposed, exposed_share), (free, free_share) = (
        (micro(time / trace.steps), share(time, analysed)) for time in map(trace.overlapped, OVERLAP)
    )
    idle = trace.longest_idle
    step = StepBreakdown(
        "step",
        path,
        Span.at(idle.values.largest_line or 1 if idle is not None else 1),
        traced=True,
        steps=trace.steps,
        step_us=micro(analysed / trace.steps),
        computing_us=computing,
        computing_share=computing_share,
        exposed_us=exposed,
        exposed_share=exposed_share,
        exchange_us=exposed,
        exchange_share=exposed_share,
        free_us=free,
        free_share=free_share,
    )
    return [step]


def _lines(trace: TraceState) -> tuple[dict[StackFrame, PythonLine], float]:
    """(cost by line, time of all kernels launched by operators)."""
    lines: dict[StackFrame, PythonLine] = {}
    computed = 0.0
    for key, duration, name, line in trace.kernels:
        moment = trace.sent.get(trace.arrived.get(key))
        if moment is None or name.startswith(COLLECTIVE):
            continue  # scheduler records and waits have no flow
        computed += duration
        frame, _ = trace.calls.line_at(*moment)
        if frame is not None:
            lines.setdefault(frame, PythonLine()).add(duration, line)
    return lines, computed


def _waits(trace: TraceState, path: str, analysed: float) -> list[Fact]:
    """A `run_wait` for each line at which the host waited for the device."""
    waits: dict[StackFrame, tuple[Values, dict[str, float]]] = {}
    for moment, duration, line in trace.waits:
        frame, under = trace.calls.line_at(*moment)
        if frame is not None:
            values, operators = waits.setdefault(frame, (Values(), {}))
            values.add(duration, line)
            operators[under] = operators.get(under, 0.0) + duration
    ordered = sorted(waits.items(), key=lambda item: (-item[1][0].total, item[0]))[:_SHOWN]
    return [
        HostWait(
            frame.place,
            path,
            Span.at(values.largest_line or 1),
            **frame.attrs(),
            traced=True,
            total_us=micro(values.total),
            share=share(values.total, analysed),
            op=max(sorted(operators), key=lambda op: operators[op]),
            rank=rank,
        )
        for rank, (frame, (values, operators)) in enumerate(ordered, 1)
    ]


def _host(trace: TraceState, path: str, analysed: float) -> list[Fact]:
    """A `run_host` for each kind of host activity or device idleness."""
    hosts = dict(trace.host)
    if (idle := trace.longest_idle) is not None:
        hosts["idle"] = idle
    return [_activity(trace, kind, host, path, analysed) for kind, host in sorted(hosts.items())]


def _activity(trace: TraceState, kind: str, host: Host, path: str, analysed: float) -> HostActivity:
    values, start, idle = host.values, host.moment[1], kind == "idle"
    frame = None if idle else trace.calls.line_at(*host.moment)[0]
    return HostActivity(
        kind,
        path,
        Span.at(values.largest_line or 1),
        traced=True,
        example=host.example,
        calls=values.count,
        total_us=micro(values.total),
        mean_us=micro(values.mean),
        max_us=micro(values.largest),
        share=share(values.total, analysed),
        per_step=round(values.count / trace.steps, 1) if trace.steps else None,
        working=trace.calls.starts_between(start, start + round(values.largest * 1000)) if idle else None,
        **({} if frame is None else frame.attrs()),
    )


def _clock(trace: TraceState, path: str) -> list[Fact]:
    """A `run_clock`, if the trace has frequencies."""
    if not trace.clock:
        return []
    (lowest, line), (highest, _) = trace.clock
    return [DeviceClock("ai_core", path, Span.at(line or 1), highest, lowest, share(highest - lowest, highest))]
