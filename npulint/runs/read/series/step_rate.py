"""Step times and rates in a log, whatever the script calls them."""

from __future__ import annotations

from array import array
from collections import deque
from typing import NamedTuple

from npulint.core.lazy_regex import lazy_compile
from npulint.runs.read.series.numbers import NUMBER

_MANY = (
    r"(?:samples?|images?|imgs?|examples?|tokens?|words?|sentences?|frames?|sequences?|seqs?|items?|it|global_steps?|"
    r"steps?|batch(?:es)?|iters?|iterations?|clips?|rows?|pairs?|points?|records?)"
)
_ONE = r"(?:global_step|step|iteration|iter|it|batch|image|img|sample|example)"
_SECOND = r"s(?:ec(?:ond)?s?)?"
_UNIT = r"(us|ms|msecs?|milliseconds?|s|secs?|seconds?)"
_IS = r"['\")\]]{0,2}\s{0,4}(?:is|costs?|%s)?\s{0,2}[:=]?\s{0,8}(?:%s\s)?['\"\[]?"
_BARE = rf"(?<![\d.])({NUMBER})"

_RATE_AFTER = lazy_compile(rf"{_BARE}\s{{0,4}}({_MANY}\s?(?:/|per|_per_)\s?{_SECOND})(?![a-z_/])")
_RATE_BEFORE = lazy_compile(
    rf"\b({_MANY}\s?(?:/|per|_per_)\s?{_SECOND}|fps|ips|wps|ups|throughput)\b(?:\s?\([^()]{{1,24}}\))?{_IS}{_BARE}"
)
_TIME_AFTER = lazy_compile(rf"{_BARE}\s{{0,4}}{_UNIT}\s?(?:/|per)\s?{_ONE}\b")
_TIME_BEFORE = lazy_compile(
    rf"\b((?:{_UNIT}|time)\s?(?:/|per|_per_)\s?{_ONE}|(?:step|batch|iter|iteration|train)[_ ]?time"
    rf"|elapsed time per iteration|time[_ ]cost|cost[_ ]time|used?[_ ]time|elapsed(?:[_ ]time)?|duration|time)"
    rf"(?:\s?\(({_UNIT[1:-1]})\))?{_IS}"
    rf"(?:(\d{{1,4}}):(\d\d):(\d\d(?:\.\d{{1,9}})?)|{_BARE})\s?(?:{_UNIT}\b)?(?!\s?[/%:])"
)
_HOOK = lazy_compile(rf"\bstep\s?=\s?\d{{1,12}}\s?\(({NUMBER})\s(sec)\)")  # LoggingTensorHook: since its last line
_WORD = lazy_compile(r"(?<![a-z0-9_.])[a-z_]{1,24}")

_ENDS = ("/s", "/ s", "per s", "per_s")
_NEAR = 40  # characters
_BEFORE = 64
_VALUES = ("nan", "inf")
_PLACES = 3
_SMALLEST, _LARGEST = 1e-12, 1e12
SERIES = 16
POINTS = 200_000
LATEST = 20_000


class Timing(NamedTuple):
    """A time or rate in a line: its label, the seconds per unit, whether it may be a time since the start (`clock`),
    and its position in the line."""

    label: str
    seconds: float
    rate: bool
    clock: bool
    begin: int


class StepRate:
    """The times of one kind of line, in seconds; of very long logs the first 200,000 and the last 20,000."""

    def __init__(self, label: str, rate: bool) -> None:
        self.label = label
        self.rate = rate
        self.clock = False
        self.count = 0
        self.seconds = array("d")
        self.lines = array("q")
        self.steps = array("q")
        self.near = array("q")
        self.latest: deque[float] = deque(maxlen=LATEST)

    def put(self, line: int, step: int, timing: Timing, gapless: bool, near: int = -1) -> None:
        """Add the next time. `gapless`: no line before it was skipped. `near`: the last named step."""
        self.count += 1
        self.clock = self.clock or timing.clock
        if gapless and len(self.seconds) < POINTS:
            self.seconds.append(timing.seconds)
            self.lines.append(line)
            self.steps.append(step)
            self.near.append(near)
        else:
            self.latest.append(timing.seconds)


class StepRates:
    """The times and rates of one log."""

    def __init__(self) -> None:
        self.known: dict[tuple[str, str, bool], StepRate] = {}

    def see(self, line: int, low: str, step: int, gapless: bool, near: int = -1) -> None:
        """Process a lower-case line that names a `step`, or follows one that named the step `near`."""
        timing = timing_of(low)
        if timing is None:
            return
        # The text before it, and whether a step is named, distinguish training from evaluation.
        words = _WORD.findall(low, max(0, timing.begin - _BEFORE), timing.begin)
        word = next((word for word in reversed(words) if word not in _VALUES), "")
        key = (word, timing.label, step >= 0)
        step_rate = self.known.get(key)
        if step_rate is None:
            if len(self.known) >= SERIES:
                return
            step_rate = self.known[key] = StepRate(timing.label, timing.rate)
        step_rate.put(line, step, timing, gapless, near)


def timing_of(low: str) -> Timing | None:
    """The first time or rate in a lower-case line; None if there is none, or it is 0."""
    timing = _rate_after(low)
    if timing is not None:
        return timing
    match = _HOOK.search(low) if " sec)" in low else None
    if match:
        return _time(match[2], float(match[1]), "s", clock=False, begin=match.start())
    if "/" in low or "per" in low or "ps" in low or "throughput" in low:
        match = _RATE_BEFORE.search(low)
        if match:
            return _rate(match[1], match[2], match.start())
        match = _TIME_AFTER.search(low)
        if match:
            label = match[0][len(match[1]) :].strip()
            return _time(label, float(match[1]), match[2], clock=False, begin=match.start())
    if "time" not in low and "elapsed" not in low and "duration" not in low and "/" not in low:
        return None
    match = _TIME_BEFORE.search(low)
    if match is None:
        return None
    label, inner, unit, hours, minutes, seconds, number, after = match.groups()
    value = float(number) if number else int(hours) * 3600 + int(minutes) * 60 + float(seconds)
    clock = "/" not in label and "per" not in label
    return _time(label, value, after or unit or inner or "", clock, match.start())


def _rate_after(low: str) -> Timing | None:
    """A rate whose number precedes its name: searched only near the end of such names."""
    for end in _ENDS:
        at = low.find(end)
        for _ in range(_PLACES):
            if at < 0:
                break
            begin = max(0, at - _NEAR)
            match = _RATE_AFTER.search(low, begin, at + _NEAR)
            if match:
                return _rate(match[2], match[1], match.start())
            at = low.find(end, at + 1)
    return None


def _rate(label: str, number: str, begin: int) -> Timing | None:
    value = float(number)
    if not _SMALLEST < value < _LARGEST:
        return None
    return Timing(label.replace(" ", ""), 1 / value, rate=True, clock=False, begin=begin)


def _time(label: str, value: float, unit: str, clock: bool, begin: int) -> Timing | None:
    value *= 1e-6 if unit.startswith("u") else 1e-3 if unit.startswith("m") else 1.0
    return Timing(label, value, rate=False, clock=clock, begin=begin) if _SMALLEST < value < _LARGEST else None
