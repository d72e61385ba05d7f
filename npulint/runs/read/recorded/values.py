"""Values that a run records at its steps, and the names by which scripts call them."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable
from typing import Literal

import msgspec

from npulint.core.lazy_regex import lazy_compile

Quantity = Literal["loss", "learning_rate", "loss_scale", "grad_norm", "step_time"]
QUANTITIES: tuple[Quantity, ...] = ("loss", "learning_rate", "loss_scale", "grad_norm", "step_time")

POINTS = 200_000
"""Maximum values of a series that are kept."""

_SERIES = 64
_LABEL = 120  # characters
_LARGEST = 1e200
_EVALUATION = lazy_compile(r"(?:^|[^a-z])(?:e?val(?:uation|id|idation)?|test|dev|best|min|max)(?:[^a-z]|$)")
_SCALE = lazy_compile(r"loss[_ ]?scale|(?:^|[_/ .-])(?:grad_?)?scale(?:r)?$")
_RATE = lazy_compile(r"(?:^|[^a-z])(?:lr|learning[_ ]?rate)(?:[^a-z]|$)")
_NORM = lazy_compile(r"grad(?:ient)?s?[_ /-]?(?:global[_ ]?)?norm|(?:^|[^a-z])gnorm(?:[^a-z]|$)|global[_ ]?grad")
_LOSS = lazy_compile(r"loss(?:es)?(?:[_/ .-]?(?:avg|mean|train|total|value|step|epoch))?$")
_TIME = lazy_compile(r"(?:step|batch|iter|iteration)[_ ]?time(?:[_ ]?\(?(ms|s)\)?)?$|^time$|elapsed time per iteration")


class Recorded(msgspec.Struct, frozen=True, eq=False):
    """One series: what it is, how the file calls it, the file, and the positions, values (also NaN and infinities) and
    lines of its points. `axis`: positions are steps, epochs, or the numbers of entries."""

    quantity: Quantity
    label: str
    path: str
    form: str
    axis: Literal["step", "epoch", "entry"]
    at: list[float]
    values: list[float]
    lines: list[int]


def quantity_of(label: str) -> Quantity | None:
    """What a column, tag or key means; None for others, and for those of evaluations."""
    low = label.lower()
    if _EVALUATION.search(low):
        return None
    if _SCALE.search(low):
        return "loss_scale" if not low.endswith("steps") else None
    if _NORM.search(low):
        return "grad_norm"
    if _LOSS.search(low):
        return "loss"
    if _RATE.search(low):
        return "learning_rate"
    return "step_time" if _TIME.search(low) else None


class _Series:
    __slots__ = ("at", "axis", "lines", "values")

    def __init__(self, axis: Literal["step", "epoch", "entry"]) -> None:
        self.axis = axis
        self.at, self.values, self.lines = array("d"), array("d"), array("q")


class Collector:
    """Collects the series of one file."""

    def __init__(self, path: str, form: str) -> None:
        self._path, self._form = path, form
        self._known: dict[tuple[Quantity, str], _Series] = {}

    def put(
        self, quantity: Quantity, label: str, value: float, line: int, step: float | None, epoch: float | None = None
    ) -> None:
        """Add a value at a step, else at an epoch, else as the next entry. A series keeps its first axis."""
        key = quantity, label.strip()[:_LABEL]
        series = self._known.get(key)
        if series is None:
            if len(self._known) >= _SERIES:
                return
            series = _Series("step" if step is not None else "epoch" if epoch is not None else "entry")
            self._known[key] = series
        at = {"step": step, "epoch": epoch, "entry": float(len(series.at))}[series.axis]
        if at is None or not math.isfinite(at) or len(series.at) >= POINTS:
            return
        series.at.append(at)
        series.values.append(min(max(value, -_LARGEST), _LARGEST) if math.isfinite(value) else value)
        series.lines.append(line)

    def series(self) -> list[Recorded]:
        """The series in the order of their first values."""
        return [
            Recorded(
                of,
                label,
                self._path,
                self._form,
                series.axis,
                *_sorted(zip(series.at, series.values, series.lines, strict=True)),
            )
            for (of, label), series in self._known.items()
            if series.at
        ]


def _sorted(points: Iterable[tuple[float, float, int]]) -> tuple[list[float], list[float], list[int]]:
    """Positions, values and lines in the order of positions; several values of a position (of ranks) as their mean."""
    at: list[float] = []
    values: list[float] = []
    lines: list[int] = []
    counts: list[int] = []
    for place, value, line in sorted(points, key=lambda point: (point[0], point[2])):
        if at and at[-1] == place:
            counts[-1] += 1
            values[-1] += (value - values[-1]) / counts[-1]
        else:
            at.append(place)
            values.append(value)
            lines.append(line)
            counts.append(1)
    return at, values, lines
