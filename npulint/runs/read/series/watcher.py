"""Passes each line to the collectors of all series: loss scales, losses, step times, device graphs."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from statistics import fmean, median
from typing import NamedTuple

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.model import Fact
from npulint.runs.read.series.clock import Clock
from npulint.runs.read.series.graphs import Compiles, Runs
from npulint.runs.read.series.loss import Losses
from npulint.runs.read.series.numbers import NUMBER
from npulint.runs.read.series.scale import Scale
from npulint.runs.read.series.stalls import ENOUGH, SLOW, PeriodicStall, Times, periodic, periods, stalls
from npulint.runs.read.series.step_rate import POINTS, SERIES, StepRate, StepRates

# Times of steps from the time stamps of log lines, for logs that print no times of their own.

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
            stall_periods = periods(steps, slow)
            if stall_periods:
                pace = StepRate("", rate=False)
                pace.count = self.count
                timeline = Times(times, list(self.lines), steps)
                return [periodic(pace, timeline, usual, period, path) for period in stall_periods]
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
        series = sorted(self._known.values(), key=lambda sery: -sery.count)
        return next((stall_facts for sery in series if (stall_facts := sery.stalls(path))), [])


# Finds loss scale messages in the formats of frameworks and scripts.

_APEX = lazy_compile(
    rf"gradient overflow\.  ?skipping step(?:, loss scaler (\d{{1,3}}) reducing loss scale to ({NUMBER}))?"
)
_DOWN = lazy_compile(rf"loss scaler reducing loss scale to ({NUMBER})")
_UP = lazy_compile(rf"loss scaler increasing loss scale to ({NUMBER})")
_DEEPSPEED = lazy_compile(
    rf"overflow!(?: rank (\d{{1,6}}))? skipping step\. attempted loss scale: ({NUMBER})"
    rf"(?:, but hysteresis is|, reducing to ({NUMBER}))?"
)
_MINIMUM = lazy_compile(rf"minimum loss scale reached \(({NUMBER})\)")
_FAIRSEQ = lazy_compile(rf"overflow detected, ignoring gradient, setting loss scale to: ({NUMBER})")
_MEGATRON = lazy_compile(rf"(?<![\w.-])loss scale: {{1,4}}({NUMBER}) \|")
_SKIPPED = lazy_compile(r"number of skipped iterations: {1,8}(\d{1,9})")
_HOOK = lazy_compile(rf"find overflow in this step, skip apply gradients, loss scale value ?= ?({NUMBER})")
_TOOL = lazy_compile(
    rf"precisiontool: train steps (\d{{1,10}}), loss_scale=({NUMBER}) / not_overflow_status=(\w{{1,8}})"
)
_SCRIPT = lazy_compile(
    rf"(?<![\w.-])(?:current )?loss[_ ]?scaler?(?:[_ ]value)?['\"]?\s{{0,4}}(?:is)?\s{{0,2}}"
    rf"(?::|=|>>>|\s)\s{{0,16}}(?:tensor\()?['\"]?\[{{0,2}}\s?({NUMBER})(?![:\w])"
)
_SCALERS = 8
_PRINTED = 3


class Scales:
    """The loss scales of one log, by format and scaler."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], Scale] = {}
        self.current: float | None = None

    def see(self, line: int, low: str, step_lines: int) -> None:
        """Process a lower-case line after `step_lines` lines that name a step."""
        if "verflow" in low and (self._apex(line, low, step_lines) or self._skips(line, low, step_lines)):
            return
        if self._named(line, low, step_lines):
            return
        match = _SCRIPT.search(low)
        if match:
            self._value("script", "", line, match[1], step_lines)

    def facts(self, path: str, steps: int) -> list[Fact]:
        """A `run_series` for each loss scale that forms a series."""
        kept = [(scaler, scale) for (_, scaler), scale in self._known.items() if scale.is_series]
        return [scale.fact(path, scale.line, scaler, steps) for scaler, scale in kept]

    def _apex(self, line: int, low: str, step_lines: int) -> bool:
        match = _APEX.search(low)
        if match is None:
            return False
        if match[2] is None:
            self._skip("torch_npu", "", line)
        else:
            self._value("apex", match[1], line, match[2], step_lines, skipped=1)
        return True

    def _skips(self, line: int, low: str, step_lines: int) -> bool:
        match = _DEEPSPEED.search(low)
        if match:
            first = next((scaler for form, scaler in self._known if form == "deepspeed"), None)
            rank = match[1] or ""
            if first in (None, rank):
                after = match[3] or match[2]
                self._value("deepspeed", rank, line, after, step_lines, skipped=1, before=_number(match[2]))
            return True
        for form, pattern in (("hook", _HOOK), ("fairseq", _FAIRSEQ)):
            match = pattern.search(low)
            if match:
                before = _number(match[1]) if form == "hook" else 0.0
                if form == "hook" and self._printed_each_step():
                    form, before = "script", 0.0
                self._value(form, "", line, match[1], step_lines, skipped=1, before=before)
                return True
        return False

    def _printed_each_step(self) -> bool:
        """Whether a hook prints the scale of steps without overflow too, in another format."""
        script = self._known.get(("script", ""))
        return script is not None and script.points >= _PRINTED

    def _named(self, line: int, low: str, step_lines: int) -> bool:
        """Lines of formats with a distinctive name or shape."""
        match = _TOOL.search(low) if "precisiontool" in low else None
        if match:
            self._value("precision_tool", "", line, match[2], step_lines, skipped=int(match[3] in ("false", "0")))
            return True
        match = _DOWN.search(low) if "reducing" in low else None
        if match:
            self._value("torch_npu", "", line, match[1], step_lines)
            return True
        match = _UP.search(low) if "increasing" in low else None
        if match:
            scale = self._of("torch_npu", "")
            if scale is not None:
                scale.up(line, _number(match[1]), step_lines)
            return True
        match = _MINIMUM.search(low) if "minimum" in low else None
        if match:
            scale = self._of("fairseq", "")
            if scale is not None:
                scale.limit(line, _number(match[1]))
            return True
        skips = _SKIPPED.search(low) if "skipped iterations" in low else None
        match = _MEGATRON.search(low) if skips else None
        if match and skips:
            self._value("megatron", "", line, match[1], step_lines, skipped=int(skips[1]))
        return bool(match and skips)

    def _value(
        self, form: str, scaler: str, line: int, text: str, step_lines: int, skipped: int = 0, before: float = 0.0
    ) -> None:
        scale = self._of(form, scaler)
        value = _number(text)
        if scale is None or not math.isfinite(value):
            return
        points = scale.points
        scale.value(line, value, step_lines, before)
        self.current = value
        if skipped and scale.points > points:
            scale.skip(line, skipped)

    def _skip(self, form: str, scaler: str, line: int) -> None:
        scale = self._of(form, scaler)
        if scale is not None:
            scale.skip(line)

    def _of(self, form: str, scaler: str) -> Scale | None:
        scale = self._known.get((form, scaler))
        if scale is None and len(self._known) < _SCALERS:
            scale = self._known[(form, scaler)] = Scale(form)
        return scale


def _number(text: str) -> float:
    return float(text)


# Few, because each match slows the pass: step lines print a loss or a time.
_WANTS = (
    *(b"oss ", b"oss:", b"oss=", b"oss_", b"oss'", b'oss"', b"osses", b"LOSS"),
    *(b"cale", b"CALE", b"verflow", b"OVERFLOW", b"GeOp", b"compiled on the Ascend", b"BuildOutputTensorInfo"),
    *(b"s/s", b"t/s", b"g/s", b"e/s", b"p/s", b"s/it", b"s/batch", b"FPS", b"fps", b"hroughput", b"ime", b"_per_"),
    # Evaluations and epochs explain why the next step comes late.
    *(b"eval", b"Eval", b"EVAL", b"alidat", b"(val", b"Val ", b"Val:", b"Testing", b"Test:", b"poch"),
)
_PLOG = lazy_compile(r"\[(?:EVENT|TRACE|DEBUG|INFO|WARNING|ERROR)\] ?[A-Z_]{2,16}\(\d")
_LOOKED_AT = 2048  # characters of a line
_FULL = 100_000  # lines with a step, a loss or a time that are all processed
_THINNED = 16  # after that, one of so many


class SeriesWatcher:
    """Collects `run_series`, `run_stall` and `run_compile` facts of one log in constant memory.

    Loss scales, non-finite values and graphs are searched in every line; other losses and times after 100,000 of their
    lines only in every 16th."""

    wants: tuple[bytes, ...] = _WANTS
    levels: tuple[bytes, ...] = (b"cale", b"CALE", b"skipped iterations")
    always: tuple[bytes, ...] = (b"verflow", b"OVERFLOW", b"compiled on the Ascend")

    def __init__(self) -> None:
        self._clock = Clock()
        self._scales = Scales()
        self._losses = Losses()
        self._paces = StepRates()
        self._stamped = StampedSteps()
        self._compiles = Compiles()
        self._runs = Runs()
        self._lines = 0

    def see(self, line_number: int, text: str, lines: int = 1) -> None:
        """Process one line. Lines of the runtime's own log only count for graphs."""
        text = text[:_LOOKED_AT]
        if "compiled on" in text:
            self._compiles.see(line_number, text, self._clock.lines)
        if "GeOp" in text or "BuildOutput" in text:
            self._runs.see(line_number, text, lines)
            return
        if text[:1] == "[" and _PLOG.match(text):
            return
        low = text.lower()
        scaled = "cale" in low or "verflow" in low
        due = self._lines % _THINNED + lines >= _THINNED
        self._lines += lines
        gapless = self._lines <= _FULL
        if not (gapless or scaled or due or _no_number(low)):
            return
        step = self._clock.see(low)
        if scaled:
            self._scales.see(line_number, low, self._clock.lines)
        self._losses.see(line_number, low, self._scales.current)
        self._paces.see(line_number, low, step, gapless, self._clock.last)
        if gapless and lines == 1:
            self._stamped.see(line_number, low, step)

    def facts(self, path: str) -> list[Fact]:
        """The facts, in the order scale, loss, times, graphs."""
        facts = self._scales.facts(path, self._clock.total)
        facts += self._losses.facts(path)
        for pace in self._paces.known.values():
            facts += stalls(pace, path)
        if not any(isinstance(fact, PeriodicStall) for fact in facts):
            facts += self._stamped.facts(path)
        facts += self._compiles.facts(path, self._clock.lines)
        return facts + self._runs.facts(path)


def _no_number(low: str) -> bool:
    """Whether a line may print a non-finite value."""
    return "nan" in low or " inf" in low.replace(" inference", "") or ":inf" in low or "=inf" in low
