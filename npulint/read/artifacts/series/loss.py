"""The losses and accuracies that a log prints: where they become NaN or infinite, and whether they move at all."""

from __future__ import annotations

import math
from typing import Any

from npulint.facts.model import Fact, GenericFact, Span
from npulint.lazy_regex import lazy_compile
from npulint.read.artifacts.quantities import share
from npulint.read.artifacts.series.numbers import NUMBER, Blocks, rounded

_LABEL = lazy_compile(r"(?:[a-z][a-z0-9]{0,23}[_ /.-]?)?\Z")
_RECORD = lazy_compile(
    r"(?<![a-z0-9])(?:best|lowest|highest|min|minimum|max)[_ /.-](?:[a-z0-9]{1,24}[_ /.-]){0,2}(?:loss|acc|top_?[15])"
)
_VALUE = lazy_compile(
    rf"(?:es|_?value|_?avg)?['\"]?\s{{0,4}}(?:is|of)?\s{{0,2}}(?::|=|->)?\s{{0,8}}['\"]?(?:tensor|array)?\(?\[{{0,2}}\s?"
    rf"([-+]?(?:nan|inf(?:inity)?|{NUMBER}))(?![\w/:]|\.\w|\s?%)"
)
_NAMES = (("loss", "loss"), ("accuracy", "accuracy"))
_SERIES = 16
_ENOUGH = 3
_LARGEST = 1e200  # a number beyond is taken as this, so that sums and squares of numbers stay numbers
_PLACES = 4  # in a line: "total loss is 58.0, inference loss is 43.5"


class Course:
    """The values of one loss or accuracy."""

    def __init__(self, line: int) -> None:
        self.points = self.bad = self.after = self.lines = 0
        self.first = self.last = 0.0
        self.first_line = self.last_line = line
        self.bad_line, self.bad_step, self.before = 0, -1, 0
        self.bad_value = ""
        self.scale: float | None = None
        self.blocks = Blocks()

    def put(self, line: int, text: str, step: int, scale: float | None) -> None:
        """The next value, as printed."""
        self.take(line, float(text), step, scale)

    def take(self, line: int, value: float, step: int, scale: float | None) -> None:
        """The next value; `scale`: the loss scale of that time."""
        self.lines += line != self.last_line or not self.points
        self.points += 1
        self.last_line = line
        if not math.isfinite(value):
            if not self.bad:
                self.bad_line, self.bad_step, self.scale = line, step, scale
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
        """Whether all values are zero."""
        return self.points > self.bad == 0 and self.blocks.part(0, 1).low == 0 == self.blocks.part(0, 1).high

    def attributes(self) -> dict[str, Any]:
        """What a fact tells of it."""
        half, begin, end = self.blocks.part(0.5, 1), self.blocks.part(0, 0.1), self.blocks.part(0.9, 1)
        told: dict[str, Any] = {
            "points": self.points,
            "bad": self.bad,
            "first_line": self.first_line,
            "last_line": self.last_line,
        }
        if self.points > self.bad:
            whole = self.blocks.part(0, 1)
            told |= {"first": rounded(self.first), "last": rounded(self.last), "minimum": rounded(whole.low)}
            told["maximum"] = rounded(whole.high)
            told["spread"] = share(half.high - half.low, abs(half.mean)) if half.high > half.low else 0.0
            told["change"] = share(end.mean - begin.mean, abs(begin.mean))
            told["end"] = rounded(end.mean)
            told["curve"] = self.blocks.curve()
        if self.bad:
            told |= {
                "bad_value": self.bad_value,
                "bad_line": self.bad_line,
                "numbers_before": self.before,
                "recovered": self.after,
            }
            if self.bad_step >= 0:
                told["bad_step"] = self.bad_step
            if self.scale is not None:
                told["scale_before"] = rounded(self.scale)
        return told


def is_record(label: str) -> bool:
    """Whether a loss or accuracy of this name, in lower case, is the best so far: infinite or zero at first, and the
    same for many steps."""
    return bool(_RECORD.search(label))


def without_unused(courses: list[tuple[str, Course]]) -> list[tuple[str, Course]]:
    """Of the losses of a run, with their labels, those that tell of it: a part that is always zero beside others (the
    classes of a detector that knows but one) was switched off."""
    return [one for one in courses if not one[1].is_zero] or courses


class Losses:
    """All losses and accuracies of one log, by what they are called."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], Course] = {}

    def see(self, line: int, low: str, step: int, scale: float | None) -> None:
        """Take in a line in lower case."""
        for kind, word in _NAMES:
            at = low.find(word)
            for _ in range(_PLACES):
                if at < 0:
                    break
                match = _VALUE.match(low, at + len(word))
                if match:
                    self._put(kind, low[max(0, at - 26) : at], line, match[1], step, scale)
                at = low.find(word, at + len(word))

    def facts(self, path: str) -> list[Fact]:
        """A `run_series` for the loss and the accuracy that are printed most often, and for each loss with a value that
        is no number. Two facts of a kind have different labels."""
        found: list[Fact] = []
        for kind, _ in _NAMES:
            series = [(label, one) for (of, label), one in self._known.items() if of == kind and one.lines >= _ENOUGH]
            series = without_unused(series) if kind == "loss" else series
            most = max((one.points for _, one in series), default=0)
            main = next((one for _, one in series if one.points == most), None)
            for label, one in series:
                # Words such as "loss is nan" in a message are no series: a number came before or after.
                if one.points > one.bad and (one is main or one.bad):
                    line = one.bad_line or one.first_line
                    attributes = {"label": label, **one.attributes()}
                    found.append(GenericFact("run_series", kind, path, Span.at(line), attributes))
        return found

    def _put(self, kind: str, before: str, line: int, value: str, step: int, scale: float | None) -> None:
        if is_record(before + kind):
            return
        label = _LABEL.search(before)
        name = (label[0] if label else "").strip("_ /.-")
        key = (kind, f"{name} {kind}".strip())
        known = self._known.get(key)
        if known is None:
            if len(self._known) >= _SERIES:
                return
            known = self._known[key] = Course(line)
        known.put(line, value, step, scale)
