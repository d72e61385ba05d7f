"""Slow steps, periodically slow steps, and a decreasing training speed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from statistics import median
from typing import Literal, NamedTuple

from npulint.facts.kinds import fact_kind
from npulint.facts.model import Fact, FileFact, Span
from npulint.runs.read.quantities import share
from npulint.runs.read.series.numbers import rounded
from npulint.runs.read.series.step_rate import StepRate

SLOW = 4  # ratio to the median
ENOUGH = 20  # times that form a series
_EVENTS = 5
_REGULAR = 0.8  # fraction of the slow steps at multiples of the period
_FILLED = 0.5  # fraction of the multiples that are slow
_LONGEST = 5000
_GAPS = 24  # distances that are tested
_ROUNDS = 3
_WARM_UP = 2
_GROWN = 5  # ratio of last to first value for a time since the start


class _Stall(FileFact):
    label: str
    """How the times or rates are called in the log or table; empty for differences of time stamps."""
    points: int
    worst: float
    """The longest time, in multiples of the median."""


@fact_kind("run_stall")
class StepTimes(_Stall):
    """Times or rates of one kind of line, at least 20."""

    name: Literal["pace"]
    slowdown: float
    """Throughput of the last tenth below that of the first, in percent."""


@fact_kind("run_stall")
class PeriodicStall(_Stall):
    """Slow steps, of more than 4 times the median, that come again at regular intervals."""

    name: Literal["periodic"]
    period: int
    """In steps."""
    phase: int
    """The rest of the slow step's number divided by it."""
    events: int
    """How many slow steps there are."""
    lost_share: float
    """The time that they lose, in percent of the whole."""
    lost_seconds: float | None
    """The same in seconds; none of rates, whose batch is unknown."""


class Times(NamedTuple):
    """Step times in seconds, with line and step numbers."""

    seconds: list[float]
    lines: list[int]
    steps: list[int]


class Period(NamedTuple):
    """Periodically slow steps: every `every` steps, `phase` after a multiple; and the indices of these steps."""

    every: int
    phase: int
    events: list[int]


def stalls(pace: StepRate, path: str) -> list[Fact]:
    """The facts of one series of times: a `run_stall` named pace, and one named periodic for each period. Empty for a
    short series."""
    times = _times(pace)
    if len(times.seconds) < ENOUGH:
        return []
    usual = median(times.seconds)
    if usual <= 0:
        return []
    slow = [index for index, value in enumerate(times.seconds) if value > SLOW * usual]
    worst = max(range(len(times.seconds)), key=times.seconds.__getitem__)
    step_times = StepTimes(
        "pace",
        path,
        Span.at(times.lines[worst if slow else 0]),
        label=pace.label,
        points=pace.count,
        worst=rounded(times.seconds[worst] / usual),
        slowdown=_slowdown(pace, times),
    )
    return [step_times, *(periodic(pace, times, usual, period, path) for period in periods(times.steps, slow))]


def periods(steps: Sequence[int], slow: Sequence[int]) -> list[Period]:
    """The periods of the slow steps, the one that explains most first; `slow` are indices in `steps`. Steps explained
    by one period are not used for the next."""
    periods: list[Period] = []
    rest = list(slow)
    for _ in range(_ROUNDS):
        if len(rest) < _EVENTS:
            break
        period = _period(steps, rest, slow)
        if period is None:
            break
        periods.append(period)
        explained = set(period.events)
        rest = [index for index in rest if index not in explained]
    return periods


def _period(steps: Sequence[int], rest: list[int], slow: Sequence[int]) -> Period | None:
    gaps = Counter(steps[right] - steps[left] for left, right in pairwise(rest))
    tried = [gap for gap, _ in gaps.most_common(_GAPS) if 2 <= gap <= _LONGEST]
    for every in sorted(tried, reverse=True):
        phase, count = Counter(steps[index] % every for index in rest).most_common(1)[0]
        if count < _EVENTS or count < _REGULAR * len(rest):
            continue
        places = sum(step % every == phase for step in steps)
        events = [index for index in slow if steps[index] % every == phase]
        distances = len({steps[index] // every for index in events})
        if len(events) >= _FILLED * places and distances >= _EVENTS and places * 2 <= len(steps):
            return Period(every, phase, events)
    return None


def _times(pace: StepRate) -> Times:
    seconds, lines, steps = list(pace.seconds), list(pace.lines), list(pace.steps)
    if not all(step >= 0 for step in steps):
        steps = _steps_between(list(pace.near))
    if pace.clock and len(seconds) >= ENOUGH and _is_clock(seconds):
        pairs = pairwise(seconds)
        spans = [after - before if after >= before else after for before, after in pairs]
        return Times(spans, lines[1:], steps[1:])
    return Times(seconds, lines, steps)


def _steps_between(near: list[int]) -> list[int]:
    """The steps of lines without step number: the last named ones, if there is a new one for each line (an Estimator
    prints its rate, then the step); else each line is one step. The first line may precede any step."""
    steps = list(near)
    if len(steps) > 2 and steps[0] < 0:
        steps[0] = 2 * steps[1] - steps[2]
    rising = all(before < after for before, after in pairwise(steps))
    return steps if rising else list(range(len(near)))


def _is_clock(seconds: list[float]) -> bool:
    """Whether the values are times since the start of the run or epoch. Equal times with few slow steps among them fall
    as often as they rise."""
    falling = sum(after < before for before, after in pairwise(seconds))
    rising = sum(after > before for before, after in pairwise(seconds))
    grown = max(seconds) >= _GROWN * max(seconds[0], 1e-9)
    return grown and falling <= 0.05 * (len(seconds) - 1) and 4 * falling <= rising


def _slowdown(pace: StepRate, times: Times) -> float:
    """The slowdown from the first to the last tenth, in percent of throughput."""
    tenth = max(len(times.seconds) // 10, 5)
    begin = median(times.seconds[_WARM_UP : _WARM_UP + tenth])
    late = list(pace.latest) if pace.latest and not pace.clock else times.seconds
    end = median(late[-tenth:])
    return share(end - begin, end) if end > begin else 0.0


def periodic(pace: StepRate, times: Times, usual: float, period: Period, path: str) -> PeriodicStall:
    """The fact of one period; `usual` is the time of a step that is not slow."""
    lost = sum(times.seconds[index] - usual for index in period.events)
    return PeriodicStall(
        "periodic",
        path,
        Span.at(times.lines[period.events[0]]),
        label=pace.label,
        points=pace.count,
        worst=rounded(max(times.seconds[index] for index in period.events) / usual),
        period=period.every,
        phase=period.phase,
        events=len(period.events),
        lost_share=share(lost, sum(times.seconds)),
        lost_seconds=None if pace.rate else rounded(lost),
    )
