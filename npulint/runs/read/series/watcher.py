"""Passes each line to the collectors of all series: loss scales, losses, step times, device graphs."""

from __future__ import annotations

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.model import Fact
from npulint.runs.read.series.clock import Clock
from npulint.runs.read.series.graphs import Compiles, Runs
from npulint.runs.read.series.loss import Losses
from npulint.runs.read.series.scales import Scales
from npulint.runs.read.series.stalls import PeriodicStall, stalls
from npulint.runs.read.series.stamps import StampedSteps
from npulint.runs.read.series.step_rate import StepRates

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
        whole = self._lines <= _FULL
        if not (whole or scaled or due or _no_number(low)):
            return
        step = self._clock.see(low)
        if scaled:
            self._scales.see(line_number, low, self._clock.lines)
        self._losses.see(line_number, low, self._scales.current)
        self._paces.see(line_number, low, step, whole, self._clock.last)
        if whole and lines == 1:
            self._stamped.see(line_number, low, step)

    def facts(self, path: str) -> list[Fact]:
        """The facts, in the order scale, loss, times, graphs."""
        found = self._scales.facts(path, self._clock.total)
        found += self._losses.facts(path)
        for pace in self._paces.known.values():
            found += stalls(pace, path)
        if not any(isinstance(fact, PeriodicStall) for fact in found):
            found += self._stamped.facts(path)
        found += self._compiles.facts(path, self._clock.lines)
        return found + self._runs.facts(path)


def _no_number(low: str) -> bool:
    """Whether a line may print a non-finite value."""
    return "nan" in low or " inf" in low.replace(" inference", "") or ":inf" in low or "=inf" in low
