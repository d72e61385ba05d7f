"""Data kept of a trace while it is read: host operators, kernels, flows, waits, and totals of the rest."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Hashable
from typing import Any

from npulint.runs.read.frames import StackFrame, user_frame
from npulint.runs.read.interfaces import group_of
from npulint.runs.read.quantities import Values, nanoseconds, number

# Host operators in a trace as a forest, to find the line of code at any moment.

Moment = tuple[Hashable, int]
"""A thread and a time in ns."""

_STEPS = 200
_STACKS = 2000
_STACK = 20_000
_TASK = "autograd::engine::evaluate_function"


class Calls:
    """The operators of all threads. Add them all (`add`), then call `settle`, then query (`line_at`)."""

    def __init__(self) -> None:
        self._threads: dict[Hashable, list[tuple[int, int, int, str]]] = {}
        self._parents: dict[Hashable, list[int]] = {}
        self._frames: list[StackFrame] = []
        self._known: dict[str, int] = {}
        self._numbers: dict[StackFrame, int] = {}
        self._heads: dict[Hashable, list[tuple[int, Moment]]] = {}
        self.forward: dict[Moment, Moment] = {}

    def add(self, thread: Hashable, start: int, end: int, name: str, stack: str) -> None:
        """Add a host operator with its call stack, if it has one."""
        self._threads.setdefault(thread, []).append((start, -end, self._number(stack) if stack else -1, name))

    def _number(self, stack: str) -> int:
        """The index of the user frame of a stack, -1 if there is none; cached because stacks repeat every step."""
        stack = stack[:_STACK]
        number = self._known.get(stack)
        if number is None:
            if len(self._known) >= _STACKS:
                self._known.clear()
            frame = user_frame(stack)
            if frame is None:
                number = -1
            else:
                number = self._numbers.setdefault(frame, len(self._frames))
                if number == len(self._frames):
                    self._frames.append(frame)
            self._known[stack] = number
        return number

    def settle(self) -> None:
        """Compute the nesting of operators; all of `forward` must be added."""
        for (thread, time), moment in self.forward.items():
            self._heads.setdefault(thread, []).append((time, moment))
        for heads in self._heads.values():
            heads.sort(key=lambda head: head[0])
        for thread, calls in self._threads.items():
            calls.sort()
            parents: list[int] = []
            open_: list[int] = []
            for index, (start, _, _, _) in enumerate(calls):
                while open_ and -calls[open_[-1]][1] < start:
                    open_.pop()
                parents.append(open_[-1] if open_ else -1)
                open_.append(index)
            self._parents[thread] = parents

    def starts_between(self, start: int, end: int) -> bool:
        """Whether an operator of any thread starts within the times (ns)."""
        for calls in self._threads.values():
            place = bisect_left(calls, (start, -(1 << 63), 0, ""))
            if place < len(calls) and calls[place][0] < end:
                return True
        return False

    def line_at(self, thread: Hashable, time: int) -> tuple[StackFrame | None, str]:
        """The line that runs on a thread at a time, perhaps its backward pass, and the innermost operator."""
        frame, name, forward = self._climb(thread, time)
        if frame is None and forward is not None:
            frame, _, _ = self._climb(*forward)
        return frame, name

    def _climb(self, thread: Hashable, time: int) -> tuple[StackFrame | None, str, Moment | None]:
        """The line, the innermost operator, and the corresponding forward operator if there is no line."""
        calls, parents = self._threads.get(thread, []), self._parents.get(thread, [])
        index = bisect_right(calls, (time, 1, 0, "")) - 1
        name, forward = "", None
        for _ in range(_STEPS):
            if index < 0:
                break
            start, end, number, own = calls[index]
            if -end >= time:
                name = name or own
                if number >= 0:
                    return self._frames[number], name, None
                forward = forward or self._gradient_of(thread, start, -end, own)
            index = parents[index]
        return None, name, forward

    def _gradient_of(self, thread: Hashable, start: int, end: int, name: str) -> Moment | None:
        """The forward operator of a backward one. The accumulation of a bias is next to the head of the flow, in the
        same task of the autograd engine."""
        head = self.forward.get((thread, start))
        if head is None and name.startswith(_TASK):
            heads = self._heads.get(thread, [])
            place = bisect_left(heads, start, key=lambda head: head[0])
            if place < len(heads) and heads[place][0] <= end:
                head = heads[place][1]
        return head


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
