"""Training tables written by scripts (``step,loss,loss_scale``), and scalars exported by TensorBoard."""

from __future__ import annotations

import csv
import math
import posixpath
from collections.abc import Callable, Iterator
from typing import BinaryIO

from npulint.core.lazy_regex import lazy_compile
from npulint.data.run_columns import plain
from npulint.facts.model import Fact
from npulint.runs.read.rows import Seen, delimiter_of, header_cells, texts
from npulint.runs.read.series.loss import KINDS, Course, Measure, is_record, without_unused
from npulint.runs.read.series.scale import Scale
from npulint.runs.read.series.stalls import stalls
from npulint.runs.read.series.step_rate import StepRate, Timing

_SCALE = lazy_compile(r"loss[_ ]?scale|(?:\A|[_/ .-])(?:grad_?)?scaler?\Z")
_LOSS = lazy_compile(r"loss(?:es)?(?:[_/ .-]?(?:avg|mean|train|val|valid|total|value))?\Z")
_ACCURACY = lazy_compile(r"accuracy\Z|(?:\A|[_/ .-])(?:acc|top_?[15])\Z|acc_top_?[15]\Z")
_SKIPPED = lazy_compile(r"(?:is_|has_)?overflow(?:ed)?\Z|found_inf\Z|(?:is_)?skipped(?:_step)?\Z")
_STEP = lazy_compile(r"(?:global_?)?(?:step|iteration|iter|batch)s?\Z")
_RATE = lazy_compile(
    r"(?:samples|images|imgs|examples|tokens|steps|it)[_ ]?(?:/|per)[_ ]?s(?:ec(?:ond)?)?\Z|throughput\Z|fps\Z"
)
_TIME = lazy_compile(r"(?:step|batch|iter|iteration)[_ ]?time(?:[_ ]?\(?(ms|s)\)?)?\Z")
_EXPORTED = ("walltime", "step", "value")
_COLUMNS = 64
_ENOUGH = 3
_LARGEST = 1 << 53
_SMALL = 1e-12
_NOTHING = frozenset(("", "-", "n/a", "na", "none", "null"))
_SKIPS = frozenset(("1", "1.0", "true", "yes"))


def read(stream: BinaryIO, path: str, seen: Seen) -> list[Fact]:
    """The facts of a table: a `run_series` for columns of a loss scale, a loss or an accuracy, a `run_stall` for a
    column of times. TensorBoard exports have their tag in the file name."""
    lines = texts(stream)
    first = next(lines, "")
    cells = [cell.lower() for cell in header_cells(first)]
    exported = tuple(map(plain, cells)) == _EXPORTED
    if exported:
        cells[2] = (
            posixpath.splitext(posixpath.basename(path).removesuffix(".gz"))[0].partition("-tag-")[2].lower() or "value"
        )
    table = _Table(cells)
    width, put = len(cells), table.put
    for line, record in _records(lines, delimiter_of(first), seen):
        if len(record) < width or not put(line, record):
            seen.reject(line)
        else:
            seen.rows += 1
    return table.facts(path, seen.rows)


class _Table:
    def __init__(self, cells: list[str]) -> None:
        self._step = next((place for place, cell in enumerate(cells) if _STEP.search(cell)), -1)
        self._skipped = next((place for place, cell in enumerate(cells) if _SKIPPED.search(cell)), -1)
        self._scales: dict[int, Scale] = {}
        self._courses: dict[int, Course] = {}
        self._kinds: dict[int, Measure] = {}
        self._paces: dict[int, tuple[StepRate, float]] = {}
        self._names = cells[:_COLUMNS]
        self._rows = 0
        for place, cell in enumerate(self._names):
            if _SCALE.search(cell):
                self._scales[place] = Scale("table")
            elif (_LOSS.search(cell) or _ACCURACY.search(cell)) and not is_record(cell):
                self._kinds[place] = "loss" if _LOSS.search(cell) else "accuracy"
            elif _RATE.search(cell) or _TIME.search(cell):
                unit = 0.001 if (match := _TIME.search(cell)) and match[1] == "ms" else 1.0
                self._paces[place] = (StepRate(cell, bool(_RATE.search(cell))), unit)
        self._wanted = (*self._scales, *self._kinds, *self._paces, *([self._step] if self._step >= 0 else ()))

    def put(self, line: int, cells: list[str]) -> bool:
        """Add a row; returns False, without adding anything, if a required number is missing."""
        numbers: dict[int, float] = {}
        for place in self._wanted:
            try:
                numbers[place] = float(cells[place])
            except ValueError:
                if cells[place].strip().lower() not in _NOTHING:
                    return False
        step = numbers.get(self._step, self._rows)
        if not 0 <= step < _LARGEST:
            return False
        self._rows += 1
        current = self._put_scales(line, numbers, cells)
        for place in self._kinds:
            if place in numbers:
                course = self._courses.get(place)
                if course is None:
                    course = self._courses[place] = Course(line)
                course.take(line, numbers[place], current)
        for place, (pace, unit) in self._paces.items():
            value = numbers.get(place, 0.0)
            if _SMALL < value < math.inf:
                seconds = 1 / value if pace.rate else value * unit
                pace.put(line, int(step), Timing(pace.label, seconds, pace.rate, clock=False, begin=0), gapless=True)
        return True

    def facts(self, path: str, rows: int) -> list[Fact]:
        facts: list[Fact] = []
        for place, scale in self._scales.items():
            if scale.points >= _ENOUGH:
                facts.append(scale.fact(path, scale.line, self._names[place][:200], rows))
        for kind in KINDS:
            courses = [
                (self._names[place], course) for place, course in self._courses.items() if self._kinds[place] == kind
            ]
            for name, course in without_unused(courses) if kind == "loss" else courses:
                if course.points >= _ENOUGH and course.points > course.bad:
                    facts.append(course.fact(kind, path, course.line, name))
        for pace, _ in self._paces.values():
            facts += stalls(pace, path)
        return facts

    def _put_scales(self, line: int, numbers: dict[int, float], cells: list[str]) -> float | None:
        current = None
        skipped = self._skipped >= 0 and cells[self._skipped].strip().lower() in _SKIPS
        for place, scale in self._scales.items():
            value = numbers.get(place)
            if value is not None and 0 <= value < math.inf:
                scale.value(line, value, self._rows)
                current = value
            if skipped:
                scale.skip(line)
        return current


def _records(lines: Iterator[str], delimiter: str, seen: Seen) -> Iterator[tuple[int, list[str]]]:
    """(line, cells) of each non-blank row."""
    reader = csv.reader(lines, delimiter=delimiter)
    step: Callable[[], list[str]] = reader.__next__
    while True:
        line = reader.line_num + 2
        try:
            cells = step()
        except StopIteration:
            return
        except csv.Error:
            seen.reject(line)
            continue
        if cells:
            yield line, cells
