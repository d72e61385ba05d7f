"""Numbers of profiles: percentages, microseconds, medians; everything in constant memory."""

from __future__ import annotations

import math
from array import array

_KEPT = 1 << 16
_MOST = 1e9  # percent: with almost no whole, any part would be infinite


def share(part: float, total: float) -> float:
    """`part` in percent of `total` with one decimal, at most a billion; 0 if there is no total."""
    return round(max(-_MOST, min(100.0 * part / total, _MOST)), 1) if total > 0 else 0.0


def micro(value: float) -> float:
    """Microseconds rounded to three decimals, the precision of profilers."""
    return round(value, 3)


def number(value: object) -> float | None:
    """A finite number from a cell or a JSON value (ignoring tabs, blanks and quotes around it), else None."""
    if isinstance(value, bool):
        return None
    try:
        if isinstance(value, str):
            result = float(value.strip(" \t\r\n\"'")) if len(value) < 64 else math.nan
        elif isinstance(value, (int, float)):
            result = float(value)
        else:
            return None
    except (ValueError, OverflowError):
        return None
    return result if math.isfinite(result) else None


class Values:
    """Collects numbers for their mean and median. Of more than 65,536, evenly spaced ones are kept."""

    def __init__(self) -> None:
        self._kept = array("d")
        self._stride = 1
        self.count = 0
        self.total = 0.0
        self.largest = 0.0
        self.largest_line = 0

    def add(self, value: float, line: int = 0) -> None:
        """Add a number, and the line that contains it."""
        if self.count == 0 or value > self.largest:
            self.largest, self.largest_line = value, line
        if self.count % self._stride == 0:
            if len(self._kept) >= _KEPT:
                self._kept = self._kept[::2]
                self._stride *= 2
            if self.count % self._stride == 0:
                self._kept.append(value)
        self.count += 1
        self.total += value

    @property
    def mean(self) -> float:
        """The mean of all numbers; 0 if there are none."""
        return self.total / self.count if self.count else 0.0

    @property
    def median(self) -> float:
        """The median of the kept numbers; 0 if there are none."""
        if not self._kept:
            return 0.0
        ordered = sorted(self._kept)
        middle = len(ordered) // 2
        return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def nanoseconds(value: object) -> int | None:
    """A timestamp in µs as nanoseconds, exact for texts: it has 19 digits, more than a float holds."""
    if isinstance(value, str):
        micros, _, rest = value.strip(" \t\r\n\"'").partition(".")
        if not (micros.isascii() and micros.isdigit()) or len(micros) > 18 or (rest and not rest[:3].isdigit()):
            return None
        return int(micros) * 1000 + (int((rest + "000")[:3]) if rest.isascii() else 0)
    figure = number(value)
    if figure is None or not 0 <= figure < 1e18:
        return None
    return value * 1000 if isinstance(value, int) else round(figure * 1000)
