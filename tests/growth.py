"""How work and memory grow with the input, without a clock: a busy machine changes nothing about what is counted here.

Work is the number of lines and calls that Python executes, as `sys.settrace` reports them. A loop on one line (a
comprehension, a generator, ``while``) is reported at each turn, so that a quadratic one does not hide in a single call,
as it would where calls are counted; and what a line calls in C is as often called as the line is executed. Instructions
would tell no more, and take five times as long to count. What C code does inside one call (a regular expression that
backtracks, ``x in list``) is not seen: inputs that would make it work for minutes stand in `ended_if_stuck`.

Three sizes are counted, each twice the one before. The exponent is that of what each doubling adds, so that what every
run costs, however small its input, takes no part in it: linear work has 1, quadratic work 2.
"""

from __future__ import annotations

import signal
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import log2
from types import FrameType
from typing import Any, TypeVar

T = TypeVar("T")

MOST = 1.25  # of an exponent: sorting has less, work by the square of a tenth of the input has more
STUCK = 20  # seconds of this process; what is let through takes less than one


def counted(action: Callable[[], object]) -> int:
    """The lines and calls that Python executes in an action, in this thread."""
    count = 0

    def tick(frame: FrameType, event: str, argument: object) -> Any:
        nonlocal count
        count += 1
        return tick

    before = sys.gettrace()
    sys.settrace(tick)
    try:
        action()
    finally:
        sys.settrace(before)
    return count


def exponent(small: float, middle: float, large: float) -> float:
    """The exponent with which a quantity grows that was measured for an input, for twice and for four times as much.
    What is less than a fiftieth of the whole is no growth."""
    least = max(1.0, large / 50)
    return log2(max(least, large - middle) / max(least, middle - small))


def work_exponent(make: Callable[[int], T], work: Callable[[T], object], size: int) -> float:
    """The exponent with which `work` on what `make` gives for a size grows, up to `size`."""
    first, *inputs = (make(part) for part in (size // 8, size // 4, size // 2, size))
    for _ in range(2):  # what is done once in a process, such as imports, is done now, by an input of its own
        work(first)
    small, middle, large = (counted(lambda one=one: work(one)) for one in inputs)  # type: ignore[misc]
    return exponent(small, middle, large)


def assert_linear(make: Callable[[int], T], work: Callable[[T], object], size: int) -> None:
    """Fail if `work` on what `make` gives for a size grows faster than the size does, up to `size`."""
    found = work_exponent(make, work, size)
    assert found <= MOST, f"work grows with exponent {found:.2f}"


def peak(action: Callable[[], object]) -> int:
    """The most bytes that Python objects take at a time in an action."""
    tracemalloc.start()
    try:
        action()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@contextmanager
def ended_if_stuck() -> Iterator[None]:
    """Fail instead of going on for minutes or for ever, as code does whose work grows with the square of a large input.
    It measures nothing: what it lets through takes a small part of what it allows."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise AssertionError(f"not done after {STUCK} s of the processor")

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, STUCK)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
