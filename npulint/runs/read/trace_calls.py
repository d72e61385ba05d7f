"""Host operators in a trace as a forest, to find the line of code at any moment.

A kernel has no stack: the flow `async_npu` leads from it to its launch on the host. Backward operators have none
either: the flow `fwdbwd` leads to the forward operator."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Hashable

from npulint.runs.read.frames import StackFrame, user_frame

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
