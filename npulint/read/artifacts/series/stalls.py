"""Steps that take far longer than the others, those that come again after some number of steps, and a slowing run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from statistics import median
from typing import Any, NamedTuple

from npulint.facts.model import Fact, GenericFact, Span
from npulint.read.artifacts.quantities import share
from npulint.read.artifacts.series.numbers import rounded
from npulint.read.artifacts.series.step_rate import StepRate

SLOW = 4  # times the median
_ENOUGH = 20  # times that make a series
_EVENTS = 5
_REGULAR = 0.8  # of the slow steps lie at multiples
_FILLED = 0.5  # of the multiples are slow
_LONGEST = 5000
_GAPS = 24  # distances that are tried
_ROUNDS = 3
_WARM_UP = 2
_GROWN = 5  # a time since the start is so many times its first value at the end


class Times(NamedTuple):
    """Seconds of steps, with the lines and numbers of these."""

    seconds: list[float]
    lines: list[int]
    steps: list[int]


class Period(NamedTuple):
    """Slow steps that come again: every `every` steps, `phase` after a multiple; which of the slow ones these are."""

    every: int
    phase: int
    events: list[int]


def stalls(pace: StepRate, path: str) -> list[Fact]:
    """The facts of one series of times: `run_stall` pace, and periodic for each period. Empty for a short series."""
    times = _times(pace)
    if len(times.seconds) < _ENOUGH:
        return []
    usual = median(times.seconds)
    if usual <= 0:
        return []
    slow = [index for index, value in enumerate(times.seconds) if value > SLOW * usual]
    common = {"label": pace.label, "points": pace.count, "slow": len(slow), **_median(pace, usual)}
    worst = max(range(len(times.seconds)), key=times.seconds.__getitem__)
    line = times.lines[worst if slow else 0]
    attributes = {**common, **_course(pace, times, usual, slow)}
    found: list[Fact] = [GenericFact("run_stall", "pace", path, Span.at(line), attributes)]
    for period in periods(times.steps, slow):
        line = times.lines[period.events[0]]
        attributes = {**common, **_lost(pace, times, usual, period)}
        found.append(GenericFact("run_stall", "periodic", path, Span.at(line), attributes))
    return found


def periods(steps: Sequence[int], slow: Sequence[int]) -> list[Period]:
    """The periods of the slow steps, the one that explains most first; `slow` are places in `steps`. What one period
    explains is no evidence for the next."""
    found: list[Period] = []
    rest = list(slow)
    for _ in range(_ROUNDS):
        if len(rest) < _EVENTS:
            break
        period = _period(steps, rest, slow)
        if period is None:
            break
        found.append(period)
        explained = set(period.events)
        rest = [index for index in rest if index not in explained]
    return found


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
    if pace.clock and len(seconds) >= _ENOUGH and _is_clock(seconds):
        pairs = pairwise(seconds)
        spans = [after - before if after >= before else after for before, after in pairs]
        return Times(spans, lines[1:], steps[1:])
    return Times(seconds, lines, steps)


def _steps_between(near: list[int]) -> list[int]:
    """The steps of lines that name none: those named last, if there is a new one for each line (an Estimator tells its
    rate, then the step); else each line is one step. The first line may come before any step."""
    whole = list(near)
    if len(whole) > 2 and whole[0] < 0:
        whole[0] = 2 * whole[1] - whole[2]
    rising = all(before < after for before, after in pairwise(whole))
    return whole if rising else list(range(len(near)))


def _is_clock(seconds: list[float]) -> bool:
    """Whether these are the times since the start of the run, or of the epoch."""
    rising = sum(after >= before for before, after in pairwise(seconds))
    return rising >= 0.95 * (len(seconds) - 1) and max(seconds) >= _GROWN * max(seconds[0], 1e-9)


def _median(pace: StepRate, usual: float) -> dict[str, Any]:
    return {"median_rate": rounded(1 / usual)} if pace.rate else {"median_seconds": rounded(usual)}


def _course(pace: StepRate, times: Times, usual: float, slow: list[int]) -> dict[str, Any]:
    """How much slower the last tenth is than the first one, in percent of the throughput."""
    tenth = max(len(times.seconds) // 10, 5)
    begin = median(times.seconds[_WARM_UP : _WARM_UP + tenth])
    late = list(pace.latest) if pace.latest and not pace.clock else times.seconds
    end = median(late[-tenth:])
    return {
        "slowdown": share(end - begin, end) if end > begin else 0.0,
        "slow_share": share(len(slow), len(times.seconds)),
        "worst": rounded(max(times.seconds) / usual),
        "first_line": times.lines[0],
        "last_line": times.lines[-1],
    }


def _lost(pace: StepRate, times: Times, usual: float, period: Period) -> dict[str, Any]:
    lost = sum(times.seconds[index] - usual for index in period.events)
    told = {
        "period": period.every,
        "phase": period.phase,
        "events": len(period.events),
        "worst": rounded(max(times.seconds[index] for index in period.events) / usual),
        "lost_share": share(lost, sum(times.seconds)),
        "first_line": times.lines[period.events[0]],
        "last_line": times.lines[period.events[-1]],
    }
    # Rates are per sample (or token …): seconds lost are these times the batch.
    return {**told, "lost_per_item" if pace.rate else "lost_seconds": rounded(lost)}
