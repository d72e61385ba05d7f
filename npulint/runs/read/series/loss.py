"""Losses and accuracies in a log: where they become NaN or infinite, and whether they change at all."""

from __future__ import annotations

import math
from typing import Literal

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.kinds import fact_kind
from npulint.facts.model import Fact, FileFact, Span
from npulint.runs.read.quantities import share
from npulint.runs.read.series.numbers import NUMBER, Blocks, rounded

LABEL = lazy_compile(r"(?:[a-z][a-z0-9]{0,23}[_ /.-]?)?\Z")
_RECORD = lazy_compile(
    r"(?<![a-z0-9])(?:best|lowest|highest|min|minimum|max)[_ /.-](?:[a-z0-9]{1,24}[_ /.-]){0,2}(?:loss|acc|top_?[15])"
)
VALUE = lazy_compile(
    rf"(?:es|_?value|_?avg)?['\"]?\s{{0,4}}(?:is|of)?\s{{0,2}}(?::|=|->)?\s{{0,8}}['\"]?(?:tensor|array)?\(?\[{{0,2}}\s?"
    rf"([-+]?(?:nan|inf(?:inity)?|{NUMBER}))(?![\w/:]|\.\w|\s?%)"
)
_SERIES = 16
_ENOUGH = 3
_LABELLED = 200  # characters of a label
_LARGEST = 1e200  # larger numbers are clipped so that sums and squares stay finite
_PLACES = 4  # occurrences in a line: "total loss is 58.0, inference loss is 43.5"


Measure = Literal["loss", "accuracy"]
KINDS: tuple[Measure, ...] = ("loss", "accuracy")


@fact_kind("run_series")
class MeasureSeries(FileFact):
    """The course of a loss or an accuracy in a log, an event file or a table."""

    name: Measure
    label: str
    """How it is called there."""
    points: int
    first: float
    last: float
    minimum: float
    maximum: float
    spread: float
    """Distance of the highest and the lowest value in the second half, in percent of their mean."""
    change: float
    """From the mean of the first tenth to that of the last, in percent."""
    end: float
    """The mean of the last tenth."""
    curve: list[float]
    """At most 120 numbers that show its course, with all that is lowest and highest."""
    bad: int
    """Values that are not numbers."""
    bad_value: Literal["nan", "inf"] | None
    """The first of these."""
    numbers_before: int | None
    """How many numbers came before it."""
    recovered: int | None
    """How many numbers came after the last of these."""
    scale_before: float | None
    """The loss scale when it came."""


class Course:
    """The values of one loss or accuracy over time."""

    def __init__(self, line: int) -> None:
        self.points = self.bad = self.after = self.lines = 0
        self.first = self.last = 0.0
        self.first_line = self.last_line = line
        self.bad_line = self.before = 0
        self.bad_value: Literal["nan", "inf"] | None = None
        self.scale: float | None = None
        self.blocks = Blocks()

    def take(self, line: int, value: float, scale: float | None) -> None:
        """Add the next value; `scale` is the current loss scale."""
        self.lines += line != self.last_line or not self.points
        self.points += 1
        self.last_line = line
        if not math.isfinite(value):
            if not self.bad:
                self.bad_line, self.scale = line, scale
                self.before = self.points - 1
                self.bad_value = "nan" if math.isnan(value) else "inf"
            self.bad += 1
            self.after = 0
            return
        if not -_LARGEST < value < _LARGEST:
            value = math.copysign(_LARGEST, value)
        if self.points - self.bad == 1:
            self.first = value
        self.last = value
        self.after += self.bad > 0
        self.blocks.put(value)

    @property
    def is_zero(self) -> bool:
        return self.points > self.bad == 0 and self.blocks.part(0, 1).low == 0 == self.blocks.part(0, 1).high

    @property
    def line(self) -> int:
        """The most informative line: that of the first value that is no number, else the first."""
        return self.bad_line or self.first_line

    def fact(self, kind: Measure, path: str, line: int, label: str) -> MeasureSeries:
        """The `run_series` of a course that has numbers."""
        block, half = self.blocks.part(0, 1), self.blocks.part(0.5, 1)
        begin, end = self.blocks.part(0, 0.1), self.blocks.part(0.9, 1)
        return MeasureSeries(
            kind,
            path,
            Span.at(line),
            label=label[:_LABELLED],
            points=self.points,
            first=rounded(self.first),
            last=rounded(self.last),
            minimum=rounded(block.low),
            maximum=rounded(block.high),
            spread=share(half.high - half.low, abs(half.mean)) if half.high > half.low else 0.0,
            change=share(end.mean - begin.mean, abs(begin.mean)),
            end=rounded(end.mean),
            curve=self.blocks.curve(),
            bad=self.bad,
            bad_value=self.bad_value,
            numbers_before=self.before if self.bad else None,
            recovered=self.after if self.bad else None,
            scale_before=None if self.scale is None else rounded(self.scale),
        )


def is_record(label: str) -> bool:
    """Whether a lower-case label means the best value so far, which is infinite or zero at first and then often
    constant."""
    return bool(_RECORD.search(label))


def without_unused(courses: list[tuple[str, Course]]) -> list[tuple[str, Course]]:
    """The labelled losses of a run without unused ones: a component that is always zero next to others (the class loss
    of a detector with one class) is switched off."""
    return [course for course in courses if not course[1].is_zero] or courses


class Losses:
    """The losses and accuracies of one log, by label."""

    def __init__(self) -> None:
        self._known: dict[tuple[Measure, str], Course] = {}

    def see(self, line: int, low: str, scale: float | None) -> None:
        """Process a lower-case line."""
        for kind in KINDS:
            at = low.find(kind)
            for _ in range(_PLACES):
                if at < 0:
                    break
                match = VALUE.match(low, at + len(kind))
                if match:
                    self._put(kind, low[max(0, at - 26) : at], line, match[1], scale)
                at = low.find(kind, at + len(kind))

    def facts(self, path: str) -> list[Fact]:
        """A `run_series` for the loss and the accuracy that are printed most often, and for each loss with a non-finite
        value. Labels are unique within a kind."""
        facts: list[Fact] = []
        for kind in KINDS:
            series = [
                (label, course) for (of, label), course in self._known.items() if of == kind and course.lines >= _ENOUGH
            ]
            series = without_unused(series) if kind == "loss" else series
            most = max((course.points for _, course in series), default=0)
            main = next((course for _, course in series if course.points == most), None)
            for label, course in series:
                # "loss is nan" in a message is no series unless there are other numbers.
                if course.points > course.bad and (course is main or course.bad):
                    facts.append(course.fact(kind, path, course.line, label))
        return facts

    def _put(self, kind: Measure, before: str, line: int, value: str, scale: float | None) -> None:
        if is_record(before + kind):
            return
        label = LABEL.search(before)
        name = (label[0] if label else "").strip("_ /.-")
        key = (kind, f"{name} {kind}".strip())
        course = self._known.get(key)
        if course is None:
            if len(self._known) >= _SERIES:
                return
            course = self._known[key] = Course(line)
        course.take(line, float(value), scale)
