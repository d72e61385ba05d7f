"""Adds two training runs to a comparison, or compares them alone."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from statistics import median

import msgspec

from npulint.core.texts import say
from npulint.data.run_symptoms import Cause, causes
from npulint.discover.paths import local, shown
from npulint.judge.findings import ComparedPair, ComparedRow, Comparison, RunResult, Summary
from npulint.judge.settings import Settings
from npulint.judge.summaries.run_comparison import ComparedCurve, Explanation, RunComparison, Symptom
from npulint.runs.compare.parting import Parting, Verdict, first_differs, parting
from npulint.runs.read.recorded import recorded_values
from npulint.runs.read.recorded.values import QUANTITIES, Quantity, Recorded

# Chooses the series of two runs that mean the same, aligns them, and compares them.

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
    parted = _verdict(quantity, both)
    at = both.at[parted.at] if 0 <= parted.at < len(both.at) else None
    curve = ComparedCurve(
        quantity,
        parted.verdict,
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
        until=both.at[parted.until] if parted.verdict == "meet" else None,
        line=_line(recorded, at),
        migrated_line=_line(other, at),
        gap=round(100 * parted.gap, 2),
        noise=round(100 * parted.noise, 2),
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
        parted = parting([0.0] * len(gaps), gaps, absolute=_NORM)
        return msgspec.structs.replace(parted, gap=math.expm1(min(parted.gap, _MOST)))
    return parting(both.reference, both.migrated)


def _ratios(both: Aligned) -> Iterator[float]:
    """The logarithms of the ratios; where a gradient overflowed, the one before."""
    last = 0.0
    for reference, other in zip(both.reference, both.migrated, strict=True):
        if 0 < reference < math.inf and 0 < other < math.inf:
            last = math.log(other) - math.log(reference)
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


# What two runs show, and which differences of the compared programs may explain it.

_USUAL = 4  # causes that are named when no difference explains a symptom
_EXPLAINED = 12  # differences that are named
_RISES = 1.5  # of the learning rate in a warm-up
_LENGTH = 0.02  # of the steps

Curves = dict[str, ComparedCurve]


def compared_runs(
    names: tuple[str, str],
    sides: tuple[Sequence[Recorded], Sequence[Recorded]],
    pairs: Sequence[ComparedPair],
    lang: str,
) -> RunComparison:
    """Two runs beside each other; `pairs` are the compared programs, empty if there is no code."""
    curves = {compared_curve.quantity: compared_curve for compared_curve in compared_curves(*sides)}
    rows = list(dict.fromkeys(_rows(pairs)))
    ends = _ends(curves.get("loss"))
    symptoms = [_explained(name, quantity, at, rows, lang) for name, quantity, at in _symptoms(curves, sides, ends)]
    return RunComparison(*names, tuple(curves.values()), tuple(symptoms), ends)


def _symptoms(
    curves: Curves, sides: tuple[Sequence[Recorded], Sequence[Recorded]], ends: tuple[float, float] | None
) -> Iterable[tuple[str, str, float | None]]:
    """Names, quantities and positions of what the runs show, what comes first first."""
    loss = curves.get("loss")
    if loss is not None and loss.verdict != "missing":
        first = first_loss_differs(*chosen_loss(*sides))
        start = loss.points[0][0] if loss.points else None
        if first or loss.verdict == "apart":
            yield "first_loss", "loss", start
        if loss.verdict == "not_finite":
            yield "not_finite", "loss", loss.at
        elif loss.verdict in ("part", "meet") and loss.at is not None:
            yield "warm_up" if loss.at <= _warmed_up(curves.get("learning_rate")) else "later", "loss", loss.at
    for name in ("learning_rate", "loss_scale", "grad_norm"):
        curve = curves.get(name)
        if curve is not None and curve.differs:
            yield name, name, curve.at
    if ends is not None and abs(ends[1] - ends[0]) > _LENGTH * max(ends):
        yield "length", "loss", min(ends)
    pace = curves.get("step_time")
    if pace is not None and pace.verdict == "slower":
        yield "slower", "step_time", None


def _warmed_up(rate: ComparedCurve | None) -> float:
    """The position where the learning rate of the reference is highest, if it rises before; -1 otherwise."""
    points = [(value, -at) for at, value in (rate.points if rate is not None else ()) if value is not None]
    if not points:
        return -1.0
    high, at = max(points)
    return -at if high > _RISES * points[0][0] else -1.0


def _ends(loss: ComparedCurve | None) -> tuple[float, float] | None:
    """The last positions of both losses, if both count steps or epochs."""
    if loss is None or loss.axis == "entry" or not loss.points or not loss.migrated_points:
        return None
    return loss.points[-1][0], loss.migrated_points[-1][0]


def _rows(pairs: Sequence[ComparedPair]) -> Iterable[ComparedRow]:
    """The compared values that differ, certain differences first."""
    compared_rows = [
        row for pair in pairs for item in pair.items for row in item.rows if row.answer in ("differs", "note")
    ]
    return sorted(compared_rows, key=lambda row: row.answer != "differs")


def _explained(name: str, quantity: str, at: float | None, rows: Sequence[ComparedRow], lang: str) -> Symptom:
    possible_causes = causes()[name]
    explanations = [_of_row(row, cause, lang) for cause in possible_causes for row in rows if row.part in cause.parts]
    if explanations:
        return Symptom(name, quantity, at, tuple(explanations[:_EXPLAINED]), explained=True)
    usual = tuple(Explanation(" ".join(cause.parts), cause.reason(lang)) for cause in possible_causes[:_USUAL])
    return Symptom(name, quantity, at, usual)


def _of_row(row: ComparedRow, cause: Cause, lang: str) -> Explanation:
    left, right = (" ".join(side.text.split()) if side is not None else "" for side in (row.reference, row.migrated))
    place = row.migrated or row.near or row.reference
    path, line = (place.path, place.span.line) if place is not None else ("", 0)
    return Explanation(row.part, cause.reason(lang), row.what, left, right, path, line, row.code)


def add_runs(result: RunResult, settings: Settings, runs: tuple[str, str]) -> RunResult:
    """The result with the runs at both paths (logs, tables, event files, or folders with them) beside each other. A
    result without a comparison becomes one of the runs alone."""
    names = shown(local(runs[0])), shown(local(runs[1]))
    sides = recorded_values(runs[0], names[0]), recorded_values(runs[1], names[1])
    comparison = result.comparison
    compared = compared_runs(names, sides, comparison.pairs if comparison is not None else (), settings.language())
    together = any(curve.count for curve in compared.curves)
    if comparison is None:
        read = len({recorded.path for side in sides for recorded in side}) if together else 0
        comparison, result = Comparison(*names), msgspec.structs.replace(result, summary=Summary(max(read, 2), read))
    elif not together:
        notice = say(settings.language(), "pair.nothing")
        result = msgspec.structs.replace(result, notices=[*result.notices, notice])
    return msgspec.structs.replace(result, comparison=msgspec.structs.replace(comparison, runs=compared))
