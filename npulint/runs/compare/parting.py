"""Where two noisy curves part.

The difference of the curves is averaged over a window, and compared with what noise alone makes of such an average.
That noise is measured in the curves themselves, by their changes over growing distances, because it may last for some
time (printed running means, the order of a data set). The curves part where the averaged difference leaves the band of
noise and tolerance and stays outside."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate
from statistics import median, pstdev
from typing import Literal

import msgspec

Verdict = Literal["alike", "part", "apart", "meet", "not_finite", "few"]

TOLERANCE = 0.02
"""The part of its value by which a loss may deviate, as precision acceptance of a migrated training allows."""

SIGMAS = 4.0
"""Standard deviations of an averaged difference that noise does not explain."""

FEW = 20
"""Values below which noise cannot be told from a difference."""

_SURE = 60  # values from which their noise is known well; with fewer, differences must be twice as large
_POINTS = 4000  # beyond these, values are averaged
_WINDOWS = (20, 8, 4)  # of a series, finest first
_SMALLEST = 3  # values of a window
_LONG = 5  # part of the series for which curves must be apart that meet again
_DISTANCE = 10  # part of the series over which noise may last
_MOST_LASTING = 0.99
_STAYS = 0.8  # part of the later windows that are outside
_TRIMMED = 10  # part of the changes that are left out at either end: where curves part, and outliers
_NORMAL = 1.5115  # standard deviation of a normal distribution by that of its middle 80 %


class Parting(msgspec.Struct, frozen=True):
    """The verdict: alike, part (at index `at`, for good), apart (from the first value), meet (apart only from `at` to
    `until`), not_finite (only one is no number at `at`), or few (too few values). `gap` is the mean difference from
    `at` on, as a part of the reference; `noise` the standard deviation of a single difference, likewise."""

    verdict: Verdict
    at: int = -1
    until: int = -1
    gap: float = 0.0
    noise: float = 0.0


def parting(
    reference: Sequence[float], migrated: Sequence[float], tolerance: float = TOLERANCE, absolute: float = 0.0
) -> Parting:
    """Where two series of equal length part; values may be infinite or NaN. They may deviate by `tolerance` as a part
    of the reference, and by `absolute`."""
    stop = next(
        (i for i, pair in enumerate(zip(reference, migrated, strict=True)) if not all(map(_finite, pair))), None
    )
    count = len(reference) if stop is None else stop
    parted = _of_numbers(reference[:count], migrated[:count], tolerance, absolute)
    if stop is None or parted.verdict in ("part", "apart"):
        return parted
    if _finite(reference[stop]) != _finite(migrated[stop]):
        return Parting("not_finite", stop, noise=parted.noise)
    return parted


def first_differs(reference: Sequence[float], migrated: Sequence[float], tolerance: float = TOLERANCE) -> bool:
    """Whether the first values differ by more than tolerance and the noise of a single value explain."""
    if not reference or not (_finite(reference[0]) and _finite(migrated[0])):
        return False
    gaps = [b - a for a, b in zip(reference, migrated, strict=True) if _finite(a) and _finite(b)]
    return abs(gaps[0]) > max(tolerance * abs(reference[0]), SIGMAS * Noise.of(gaps).sigma)


def _of_numbers(reference: Sequence[float], migrated: Sequence[float], tolerance: float, absolute: float) -> Parting:
    count = len(reference)
    if count < FEW:
        return Parting("few")
    size = -(-count // _POINTS)
    a, b = (_averaged(some, size) for some in (reference, migrated))
    gaps = [y - x for x, y in zip(a, b, strict=True)]
    noise = Noise.of(gaps)
    share = noise.sigma / (median(map(abs, a)) or 1.0)
    sigmas = SIGMAS if len(gaps) >= _SURE else 2 * SIGMAS
    brief: Parting | None = None
    for window in dict.fromkeys(max(_SMALLEST, len(gaps) // part) for part in _WINDOWS):
        least = max(absolute, sigmas * noise.of_mean(window))
        begin, end, stays = _outside(_sides(a, gaps, window, tolerance, least), window, len(gaps) // _LONG)
        if begin < 0:
            continue
        # The window that is outside first begins before the curves part, or where they do.
        at = 0 if begin == 0 else _edge(gaps, begin, window)
        until = len(gaps) if stays else end + window
        gap = sum(gaps[at:until]) / (sum(map(abs, a[at:until])) or until - at)
        verdict: Verdict = "meet" if not stays else "apart" if at == 0 else "part"
        numbers = Parting(verdict, at * size, min(until * size, count) - 1, gap, share)
        if stays or _has_gone(gaps, at, until):
            return numbers
        brief = brief or numbers
    return brief or Parting("alike", noise=share)


def _has_gone(gaps: Sequence[float], begin: int, end: int) -> bool:
    """Whether the difference between two indices is smaller by half after them."""
    rest = gaps[end:]
    return bool(rest) and abs(sum(rest) / len(rest)) < abs(sum(gaps[begin:end]) / (end - begin)) / 2


class Noise(msgspec.Struct, frozen=True):
    """The noise of a series that may also drift: its standard deviation, and how much of it lasts from one value to the
    next (0 to 1)."""

    sigma: float
    lasting: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Noise:
        """Measured by changes over growing distances, whose spread grows up to that of independent values."""
        lags = [1]
        while lags[-1] * 2 <= len(values) // _DISTANCE:
            lags.append(lags[-1] * 2)
        spreads = [_spread(values, lag) for lag in lags]
        sigma = max(spreads[0], max(spreads) * (1 - 1 / math.sqrt(len(values))))  # the largest is so by chance, too
        return cls(sigma, min(1 - (spreads[0] / sigma) ** 2, _MOST_LASTING) if sigma else 0.0)

    def of_mean(self, window: int) -> float:
        """The standard deviation of the mean of so many values."""
        return self.sigma * math.sqrt(min(1.0, (1 + self.lasting) / (1 - self.lasting) / window))


def _spread(values: Sequence[float], lag: int) -> float:
    changes = sorted(after - before for before, after in zip(values, values[lag:], strict=False))
    cut = len(changes) // _TRIMMED
    middle = changes[cut : len(changes) - cut]
    return _NORMAL * pstdev(middle) / math.sqrt(2) if middle else 0.0


def _sides(
    reference: Sequence[float], gaps: Sequence[float], window: int, tolerance: float, least: float
) -> list[float]:
    """For each window 1 or -1 where the averaged difference exceeds `least` and the tolerance, else 0."""
    return [
        math.copysign(1, gap) if abs(gap) > max(least, tolerance * abs(level)) else 0.0
        for gap, level in zip(_means(gaps, window), _means(reference, window), strict=True)
    ]


def _outside(sides: Sequence[float], least: int, long: int) -> tuple[int, int, bool]:
    """The first run of windows outside on one side that lasts to the end, else the longest, if it is `long`: its first
    and last window, and whether it lasts; (-1, -1, False) if there is none. A run has at least `least` windows, unless
    there are not so many."""
    begin, runs = 0, list[tuple[int, int]]()
    for i in range(1, len(sides) + 1):
        if i == len(sides) or sides[i] != sides[begin]:
            if sides[begin] and i - begin >= min(least, len(sides)):
                runs.append((begin, i - 1))
            begin = i
    for first, last in runs:
        if sum(1 for side in sides[first:] if side) >= _STAYS * (len(sides) - first):
            return first, last, True
    first, last = max(runs, key=lambda run: run[1] - run[0], default=(-1, -1))
    return (first, last, False) if last - first >= long else (-1, -1, False)


def _edge(gaps: Sequence[float], begin: int, window: int) -> int:
    """The index near `begin` that separates the smaller differences before it from the larger ones after it best."""
    best, at = -1.0, begin
    for i in range(max(1, begin - window), min(len(gaps) - 1, begin + window + 1)):
        before, after = gaps[max(0, i - 2 * window) : i], gaps[i : i + 2 * window]
        step = abs(sum(after) / len(after) - sum(before) / len(before))
        weight = step * math.sqrt(len(before) * len(after) / (len(before) + len(after)))
        if weight > best:
            best, at = weight, i
    return at


def _means(values: Sequence[float], window: int) -> list[float]:
    """The means of all windows."""
    sums = [0.0, *accumulate(values)]
    return [(sums[i + window] - sums[i]) / window for i in range(len(values) - window + 1)]


def _averaged(values: Sequence[float], size: int) -> list[float]:
    if size == 1:
        return list(values)
    return [sum(part) / len(part) for i in range(0, len(values), size) if (part := values[i : i + size])]


def _finite(value: float) -> bool:
    return math.isfinite(value)
