"""How work grows with its input: told by ratio, because seconds belong to a machine and not to the program."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

TIMES = 4  # how much larger the large input is: linear work takes four times as long, quadratic work sixteen times
MOST = 9  # of the ratio: nearer to four than to sixteen
LEAST = 0.01  # seconds; below them the clock tells nothing
ROUNDS = 5  # of which one must do: what disturbs a machine makes a round slower, quadratic work makes all of them slow


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


def _seconds(work: Callable[[T], object], given: T) -> float:
    begun = time.process_time()
    work(given)
    return time.process_time() - begun
