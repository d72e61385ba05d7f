"""Numbers of series: rounding, and summaries of arbitrarily many values."""

from __future__ import annotations

NUMBER = r"\d{1,15}(?:\.\d{0,17})?(?:e[+-]?\d{1,3})?"
"""A plain number; use it where no digit or dot precedes it. All repetitions are bounded, so that a search is linear."""

CURVE = 120
"""Maximum number of points of a curve."""

_BLOCKS = 1024


def rounded(value: float) -> float:
    """A number with six significant digits, as facts have it."""
    return float(f"{value:.6g}")


class Block:
    """A summary of consecutive numbers."""

    __slots__ = ("count", "high", "low", "total")

    def __init__(self) -> None:
        self.count = 0
        self.total = 0.0
        self.low = float("inf")
        self.high = float("-inf")

    def add(self, other: Block) -> None:
        """Merge the following block."""
        self.count += other.count
        self.total += other.total
        self.low = min(self.low, other.low)
        self.high = max(self.high, other.high)

    @property
    def mean(self) -> float:
        """The mean, 0 if there are no numbers."""
        return self.total / self.count if self.count else 0.0


class Blocks:
    """A sequence of any number of values, summarized in at most 1024 blocks of equal size."""

    def __init__(self) -> None:
        self._blocks: list[Block] = []
        self._size = 1

    def put(self, value: float) -> None:
        """Add the next number."""
        if not self._blocks or self._blocks[-1].count >= self._size:
            if len(self._blocks) >= _BLOCKS:
                self._halve()
            self._blocks.append(Block())
        last = self._blocks[-1]
        last.count += 1
        last.total += value
        if value < last.low:  # faster than min and max, which would take half of the time of a long table
            last.low = value
        if value > last.high:
            last.high = value

    def part(self, start: float, stop: float) -> Block:
        """The summary of the values between two fractions (0 to 1) of the series, at least one block."""
        count = len(self._blocks)
        united = Block()
        first = min(int(count * start), max(count - 1, 0))
        for block in self._blocks[first : max(int(count * stop), first + 1)]:
            united.add(block)
        return united

    def curve(self) -> list[float]:
        """At most 120 points for a chart: all of few values, of many the minimum and maximum of each segment."""
        if len(self._blocks) <= CURVE and self._size == 1:
            return [rounded(block.low) for block in self._blocks]
        length = -(-len(self._blocks) // (CURVE // 2))
        points: list[float] = []
        for start in range(0, len(self._blocks), length):
            stretch = Block()
            for block in self._blocks[start : start + length]:
                stretch.add(block)
            ends = [rounded(stretch.low), rounded(stretch.high)]
            # Their order is unknown: the one closer to the previous segment comes first, for a smoother curve.
            if points and abs(points[-1] - ends[1]) < abs(points[-1] - ends[0]):
                ends.reverse()
            points += ends if ends[0] != ends[1] else ends[:1]
        return points

    def _halve(self) -> None:
        for left, right in zip(self._blocks[::2], self._blocks[1::2], strict=True):
            left.add(right)
        self._blocks = self._blocks[::2]
        self._size *= 2
