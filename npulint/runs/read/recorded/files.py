"""The recorded values of a run: of a log, a table, an event file, the state of a trainer, or a folder with these."""

from __future__ import annotations

import csv
import math
import os
import posixpath
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any, BinaryIO

import msgspec

from npulint.core.lazy_regex import lazy_compile
from npulint.discover.artifacts import form_of
from npulint.discover.safe_open import TooLargeError, read_regular
from npulint.facts.model import Fact
from npulint.runs.read import open_artifact, read_artifact
from npulint.runs.read.recorded.values import Collector, Quantity, Recorded, quantity_of
from npulint.runs.read.rows import delimiter_of, header_cells, texts
from npulint.runs.read.series.clock import step_of
from npulint.runs.read.series.events import scalars
from npulint.runs.read.series.loss import LABEL, VALUE, is_record
from npulint.runs.read.series.step_rate import timing_of
from npulint.runs.read.steps import IterationTimes, StepBreakdown

# Values in the lines of a log, whatever the script calls them.

_NAMES: tuple[tuple[Quantity, tuple[str, ...]], ...] = (
    ("loss_scale", ("loss scale", "loss_scale", "lossscale")),
    ("grad_norm", ("grad norm", "grad_norm", "gnorm", "gradient norm", "gradient_norm")),
    ("learning_rate", ("learning rate", "learning_rate", "lr")),
    ("loss", ("loss",)),
)
_EVALUATES = lazy_compile(r"\b(?:e?val(?:uation|idation|id|uating)?|test(?:ing)?)\b|eval_|\(val\)")
_EPOCH = lazy_compile(r"['\"]?epoch['\"]?\s{0,2}[:=]\s{0,2}['\"]?(\d{1,6}\.\d{1,12})")
_BEFORE = 26  # characters of a label
_HEAD = 80  # characters that say what a line is about
_LOOKED_AT = 2048  # characters of a line
_PLACES = 4
_LETTERS = "abcdefghijklmnopqrstuvwxyz_"


class LogLines:
    """Finds the values of a log. Steps that begin anew with each epoch are counted on."""

    def __init__(self, collector: Collector) -> None:
        self._collector = collector
        self._before = 0  # steps of finished epochs
        self._last = -1
        self._stride = 1  # between two lines

    def see(self, number: int, text: str) -> None:
        """Process a line."""
        low = text[:_LOOKED_AT].lower()
        recorded = [(of, *labelled) for of, names in _NAMES for labelled in _values(low, names)]
        if not recorded and step_of(low) < 0:
            return
        timing = timing_of(low)
        if not recorded and timing is None:
            return
        if _EVALUATES.search(low, 0, _HEAD) and "train" not in low:
            return
        step, epoch = self._step(low), _EPOCH.search(low)
        at = None if step is None else float(step)
        place = float(epoch[1]) if epoch and at is None else None
        for quantity, label, value in recorded:
            self._collector.put(quantity, label, value, number, at, place)
        if timing is not None and at is not None:
            self._collector.put("step_time", timing.label, timing.seconds, number, at, place)

    def _step(self, low: str) -> int | None:
        """The number of the step since the start; None for a line that names none."""
        step = step_of(low)
        if step < 0:
            return None
        if step < self._last:
            self._before += self._last + (0 if step else self._stride)
        elif step > self._last >= 0:
            self._stride = step - self._last
        self._last = step
        return self._before + step


def _values(low: str, names: tuple[str, ...]) -> list[tuple[str, float]]:
    """Labels and values after the first of `names` that the line has."""
    for name in names:
        values = []
        at = low.find(name)
        for _ in range(_PLACES):
            if at < 0:
                break
            match = VALUE.match(low, at + len(name))
            before = low[max(0, at - _BEFORE) : at]
            if match and not is_record(before + name) and (name == "loss" or not before.endswith(tuple(_LETTERS))):
                label = LABEL.search(before)
                full = f"{(label[0] if label else '').strip('_ /.-')} {name}".strip()
                if not _EVALUATES.search(full):
                    values.append((full if name == "loss" else name, float(match[1])))
            at = low.find(name, at + len(name))
        if values:
            return values
    return []


STATE = "trainer_state.json"
"""What a trainer of Transformers writes into each checkpoint."""

_STATE_LIMIT = 64 << 20  # bytes
_ENTRIES = 50_000  # files and folders below a run folder
_FILES = 200  # that are read
_CLOCK = 0.95  # of the values of a clock are higher than the one before
_LINES = 5_000_000  # of a log
_LOGS = (".log", ".txt", ".out", ".jsonl", ".log.json", ".ndjson", ".stdout")
_TABLES = (".csv", ".tsv")
_PROFILES = ("step_trace_time", "step_trace")
_STEPS = ("step", "global_step", "steps", "iteration", "iter", "current_steps", "train/global_step")
_UNREAD = ("requirements", "readme", "license", "vocab", "merges", "labels", "classes")


def recorded_values(location: str, path: str) -> list[Recorded]:
    """The series of a run, by file. Never raises for malformed content; an unreadable file has none."""
    if not os.path.isdir(location):
        return _of_file(location, path)
    recordeds: list[Recorded] = []
    for place in _candidates(location):
        below = os.path.relpath(place, location).replace(os.sep, "/")
        recordeds += _of_file(place, posixpath.join(path, below))
    return _joined(recordeds)


def _candidates(folder: str) -> list[str]:
    """The files of a run folder that may record values: of several checkpoints only the last state."""
    locations: list[str] = []
    states: list[tuple[float, str]] = []
    seen = 0
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith(".git"))
        seen += len(folders) + len(names)
        if seen > _ENTRIES:
            break
        for name in sorted(names):
            location = os.path.join(place, name)
            if os.path.islink(location):
                continue
            if name == STATE:
                states.append((_steps_of(location), location))
            elif _may_record(name):
                locations.append(location)
    return [*(location for _, location in sorted(states)[-1:]), *locations][:_FILES]


def _steps_of(location: str) -> float:
    state = _json(location)
    step = state.get("global_step") if isinstance(state, dict) else None
    return float(step) if isinstance(step, int | float) else -1.0


def _may_record(name: str) -> bool:
    low = name.lower()
    return "tfevents" in low or (low.endswith((*_TABLES, *_LOGS)) and not low.startswith(_UNREAD))


def _of_file(location: str, path: str) -> list[Recorded]:
    name = os.path.basename(location).lower()
    try:
        if name.endswith(".json") and not name.endswith(".log.json"):
            return _of_state(location, path)
        form = form_of(location)
        if form in _PROFILES:
            return _of_profile(location, path)
        with open_artifact(location) as stream:
            if form == "events" or "tfevents" in name:
                return _of_events(stream, path)
            if name.removesuffix(".gz").endswith(_TABLES):
                return _of_table(stream, path)
            return _of_log(stream, path)
    except (OSError, EOFError, ValueError):
        return []


def _of_events(stream: BinaryIO, path: str) -> list[Recorded]:
    collector = Collector(path, "events")
    for step, tag, value in scalars(stream):
        quantity = quantity_of(tag)
        if quantity is not None:
            collector.put(quantity, tag, value, 1, float(step))
    return collector.series()


def _of_log(stream: BinaryIO, path: str) -> list[Recorded]:
    collector = Collector(path, "log")
    lines = LogLines(collector)
    for number, text in enumerate(texts(stream), 1):
        if number > _LINES:
            break
        for part in text.split("\r"):  # a progress bar
            lines.see(number, part)
    return [sery for sery in collector.series() if sery.quantity != "step_time" or not _is_clock(sery.values)]


def _is_clock(values: list[float]) -> bool:
    """Whether times count from the start of the run, which may have been started again."""
    rises = sum(before < after for before, after in pairwise(values))
    return len(values) > 1 and values[-1] >= 2 * values[0] and rises >= _CLOCK * (len(values) - 1)


def _of_table(stream: BinaryIO, path: str) -> list[Recorded]:
    collector = Collector(path, "series_table")
    lines = texts(stream)
    first = next(lines, "")
    heads = [cell.strip() for cell in header_cells(first)]
    low = [head.lower() for head in heads]
    step = next((low.index(name) for name in _STEPS if name in low), -1)
    epoch = low.index("epoch") if "epoch" in low else -1
    wanted = [(place, head, quantity) for place, head in enumerate(heads) if (quantity := quantity_of(head))]
    for line, cells in _rows(lines, delimiter_of(first)):
        numbers = [_number(cell) for cell in cells]
        if len(numbers) < len(heads):
            continue
        at = numbers[step] if step >= 0 else None
        for place, head, quantity in wanted:
            value = numbers[place]
            if value is not None:
                collector.put(quantity, head, value, line, at, numbers[epoch] if epoch >= 0 else None)
    return collector.series()


def _rows(lines: Iterator[str], delimiter: str) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader(lines, delimiter=delimiter)
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error:
            continue
        if cells:
            yield reader.line_num + 1, cells


def _number(cell: object) -> float | None:
    """A number, also NaN; None for anything else."""
    if isinstance(cell, bool) or not isinstance(cell, str | int | float):
        return None
    try:
        return float(cell)
    except (ValueError, OverflowError):
        return None


def _json(location: str) -> Any:
    """The content of a JSON file, NaN included as Python writes it; None if it is none."""
    import json

    try:
        return json.loads(read_regular(location, _STATE_LIMIT))
    except (OSError, ValueError, RecursionError, TooLargeError):
        return None


def _of_state(location: str, path: str) -> list[Recorded]:
    state = _json(location)
    history = state.get("log_history") if isinstance(state, dict) else None
    collector = Collector(path, "trainer_state")
    for entry in history if isinstance(history, list) else ():
        if not isinstance(entry, dict):
            continue
        step = _number(entry.get("step"))
        for key, cell in entry.items():
            quantity, value = quantity_of(str(key)), _number(cell)
            if quantity is not None and value is not None:
                collector.put(quantity, str(key), value, 1, step, _number(entry.get("epoch")))
    return collector.series()


def _of_profile(location: str, path: str) -> list[Recorded]:
    """The mean time of a step, as a series of one value."""
    facts = read_artifact(location, path)
    collector = Collector(path, "profile")
    for fact in facts if isinstance(facts, list) else ():
        seconds = _seconds(fact)
        if seconds is not None and math.isfinite(seconds):
            collector.put("step_time", "step", seconds, fact.span.line, None)
    return collector.series()


def _seconds(fact: Fact) -> float | None:
    if isinstance(fact, StepBreakdown):
        return fact.step_us / 1e6
    return fact.iteration_us / 1e6 if isinstance(fact, IterationTimes) else None


def _joined(recordeds: Iterable[Recorded]) -> list[Recorded]:
    """The series; event files of one folder (a run that was continued writes several) as one."""
    groups: dict[tuple[str, ...], list[Recorded]] = {}
    for recorded in recordeds:
        name = posixpath.dirname(recorded.path) if recorded.form == "events" else recorded.path
        groups.setdefault((recorded.quantity, recorded.label, recorded.form, recorded.axis, name), []).append(recorded)
    return [_one(group) for group in groups.values()]


def _one(group: list[Recorded]) -> Recorded:
    """Several series as one; where they overlap, what was written later counts."""
    if len(group) == 1:
        return group[0]
    points = {
        at: (value, line)
        for recorded in group
        for at, value, line in zip(recorded.at, recorded.values, recorded.lines, strict=True)
    }
    places = sorted(points)
    return msgspec.structs.replace(
        group[0], at=places, values=[points[at][0] for at in places], lines=[points[at][1] for at in places]
    )
