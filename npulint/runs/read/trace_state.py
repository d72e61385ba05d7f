"""Data kept of a trace while it is read: host operators, kernels, flows, waits, and totals of the rest."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

from npulint.runs.read.interfaces import group_of
from npulint.runs.read.quantities import Values, nanoseconds, number
from npulint.runs.read.trace_calls import Calls, Moment

_HELD = 400_000
_WAITS = 20_000
_PROCESSES = 20_000
OVERLAP = ("Computing", "Communication(Not Overlapped)", "Free")
"""Rows of the overlap analysis; they add up to the time of the steps."""

_WAITING = ("synchronize", "copy")
_ACL = "AscendCL@"


class Host:
    """Host events of one kind; the longest determines the place."""

    def __init__(self) -> None:
        self.values = Values()
        self.example = ""
        self.moment: Moment = ("", 0)

    def add(self, name: str, moment: Moment, duration: float, line: int) -> None:
        if not self.values.count or duration > self.values.largest:
            self.example, self.moment = name, moment
        self.values.add(duration, line)


class TraceState:
    def __init__(self) -> None:
        self.calls = Calls()
        self.kernels: list[tuple[tuple[Hashable, Hashable, int], float, str, int]] = []
        self.sent: dict[Hashable, Moment] = {}
        self.arrived: dict[tuple[Hashable, Hashable, int], Hashable] = {}
        self.pairs: dict[Hashable, list[Moment]] = {}
        self.waits: list[tuple[Moment, float, int]] = []
        self.host: dict[str, Host] = {}
        self.overlap: dict[tuple[Hashable, str], float] = {}
        self.idle: dict[Hashable, Host] = {}
        self.processes: dict[Hashable, str] = {}
        self.clock: list[tuple[float, int]] = []
        self.steps = self.held = self.dropped = 0
        self._handlers: dict[str, Callable[[dict[str, Any], int], None]] = {
            "X": self._complete,
            "M": self._metadata,
            "s": self._start,
            "f": self._finish,
            "C": self._counter,
        }

    def take(self, event: dict[str, Any], line: int) -> None:
        """Add one event of any kind."""
        handler = self._handlers.get(str(event.get("ph")))
        pid, tid = event.get("pid"), event.get("tid")
        if handler is not None and not isinstance(pid, (dict, list)) and not isinstance(tid, (dict, list)):
            handler(event, line)

    def _hold(self) -> bool:
        if self.held >= _HELD:
            self.dropped += 1
            return False
        self.held += 1
        return True

    def _metadata(self, event: dict[str, Any], line: int) -> None:
        if event.get("name") == "process_name" and len(self.processes) < _PROCESSES:
            self.processes[event.get("pid")] = str(_arguments(event).get("name", ""))[:60]

    def _complete(self, event: dict[str, Any], line: int) -> None:
        start, duration = nanoseconds(event.get("ts")), number(event.get("dur"))
        if start is None or duration is None or not 0 <= duration < 1e15:
            return
        name, arguments = str(event.get("name", ""))[:200], _arguments(event)
        moment: Moment = event.get("tid"), start
        if event.get("cat") == "cpu_op":
            self._operator(name, moment, duration, arguments, line)
        elif "Task Type" in arguments:
            if self._hold():
                self.kernels.append(((event.get("pid"), event.get("tid"), start), duration, name, line))
        elif name in OVERLAP and not arguments:
            key = event.get("pid"), name
            if key in self.overlap or len(self.overlap) < _PROCESSES:
                self.overlap[key] = self.overlap.get(key, 0.0) + duration
            if name == "Free" and (key[0] in self.idle or len(self.idle) < _PROCESSES):
                self.idle.setdefault(key[0], Host()).add(name, moment, duration, line)
        elif event.get("cat") == "GC" or name == "GC":
            self._count("garbage_collection", name, moment, duration, line)
        elif name.startswith(_ACL):
            self._interface(name[len(_ACL) :], moment, duration, line)

    def _operator(self, name: str, moment: Moment, duration: float, arguments: dict[str, Any], line: int) -> None:
        if name.startswith("ProfilerStep#"):
            self.steps += 1
            return  # spans the whole step with an uninformative stack
        if "DataLoader" in name and name.endswith("__next__"):
            self._count("dataloader", name, moment, duration, line)
        elif "SyncBatchNorm" in name and "ackward" not in name:
            self._count("sync_batch_norm", name, moment, duration, line)
        if self._hold():
            stack = arguments.get("Call stack")
            end = moment[1] + round(duration * 1000)
            self.calls.add(moment[0], moment[1], end, name, stack if isinstance(stack, str) else "")

    def _interface(self, name: str, moment: Moment, duration: float, line: int) -> None:
        group = group_of(name)
        if group:
            self._count(group, name, moment, duration, line)
            if group in _WAITING:
                if len(self.waits) >= 2 * _WAITS:
                    self.waits = sorted(self.waits, key=lambda wait: -wait[1])[:_WAITS]
                self.waits.append((moment, duration, line))

    def _count(self, kind: str, name: str, moment: Moment, duration: float, line: int) -> None:
        self.host.setdefault(kind, Host()).add(name, moment, duration, line)

    def _start(self, event: dict[str, Any], line: int) -> None:
        self._flow(event, start=True)

    def _finish(self, event: dict[str, Any], line: int) -> None:
        self._flow(event, start=False)

    def _flow(self, event: dict[str, Any], *, start: bool) -> None:
        kind, time, key = event.get("cat"), nanoseconds(event.get("ts")), event.get("id")
        if kind not in ("async_npu", "fwdbwd") or time is None or not isinstance(key, (str, int)) or not self._hold():
            return
        moment: Moment = event.get("tid"), time
        if kind == "fwdbwd":
            pair = self.pairs.setdefault(key, [("", -1), ("", -1)])
            pair[0 if start else 1] = moment
        elif start:
            self.sent[key] = moment
        else:
            self.arrived[event.get("pid"), event.get("tid"), time] = key

    def _counter(self, event: dict[str, Any], line: int) -> None:
        frequency = number(_arguments(event).get("MHz"))
        if frequency is not None and frequency > 0 and "AI Core Freq" in str(event.get("name")):
            sample = frequency, line
            self.clock = [min([*self.clock[:1], sample]), max([*self.clock[1:], sample])]

    def settle(self) -> None:
        """Link the collected data after the last event."""
        for forward, backward in self.pairs.values():
            if forward[1] >= 0 and backward[1] >= 0:
                self.calls.forward[backward] = forward
        self.calls.settle()

    def overlapped(self, name: str) -> float:
        """µs of one row of the overlap analysis."""
        return sum(time for (pid, kind), time in self.overlap.items() if kind == name and self._analysis(pid))

    def _analysis(self, pid: Hashable) -> bool:
        return self.processes.get(pid, "Overlap Analysis").startswith("Overlap Analysis")

    @property
    def longest_idle(self) -> Host | None:
        """The times without computing and communication."""
        return next((host for pid, host in self.idle.items() if self._analysis(pid)), None)


def _arguments(event: dict[str, Any]) -> dict[str, Any]:
    arguments = event.get("args")
    return arguments if isinstance(arguments, dict) else {}
