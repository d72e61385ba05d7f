"""The cost of work, measured without the clock of one machine: by its growth with the input, or against work that is
always the same. Seconds as such are measured in bench/."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")

TIMES = 4  # how much larger the large input is: linear work takes four times as long, quadratic work sixteen times
MOST = 9  # of the ratio: nearer to four than to sixteen
LEAST = 0.01  # seconds; shorter times are not measurable
ROUNDS = 5  # of which one must do: what disturbs a machine slows a round down, quadratic work all of them
USUAL = 0.25  # seconds of `calibrated` on a machine of usual speed


def assert_linear(make: Callable[[int], T], work: Callable[[T], object], size: int) -> None:
    """Fail if `work` on what `make` gives for `size` takes much more than in proportion to a quarter of it."""
    small, large = make(size // TIMES), make(size)
    ratios = []
    for _ in range(ROUNDS):
        before = max(LEAST, _seconds(work, small))
        ratios.append(_seconds(work, large) / before)
        if ratios[-1] <= MOST:
            return
    raise AssertionError(
        f"{TIMES} times the input took {min(ratios):.1f} times as long, in the best of {ROUNDS} rounds"
    )


def _seconds(work: Callable[[T], object], value: T) -> float:
    begun = time.process_time()
    work(value)
    return time.process_time() - begun


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Fail if what is done inside costs the processor more than `seconds` of a machine of usual speed."""
    begun = time.process_time()
    yield
    assert_within(time.process_time() - begun, seconds)


def assert_within(taken: float, seconds: float) -> None:
    """Fail if `taken`, measured on this machine just now, is more than `seconds` on a machine of usual speed."""
    if taken <= seconds:
        return
    slow = slowness()
    assert taken <= seconds * slow, f"{taken:.1f} s where {seconds:.1f} s times {slow:.1f} are right"


def slowness() -> float:
    """How many times longer than on a machine of usual speed the processor takes here and now; at least 1."""
    return max(1.0, calibrated() / USUAL)


def calibrated() -> float:
    """Seconds of the processor for some work that never changes."""
    begun = time.process_time()
    line = "a,b,c," + ",".join(f"{number}.5" for number in range(20))
    for _ in range(60_000):
        [float(cell) for cell in line.split(",")[3:]]
    return time.process_time() - begun
