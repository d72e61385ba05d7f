"""Tracks the training step of a log by the step numbers that it prints."""

from __future__ import annotations

from npulint.core.lazy_regex import lazy_compile

_WORDS = ("step", "iter", "batch")
_AFTER = lazy_compile(
    r"(?:ation)?s?['\"]?\s{0,4}(?:no\.?|num|number|is)?\s{0,2}[:=#\[(]{0,2}\s{0,8}"
    r"(\d{1,10})(?![\d.%]|:\d|\s{0,2}(?:s|ms|sec|seconds)\b)"
)
_OF_EPOCH = lazy_compile(r"\[\s{0,8}(\d{1,10})/\d")
_BAR = lazy_compile(r"(?<![\d./])(\d{1,10})/\d{1,10} \[")
_PLACES = 3  # occurrences of a word in a line: "batch_size: 32, batch: 7"


class Clock:
    """Counts the lines that name a step, and the steps between the first and the last."""

    def __init__(self) -> None:
        self.lines = 0
        self.total = 0
        self.last = -1

    def see(self, low: str) -> int:
        """The step number in a lower-case line, -1 if there is none."""
        step = step_of(low)
        if step < 0:
            return -1
        self.lines += 1
        if self.last >= 0:
            # A smaller number begins the next epoch, from 0 or 1.
            self.total += step - self.last if step >= self.last else step
        self.last = step
        return step


def step_of(low: str) -> int:
    """The step number in a lower-case line, -1 if there is none."""
    for word in _WORDS:
        at = low.find(word)
        for _ in range(_PLACES):
            if at < 0:
                break
            match = _AFTER.match(low, at + len(word))
            if match:
                return int(match[1])
            at = low.find(word, at + 1)
    if "/" not in low or "[" not in low:
        return -1
    match = _OF_EPOCH.search(low) or _BAR.search(low)
    return int(match[1]) if match else -1
