"""Times of steps from the time stamps of log lines, for logs that print no times of their own.

Of a stamp only the time of day counts, so that stamps without a year or a date do as well: two lines of one series are
less than half a day apart."""

from __future__ import annotations

from array import array
from collections import Counter
from statistics import fmean, median
from typing import NamedTuple

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.model import Fact
from npulint.runs.read.series.stalls import ENOUGH, SLOW, Times, periodic, periods
from npulint.runs.read.series.step_rate import POINTS, SERIES, StepRate

_DAY = 86400.0
_CLOCK = lazy_compile(r"(?<![\d:.])(\d{1,2}):(\d\d):(\d\d)(?:[.,](\d{1,9}))?(?![\d:]|\s{0,2}<)")
_REMAINING = lazy_compile(r"(?:eta|remain(?:ing|s)?|left|etc)(?:[ _]time)?\W{0,4}\Z")
_BAR = lazy_compile(r"\[(?:(\d{1,4}):)?(\d\d):(\d\d)<")
_SINCE_1970 = lazy_compile(r"(?<![\d.])(1[4-9]\d{8})(?:\.(\d{1,9})|(\d{3}))?(?![\d.])")
_CLOCKS = 3  # of a line that are tried

# Without the names of days and months, which change during a run.
_WORD = lazy_compile(
    r"(?!(?:mon|tue|wed|thu|fri|sat|sun|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\b)(?<![a-z_])[a-z_]{2,24}"
)
_WORDS = 8
_RANK = lazy_compile(
    r"\b(?:rank|worker|replica|device|npu|node)[-_ ]?(?:id)?\W{0,3}\d{1,5}"
    r"|\[\d{1,4},\d{1,4}\]<|\[default\d{1,4}\]|^\d{1,4}: "
)
_PAUSE = lazy_compile(
    r"(?<![\w/.-])(?:eval\w{0,12}|valid\w{0,8}|val|test(?:ing)?|(?:val|test)[_-]\w{1,16})(?![\w/]|[.-]\w)"
)
_EPOCH = lazy_compile(r"\bepochs?\W{0,4}(\d{1,7})")

_AGO = 8  # steps: a line so far behind belongs to another run, a nearer one to another rank
_BROKEN = 0.05  # fraction of the lines that come too early or late, beyond which several programs wrote the log
_REAL = 0.002  # seconds: lines that follow each other faster were held back and written together
_COARSE = 0.02  # the same for stamps in whole units, which then are often equal, by unit


class Stamp(NamedTuple):
    """The time of a line in seconds of the day (or since the start), and the unit of its last digit."""

    seconds: float
    unit: float


def stamp_of(low: str) -> Stamp | None:
    """The time stamp of a lower-case line: a time of day, the clock of a progress bar, or seconds since 1970."""
    if ":" in low:
        at = 0
        for _ in range(_CLOCKS):
            match = _CLOCK.search(low, at)
            if match is None:
                break
            if not _REMAINING.search(low, max(0, match.start() - 24), match.start()):
                return _stamp(int(match[1]), int(match[2]), int(match[3]), match[4])
            at = match.end()
        match = _BAR.search(low)
        if match:
            return _stamp(int(match[1] or "0"), int(match[2]), int(match[3]), None)
    match = _SINCE_1970.search(low)
    return _stamp(0, 0, int(match[1]) % int(_DAY), match[2] or match[3]) if match else None


def _stamp(hours: int, minutes: int, seconds: int, fraction: str | None) -> Stamp:
    unit = 10.0 ** -len(fraction or "")
    return Stamp(hours * 3600 + minutes * 60 + seconds + int(fraction or "0") * unit, unit)


class _Series:
    """The steps of one kind of line: the time since the one before, its distance in steps, and its place."""

    def __init__(self) -> None:
        self.seconds = array("d")
        self.distances = array("q")
        self.lines = array("q")
        self.steps = array("q")
        self.totals = array("q")
        self.unit = 0.0
        self.count = self.broken = 0
        self._last = Stamp(0.0, 1.0)
        self._step = self._lowest = -1
        self._total = 0
        self._distance = 1
        self._part = 0

    def put(self, line: int, step: int, stamp: Stamp, part: int) -> None:
        """Add a line; `part` counts the parts of the run, between which a long time is expected."""
        begun, back = self._step >= 0, step <= self._step
        anew = back and step < self._step and step <= max(self._lowest, 1)
        if back and not anew and step > self._step - _AGO:
            return  # another rank, or another line of a known step
        passed = (stamp.seconds - self._last.seconds) % _DAY
        if begun and not back:
            self._distance = step - self._step
        self._total += self._distance if begun else step
        self.count += 1
        self.unit = max(self.unit, stamp.unit)
        if back and not anew:
            self.broken += 1
        elif begun and not anew and part == self._part:
            if passed > _DAY / 2:
                self.broken += 1
            elif len(self.seconds) < POINTS:
                self.seconds.append(passed)
                self.distances.append(self._distance)
                self.lines.append(line)
                self.steps.append(step)
                self.totals.append(self._total)
        self._lowest = step if not begun else min(self._lowest, step)
        self._step, self._last, self._part = step, stamp, part

    def stalls(self, path: str) -> list[Fact]:
        """The periodic stalls."""
        if len(self.seconds) < ENOUGH or self.broken > _BROKEN * self.count:
            return []
        usually = Counter(self.distances).most_common(1)[0][0]
        times = [passed * usually / far for passed, far in zip(self.seconds, self.distances, strict=True)]
        middle = median(times)
        # Of stamps in whole seconds the median is a whole number, of fast steps 0.
        usual = fmean(value for value in times if value <= middle + self.unit) if self.unit > middle / 8 else middle
        if usual < max(_REAL, _COARSE * self.unit):
            return []
        slow = [index for index, value in enumerate(times) if value - self.unit > SLOW * usual]
        for steps in (list(self.steps), list(self.totals)):
            found = periods(steps, slow)
            if found:
                pace = StepRate("", rate=False)
                pace.count = self.count
                whole = Times(times, list(self.lines), steps)
                return [periodic(pace, whole, usual, period, path) for period in found]
        return []


class StampedSteps:
    """The time stamps of the lines of a log that print a step and its loss, by kind of line and rank."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, ...], _Series] = {}
        self._pauses = 0
        self._epoch = ""

    def see(self, line: int, low: str, step: int) -> None:
        """Process a lower-case line that names a `step` (else -1). An evaluation or another epoch between two lines
        explains a long time."""
        if "epoch" in low:
            match = _EPOCH.search(low)
            if match and match[1] != self._epoch:
                self._epoch = match[1]
                self._pauses += 1
        if ("val" in low or "test" in low) and _PAUSE.search(low):
            self._pauses += 1
            return
        at = low.find("loss") if step >= 0 else -1
        stamp = stamp_of(low) if at >= 0 else None
        if stamp is None:
            return
        rank = _RANK.search(low)
        key = (rank[0] if rank else "", *_WORD.findall(low, max(0, at - 96), at)[-_WORDS:])
        series = self._known.get(key)
        if series is None:
            if len(self._known) >= SERIES:
                return
            series = self._known[key] = _Series()
        series.put(line, step, stamp, self._pauses)

    def facts(self, path: str) -> list[Fact]:
        """The `run_stall` facts named periodic of the longest series that has some."""
        series = sorted(self._known.values(), key=lambda one: -one.count)
        return next((found for sery in series if (found := sery.stalls(path))), [])
