"""Numbers as logs print them, and what is kept of many of them."""

from __future__ import annotations

NUMBER = r"\d{1,15}(?:\.\d{0,17})?(?:e[+-]?\d{1,3})?"
"""A plain number; to be used where no digit and no dot stands before it. All parts are bounded, so that a search is
linear."""

CURVE = 120
"""The most points of a curve."""

_BLOCKS = 1024


def rounded(value: float) -> float:
    """A number with six digits, as facts give it."""
    return float(f"{value:.6g}")


class Block:
    """Some numbers that came one after the other."""

    __slots__ = ("count", "high", "low", "total")

    def __init__(self) -> None:
        self.count = 0
        self.total = 0.0
        self.low = float("inf")
        self.high = float("-inf")

    def add(self, other: Block) -> None:
        """Take in the numbers of the block that follows."""
        self.count += other.count
        self.total += other.total
        self.low = min(self.low, other.low)
        self.high = max(self.high, other.high)

    @property
    def mean(self) -> float:
        """Their mean, 0 if there are none."""
        return self.total / self.count if self.count else 0.0


class Blocks:
    """Any number of numbers in their order, in at most 1024 blocks of equal size."""

    def __init__(self) -> None:
        self._blocks: list[Block] = []
        self._size = 1

    def put(self, value: float) -> None:
        """Take in the next number."""
        if not self._blocks or self._blocks[-1].count >= self._size:
            if len(self._blocks) >= _BLOCKS:
                self._halve()
            self._blocks.append(Block())
        last = self._blocks[-1]
        last.count += 1
        last.total += value
        if value < last.low:  # min and max would be half of the time that a long table takes
            last.low = value
        if value > last.high:
            last.high = value

    def part(self, start: float, stop: float) -> Block:
        """The numbers between two shares (0 to 1) of the series, at least one block."""
        known = len(self._blocks)
        united = Block()
        first = min(int(known * start), max(known - 1, 0))
        for block in self._blocks[first : max(int(known * stop), first + 1)]:
            united.add(block)
        return united

    def curve(self) -> list[float]:
        """At most 120 numbers for a picture: all of few, of many the lowest and the highest of each stretch."""
        if len(self._blocks) <= CURVE and self._size == 1:
            return [rounded(block.low) for block in self._blocks]
        length = -(-len(self._blocks) // (CURVE // 2))
        points: list[float] = []
        for start in range(0, len(self._blocks), length):
            stretch = Block()
            for block in self._blocks[start : start + length]:
                stretch.add(block)
            ends = [rounded(stretch.low), rounded(stretch.high)]
            # Which came first is not kept: the one nearer to the stretch before makes the smoother picture.
            if points and abs(points[-1] - ends[1]) < abs(points[-1] - ends[0]):
                ends.reverse()
            points += ends if ends[0] != ends[1] else ends[:1]
        return points

    def _halve(self) -> None:
        for left, right in zip(self._blocks[::2], self._blocks[1::2], strict=True):
            left.add(right)
        self._blocks = self._blocks[::2]
        self._size *= 2
