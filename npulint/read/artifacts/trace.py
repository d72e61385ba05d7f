"""A trace of torch_npu or msprof: from kernels and waits to lines of Python, and what the host did meanwhile.

Source: `trace_view.json`, `msprof_*.json`. Lines need `with_stack=True`.
"""

from __future__ import annotations

from typing import BinaryIO

from npulint.facts.model import Fact, GenericFact, Span
from npulint.read.artifacts.frames import StackFrame
from npulint.read.artifacts.python_lines import COLLECTIVE, PythonLine, line_facts
from npulint.read.artifacts.quantities import Values, micro, share
from npulint.read.artifacts.rows import Seen
from npulint.read.artifacts.trace_events import Reader, events
from npulint.read.artifacts.trace_state import OVERLAP, TraceState

LIMIT = 200 << 20
"""Bytes of a trace that are read."""

_SHOWN = 20


def read(stream: BinaryIO, path: str, seen: Seen) -> list[Fact]:
    """`run_trace`, `run_step`, `run_line`, `run_wait`, `run_host`, `run_clock` of a trace; of its first 200 MB if
    it has more."""
    trace = TraceState()
    reader = Reader(stream, LIMIT)
    for line, event in events(reader, seen):
        trace.take(event, line)
    cut = reader.cut or trace.dropped > 0
    trace.settle()
    if not seen.rows:
        return []
    whole = sum(trace.overlapped(name) for name in OVERLAP)
    lines, computed, found = _lines(trace)
    facts = [_summary(trace, path, whole, computed, found, cut, seen)]
    facts += _step(trace, path, whole)
    facts += line_facts(lines, "trace_view", path, computed)
    facts += _waits(trace, path, whole)
    return facts + _host(trace, path, whole) + _clock(trace, path)


def _summary(trace: TraceState, path: str, whole: float, computed: float, found: float, cut: bool, seen: Seen) -> Fact:
    attrs: dict[str, object] = {
        "events": seen.rows,
        "steps": trace.steps,
        "total_us": micro(whole),
        "device_us": micro(computed),
        "placed": share(found, computed),
        "cut": "yes" if cut else "no",
    }
    return GenericFact("run_trace", "trace", path, Span(), attrs)


def _step(trace: TraceState, path: str, whole: float) -> list[Fact]:
    """`run_step`: the mean of the steps by the overlap analysis, if there are both."""
    if not trace.steps or whole <= 0:
        return []
    attrs: dict[str, object] = {"from": "trace_view", "steps": trace.steps, "step_us": micro(whole / trace.steps)}
    for key, name in zip(("computing", "exposed", "free"), OVERLAP, strict=True):
        attrs[f"{key}_us"] = micro(trace.overlapped(name) / trace.steps)
        attrs[f"{key}_share"] = share(trace.overlapped(name), whole)
    attrs |= {"exchange_us": attrs["exposed_us"], "exchange_share": attrs["exposed_share"]}
    idle = trace.longest_idle
    return [
        GenericFact("run_step", "step", path, Span.at(idle.values.largest_line or 1 if idle is not None else 1), attrs)
    ]


def _lines(trace: TraceState) -> tuple[dict[StackFrame, PythonLine], float, float]:
    """What each line cost, the time of all kernels that operators sent, and the part of it that belongs to a line."""
    lines: dict[StackFrame, PythonLine] = {}
    computed = found = 0.0
    for key, duration, name, line in trace.kernels:
        moment = trace.sent.get(trace.arrived.get(key))
        if moment is None or name.startswith(COLLECTIVE):
            continue  # records and waits of the scheduler have no flow
        computed += duration
        frame, _, backward = trace.calls.line_at(*moment)
        if frame is not None:
            found += duration
            lines.setdefault(frame, PythonLine()).add(name, duration, 0.0, line, backward)
    return lines, computed, found


def _waits(trace: TraceState, path: str, whole: float) -> list[Fact]:
    """`run_wait`: where the host waited for the device, by line."""
    waits: dict[StackFrame, tuple[Values, dict[str, float], dict[str, float]]] = {}
    for moment, duration, name, line in trace.waits:
        frame, under, _ = trace.calls.line_at(*moment)
        if frame is not None:
            values, calls, operators = waits.setdefault(frame, (Values(), {}, {}))
            values.add(duration, line)
            calls[name] = calls.get(name, 0.0) + duration
            operators[under] = operators.get(under, 0.0) + duration
    facts: list[Fact] = []
    ordered = sorted(waits.items(), key=lambda item: (-item[1][0].total, item[0]))[:_SHOWN]
    for rank, (frame, (values, calls, operators)) in enumerate(ordered, 1):
        attrs: dict[str, object] = {
            "from": "trace_view",
            **frame.attrs(),
            "calls": values.count,
            "total_us": micro(values.total),
            "max_us": micro(values.largest),
            "share": share(values.total, whole),
            "call": max(sorted(calls), key=lambda call: calls[call]),
            "op": max(sorted(operators), key=lambda op: operators[op]),
            "rank": rank,
        }
        facts.append(GenericFact("run_wait", frame.place, path, Span.at(values.largest_line or 1), attrs))
    return facts


def _host(trace: TraceState, path: str, whole: float) -> list[Fact]:
    """`run_host`: what the host did, or the device did not, by kind."""
    found = dict(trace.host)
    if (idle := trace.longest_idle) is not None:
        found["idle"] = idle
    facts: list[Fact] = []
    for kind, host in sorted(found.items()):
        values = host.values
        attrs: dict[str, object] = {
            "from": "trace_view",
            "example": host.example,
            "calls": values.count,
            "total_us": micro(values.total),
            "mean_us": micro(values.mean),
            "max_us": micro(values.largest),
            "share": share(values.total, whole),
        }
        frame = trace.calls.line_at(*host.moment)[0] if kind != "idle" else None
        if frame is not None:
            attrs.update(frame.attrs())
        if kind == "idle":
            start = host.moment[1]
            working = trace.calls.starts_between(start, start + round(values.largest * 1000))
            attrs["working"] = "yes" if working else "no"
        if trace.steps:
            attrs["per_step"] = round(values.count / trace.steps, 1)
        facts.append(GenericFact("run_host", kind, path, Span.at(values.largest_line or 1), attrs))
    return facts


def _clock(trace: TraceState, path: str) -> list[Fact]:
    """`run_clock`: the frequency of the AI cores in MHz."""
    if not trace.clock:
        return []
    (lowest, line), (highest, _) = trace.clock
    attrs: dict[str, object] = {"max": highest, "min": lowest, "drop": share(highest - lowest, highest)}
    return [GenericFact("run_clock", "ai_core", path, Span.at(line or 1), attrs)]
