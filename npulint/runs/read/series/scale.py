"""The history of a loss scale: its initial value, drops, minimum, and skipped steps."""

from __future__ import annotations

import math
from typing import Literal

from npulint.facts.attributes import Flag, flag
from npulint.facts.kinds import fact_kind
from npulint.facts.model import FileFact, Span
from npulint.runs.read.quantities import share
from npulint.runs.read.series.numbers import Blocks

SPARSE = frozenset(("apex", "torch_npu", "deepspeed", "fairseq", "hook"))
"""Formats that print a line only when the scale changes or a step is skipped."""

_SPARE_DROPS = 4  # drops allowed in addition to log2 of the initial value before the scale settles
_PLATEAU = 20  # values, or printed steps, without a drop after which the scale has settled
_TOGETHER = 16  # lines between messages of several ranks about one step
_CERTAIN = 20  # values of a script that form a series even without step numbers
_STATIC = 3  # skipped steps that did not change the scale
_RESTARTED = 4  # a scale that grows so much at once, to about its first value, belongs to a run that begins anew
_SURE = 1.645  # standard deviations that a share may be too high by chance, one time in twenty


@fact_kind("run_series")
class LossScaleSeries(FileFact):
    """The course of a loss scale in a log, an event file or a table."""

    name: Literal["loss_scale"]
    scaler: str
    """How it is called there, where it has a name."""
    points: int
    first: float | None
    last: float | None
    minimum: float | None
    curve: list[float]
    """At most 120 numbers that show its course, with all that is lowest and highest."""
    skipped: int
    """Steps that were skipped."""
    drops: int
    late_drops: int
    """Drops without those while it finds its level."""
    late_overflows: int
    """Steps with an overflow, by drops or skipped steps, without those while it finds its level."""
    share: float | None
    """Late overflows in percent of the steps, where the log names steps."""
    least_share: float | None
    """The lower limit of this share, given the number of steps (95 % certainty)."""
    longest_run: int
    """Late drops one after the other."""
    static: Flag
    """Whether it never changed."""
    limit_reached: bool
    """Whether the scaler reports that it cannot fall further."""


class Scale:
    """The loss scale of one scaler, from values and skipped steps in log order."""

    def __init__(self, form: str) -> None:
        self.form = form
        self.points = self.skipped = self.drops = self.late = self.rises = self.longest = 0
        self._late_skipped = 0
        self.first = self.last = self.minimum = 0.0
        self.first_line = self.last_line = self.minimum_line = 0
        self.limited = False
        self._warm = True
        self._early = self._run = 0
        self._quiet_from = 0
        self._first_tick = self._tick = self._drop_tick = 0
        self._powers = True
        self._blocks = Blocks()

    def value(self, line: int, value: float, step_lines: int, before: float = 0.0) -> None:
        """The scale is `value` from now on, after `step_lines` printed steps. `before`: the previous value, if the line
        contains it."""
        tick = step_lines if self.form in SPARSE else self.points
        if not self.points:
            self._begin(before or (value * 2 if self.form in SPARSE else value), line, tick, step_lines)
            if self.last != value:
                self._blocks.put(self.last)
        elif before > self.last:
            self._rise()
            self.last = before
        elif not before and self._repeated(line, value, step_lines):
            return
        elif self.form in SPARSE and not before and value == self.last:
            self._rise()  # it must have grown unseen to drop to the same value again
            self.last = value * 2
        self.points += 1
        if value < self.last:
            self._drop(line, tick)
        elif value > self.last:
            self._rise()
            if value >= _RESTARTED * self.last and 2 * value >= self.first:
                self._warm, self._early, self._quiet_from = True, 0, tick
        elif tick - self._quiet_from >= _PLATEAU:
            self._warm = False
        self._powers = self._powers and (value == self.last > 0 or _power(self.last, value))
        self.last = value
        self._blocks.put(value)
        if value < self.minimum or self.points == 1:
            self.minimum, self.minimum_line = value, line
        self._tick = step_lines
        self._mark(line)

    def up(self, line: int, value: float, step_lines: int) -> None:
        """The scaler reports that it increased the scale."""
        if not self.points:
            self._begin(value / 2, line, step_lines, step_lines)
            self.minimum, self.minimum_line = value / 2, line
        self.points += 1
        self._rise()
        self.last = value
        self._blocks.put(value)
        self._tick = step_lines
        self._mark(line)

    def skip(self, line: int, count: int = 1) -> None:
        """So many steps were skipped."""
        self.skipped += count
        if not self._warm and self.form != "torch_npu":  # where each rank prints a line, and each skip is a drop
            self._late_skipped += count
        self._mark(line)

    def limit(self, line: int, value: float) -> None:
        """The scaler reports that its minimum scale is reached."""
        self.limited = True
        if not self.points:
            self._begin(value, line, 0, 0)
        self.points += 1
        self.last = value
        self._blocks.put(value)
        if self.points == 1 or value <= self.minimum:
            self.minimum, self.minimum_line = value, line
        self._mark(line)

    @property
    def is_series(self) -> bool:
        """Whether this is a series, not a mention in a configuration dump."""
        if self.form != "script":
            return self.points > 0 or self.skipped > 0
        if self.points < 3:
            return False
        moved = self._powers and (self.drops > 0 or self.rises > 0)
        return self._tick - self._first_tick >= 2 or self.points >= _CERTAIN or moved

    def fact(self, path: str, line: int, scaler: str, steps: int) -> LossScaleSeries:
        """The `run_series` of the scale; `steps` is the number of steps in the log, 0 if it names none."""
        total = steps if steps >= self.points or self.form in SPARSE else self.points
        still = self.points >= _CERTAIN if self.form not in SPARSE else self.skipped >= _STATIC
        late = max(self.late, self._late_skipped)
        static = True if still or self.skipped >= _STATIC else None
        return LossScaleSeries(
            "loss_scale",
            path,
            Span.at(line),
            scaler=scaler,
            points=self.points,
            first=self.first if self.points else None,
            last=self.last if self.points else None,
            minimum=self.minimum if self.points else None,
            curve=self._blocks.curve(),
            skipped=self.skipped,
            drops=self.drops,
            late_drops=self.late,
            late_overflows=late,
            share=min(share(late, total), 100.0) if total else None,
            least_share=min(share(_at_least(late), total), 100.0) if total else None,
            longest_run=self.longest,
            static=flag(False if self.drops + self.rises > 0 else static),
            limit_reached=self.limited,
        )

    @property
    def line(self) -> int:
        """The most informative line: that of the minimum, else the first."""
        return self.minimum_line if self.drops or self.limited else self.first_line

    def _begin(self, value: float, line: int, tick: int, step_lines: int) -> None:
        self.first = self.last = self.minimum = value
        self.minimum_line = line
        self._quiet_from = 0
        self._drop_tick = tick - 2
        self._first_tick = self._tick = step_lines

    def _repeated(self, line: int, value: float, step_lines: int) -> bool:
        """Whether a line repeats what another rank said about the same step."""
        if self.form not in SPARSE or value != self.last or step_lines != self._tick:
            return False
        return line - self.last_line <= _TOGETHER

    def _drop(self, line: int, tick: int) -> None:
        self.drops += 1
        if self._warm and tick - self._quiet_from >= _PLATEAU:
            self._warm = False
        if self._warm and self._early < math.floor(math.log2(max(self.first, 1.0))) + _SPARE_DROPS:
            self._early += 1
        else:
            self.late += 1
            self._run = self._run + 1 if tick - self._drop_tick <= 1 else 1
            self.longest = max(self.longest, self._run)
        self._quiet_from = self._drop_tick = tick

    def _rise(self) -> None:
        self.rises += 1
        self._run = 0
        self._warm = False

    def _mark(self, line: int) -> None:
        self.first_line = self.first_line or line
        self.last_line = line


def _at_least(count: int) -> float:
    """The lower limit of the expected number of rare events of which `count` were seen (Wilson and Hilferty)."""
    return count * max(1 - 1 / (9 * count) - _SURE / (3 * math.sqrt(count)), 0.0) ** 3 if count else 0.0


def _power(before: float, after: float) -> bool:
    """Whether the ratio of two values is a power of two."""
    if before <= 0 or after <= 0:
        return False
    return math.log2(after / before).is_integer()
