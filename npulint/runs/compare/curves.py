"""Chooses the series of two runs that mean the same, aligns them, and compares them."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from statistics import median

import msgspec

from npulint.judge.summaries.run_comparison import ComparedCurve
from npulint.runs.compare.parting import Parting, Verdict, first_differs, parting
from npulint.runs.read.recorded.values import QUANTITIES, Quantity, Recorded

_ENOUGH = 3  # common positions
_DRAWN = 400  # points of a curve
_RATE = 0.01  # learning rates are printed with few digits
_NORM = math.log(1.1)  # gradient norms differ by factors
_MOST = 700.0  # logarithm of a ratio that is a number
_SCALE = 8.0  # a loss scale that is so many times smaller
_DROPS = 3  # more of them than in the reference
_WARM = 0.1  # of the steps, which are slower
_PACE = 0.05  # two runs of one program differ by as much


class Aligned(msgspec.Struct, frozen=True, eq=False):
    """Two series at common positions, with the index of each position in its own series."""

    at: Sequence[float]
    reference: Sequence[float]
    migrated: Sequence[float]


def compared_curves(reference: Sequence[Recorded], migrated: Sequence[Recorded]) -> list[ComparedCurve]:
    """One curve for each quantity that a run records."""
    curves = []
    for quantity in QUANTITIES:
        left, right = (
            [recorded for recorded in side if recorded.quantity == quantity] for side in (reference, migrated)
        )
        if left and right:
            curves.append(_compared(quantity, *_chosen(left, right)))
        elif left or right:
            curves.append(_alone(quantity, (left or right)[0], bool(left)))
    return curves


def _chosen(left: Sequence[Recorded], right: Sequence[Recorded]) -> tuple[Recorded, Recorded]:
    """The two series that correspond best: both long, from the same kind of file, with the same label."""
    return max(((recorded, other) for recorded in left for other in right), key=_likeness)


def _likeness(pair: tuple[Recorded, Recorded]) -> tuple[bool, bool, float]:
    recorded, other = pair
    points = min(len(recorded.at), len(other.at))
    alike = (
        (recorded.form == other.form) + (recorded.label.lower() == other.label.lower()) + (recorded.axis == other.axis)
    )
    return points >= _ENOUGH, alike >= 2, math.log10(points + 1) + alike


def _compared(quantity: Quantity, recorded: Recorded, other: Recorded) -> ComparedCurve:
    if quantity == "step_time":
        return _paced(recorded, other)
    both = aligned(recorded, other)
    found = _verdict(quantity, both)
    at = both.at[found.at] if 0 <= found.at < len(both.at) else None
    curve = ComparedCurve(
        quantity,
        found.verdict,
        *(
            recorded.label,
            other.label,
            recorded.path,
            other.path,
            recorded.axis if recorded.axis == other.axis else "entry",
        ),
        count=len(both.at),
        points=_drawn(recorded),
        migrated_points=_drawn(other),
        at=at,
        until=both.at[found.until] if found.verdict == "meet" else None,
        line=_line(recorded, at),
        migrated_line=_line(other, at),
        gap=round(100 * found.gap, 2),
        noise=round(100 * found.noise, 2),
    )
    if not both.at:
        return curve
    ends = [(_shown(both.reference[i]), _shown(both.migrated[i])) for i in (0, -1)]
    return msgspec.structs.replace(curve, first=ends[0], last=ends[1])


def _alone(quantity: Quantity, recorded: Recorded, reference: bool) -> ComparedCurve:
    points = _drawn(recorded)
    if reference:
        return ComparedCurve(quantity, "missing", recorded.label, path=recorded.path, axis=recorded.axis, points=points)
    return ComparedCurve(
        quantity,
        "missing",
        migrated_label=recorded.label,
        migrated_path=recorded.path,
        axis=recorded.axis,
        migrated_points=points,
    )


def _verdict(quantity: Quantity, both: Aligned) -> Parting:
    if quantity == "learning_rate":
        return _exact(both, _RATE)
    if quantity == "loss_scale":
        return _scales(both)
    if quantity == "grad_norm":
        gaps = list(_ratios(both))
        found = parting([0.0] * len(gaps), gaps, absolute=_NORM)
        return msgspec.structs.replace(found, gap=math.expm1(min(found.gap, _MOST)))
    return parting(both.reference, both.migrated)


def _ratios(both: Aligned) -> Iterator[float]:
    """The logarithms of the ratios; where a gradient overflowed, the one before."""
    last = 0.0
    for one, other in zip(both.reference, both.migrated, strict=True):
        if 0 < one < math.inf and 0 < other < math.inf:
            last = math.log(other) - math.log(one)
        yield last


def _exact(both: Aligned, tolerance: float) -> Parting:
    """Where values without noise differ: at two positions in a row, or at the last."""
    off = [abs(b - a) > tolerance * max(abs(a), abs(b)) for a, b in zip(both.reference, both.migrated, strict=True)]
    count = len(off)
    if not count:
        return Parting("few")
    at = next((i for i in range(count) if off[i] and (i + 1 == count or off[i + 1])), -1)
    if at < 0:
        return Parting("alike")
    back = max(i for i in range(count) if off[i]) + 1
    gaps = [b / a - 1 for a, b in zip(both.reference[at:back], both.migrated[at:back], strict=True) if a]
    verdict: Verdict = "meet" if back < count else "apart" if at == 0 else "part"
    return Parting(verdict, at, back - 1, sum(gaps) / len(gaps) if gaps else 0.0)


def _scales(both: Aligned) -> Parting:
    """Dynamic scales differ in every run: it matters where they begin, how low they get, and how often they fall."""
    pairs = list(zip(both.reference, both.migrated, strict=True))
    if len(pairs) < _ENOUGH:
        return Parting("few")
    first, other = pairs[0]
    if first != other and max(first, other) >= 2 * min(first, other):
        return Parting("apart", 0, len(pairs) - 1, other / first - 1 if first else 0.0)
    falls = [[i for i in range(1, len(side)) if side[i] < side[i - 1]] for side in (both.reference, both.migrated)]
    lower = next((i for i, (a, b) in enumerate(pairs) if b * _SCALE <= a and b), -1)
    often = len(falls[1]) > 2 * len(falls[0]) + _DROPS
    if lower < 0 and not often:
        return Parting("alike")
    at = lower if lower >= 0 else falls[1][len(falls[0])]
    return Parting("part", at, len(pairs) - 1, pairs[at][1] / pairs[at][0] - 1 if pairs[at][0] else 0.0)


def _paced(recorded: Recorded, other: Recorded) -> ComparedCurve:
    """The usual times of a step; times and rates of different names are not compared."""
    left, right = _pace(recorded.values), _pace(other.values)
    same = recorded.label == other.label or ("time" in recorded.label.lower() and "time" in other.label.lower())
    change = right / left - 1 if left else 0.0
    verdict = "slower" if change > _PACE else "faster" if change < -_PACE else "alike"
    return ComparedCurve(
        "step_time",
        verdict if same and left and right else "few",
        *(
            recorded.label,
            other.label,
            recorded.path,
            other.path,
            recorded.axis if recorded.axis == other.axis else "entry",
        ),
        count=min(len(recorded.at), len(other.at)),
        points=_drawn(recorded),
        migrated_points=_drawn(other),
        first=(_shown(left), _shown(right)),
        last=(_shown(left), _shown(right)),
        gap=round(100 * change, 1),
    )


def _pace(values: Sequence[float]) -> float:
    """The usual time of a step, without the first ones."""
    numbers = [value for value in values if math.isfinite(value)]
    return median(numbers[min(int(len(numbers) * _WARM) + 1, len(numbers) - 1) :]) if numbers else 0.0


def chosen_loss(reference: Sequence[Recorded], migrated: Sequence[Recorded]) -> tuple[Recorded, Recorded]:
    """The losses of two runs that correspond best. Both must record one."""
    left, right = ([recorded for recorded in side if recorded.quantity == "loss"] for side in (reference, migrated))
    return _chosen(left, right)


def first_loss_differs(recorded: Recorded, other: Recorded) -> bool:
    """Whether the first losses differ by more than noise."""
    both = aligned(recorded, other)
    return first_differs(both.reference, both.migrated)


def aligned(recorded: Recorded, other: Recorded) -> Aligned:
    """The values at common positions: equal ones if most are, else those of the coarser series, at which the finer one
    is averaged; by number if the positions mean different things."""
    if recorded.axis != other.axis:
        count = min(len(recorded.at), len(other.at))
        return Aligned([float(i) for i in range(count)], recorded.values[:count], other.values[:count])
    left, right = dict(zip(recorded.at, recorded.values, strict=True)), dict(zip(other.at, other.values, strict=True))
    common = [at for at in recorded.at if at in right]
    if len(common) >= max(_ENOUGH, min(len(left), len(right)) // 2):
        return Aligned(common, [left[at] for at in common], [right[at] for at in common])
    low, high = max(recorded.at[0], other.at[0]), min(recorded.at[-1], other.at[-1])
    coarse = recorded if len(_within(recorded, low, high)) <= len(_within(other, low, high)) else other
    places = _within(coarse, low, high)
    return Aligned(places, _sampled(recorded, places), _sampled(other, places))


def _within(recorded: Recorded, low: float, high: float) -> list[float]:
    return [at for at in recorded.at if low <= at <= high]


def _sampled(recorded: Recorded, places: Sequence[float]) -> list[float]:
    """The means of the values after the position before, up to each position; where there are none, on the line between
    the nearest."""
    sampled = []
    before = -math.inf
    for place in places:
        begin, end = bisect_right(recorded.at, before), bisect_right(recorded.at, place)
        begin = max(begin, bisect_left(recorded.at, place) - 1) if before == -math.inf else begin
        values = recorded.values[begin:end]
        sampled.append(sum(values) / len(values) if values else _between(recorded, place))
        before = place
    return sampled


def _between(recorded: Recorded, place: float) -> float:
    right = min(max(bisect_left(recorded.at, place), 1), len(recorded.at) - 1)
    x, y = recorded.at[right - 1 : right + 1], recorded.values[right - 1 : right + 1]
    if len(x) < 2 or x[1] == x[0]:
        return recorded.values[0]
    return y[0] + (y[1] - y[0]) * (place - x[0]) / (x[1] - x[0])


def _drawn(recorded: Recorded) -> tuple[tuple[float, float | None], ...]:
    """The points for a picture; of many, the lowest and highest of each stretch."""
    points = [(at, _shown(value)) for at, value in zip(recorded.at, recorded.values, strict=True)]
    if len(points) <= _DRAWN:
        return tuple(points)
    length = -(-len(points) // (_DRAWN // 2))
    kept: list[tuple[float, float | None]] = []
    for start in range(0, len(points), length):
        part = points[start : start + length]
        numbers = [(at, value) for at, value in part if value is not None]
        kept += sorted({min(numbers, key=_value), max(numbers, key=_value)}) if numbers else part[:1]
    return tuple(kept)


def _value(point: tuple[float, float]) -> float:
    return point[1]


def _shown(value: float) -> float | None:
    return float(f"{value:.6g}") if math.isfinite(value) else None


def _line(recorded: Recorded, at: float | None) -> int:
    """The line of the first value at or after a position, where lines mean something."""
    if at is None or recorded.form not in ("log", "series_table"):
        return 0
    return next((line for place, line in zip(recorded.at, recorded.lines, strict=True) if place >= at), 0)
