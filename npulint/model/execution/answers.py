"""Answers to the probes of a project: what each start sees, and what holds for all of them together."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

from npulint.model.abstract_values.value import Origin
from npulint.model.execution.engine import Engine
from npulint.model.execution.project_files import Probe

UNREACHED: Final = "unreached"
"""The reason of an answer about a value that no start makes."""
UNFOLLOWED: Final = "not-followed"
"""The reason, before the command line, of an answer that a start that is not followed leaves open."""
TOO_LARGE: Final = "too-large"
"""The reason of an answer about a value that is known, but too large to be shown."""
_MOST_BITS: Final = 10_000  # of a number; Python refuses to write much larger ones
_MOST_STEPS: Final = 100

Steps = tuple[tuple[str, int], ...]


class Seen(NamedTuple):
    """What one start sees at a probe: whether it may reach it, the values that are possible there (None: unknown),
    and whether the line is executed (``yes``, ``no`` or ``maybe``)."""

    is_reached: bool
    values: list[object] | None = None
    runs: str = "no"
    reason: str = ""
    steps: Steps = ()


class Answer(NamedTuple):
    """The answer to a probe: `values` has all possible ones where `is_certain`; `runs` is ``yes``, ``no`` or ``maybe``.
    `reason` says what decides about an unknown value, `steps` are the places through which it came."""

    probe: Probe
    is_certain: bool
    values: list[object]
    runs: str
    reason: str
    steps: Steps

    def record(self) -> dict[str, Any]:
        """The answer as JSON data."""
        probe = self.probe
        place: dict[str, Any] = {"path": probe.path, "line": probe.line, "kind": probe.kind}
        if probe.kind == "runs":
            place["answer"] = self.runs
        else:
            place |= {"certain": self.is_certain, "values": self.values}
        return {**place, "reason": self.reason, "steps": [{"path": path, "line": line} for path, line in self.steps]}


def seen_by(engine: Engine, probe: Probe) -> Seen:
    """What a start that was followed to its end has seen."""
    place = (probe.path, probe.line)
    if place not in engine.probes.visited:
        return Seen(False)
    if probe.kind == "runs":
        return Seen(True, runs="yes" if engine.surely_runs(place) else "maybe")
    shown = engine.probes.shown.get(place)
    if shown is None:
        return Seen(True)
    steps = steps_of(shown.origin)
    steps = steps[:-1] if steps[-1:] == (place,) else steps  # a literal in the line itself
    if shown.values is None:
        return Seen(True, None, reason=shown.reason, steps=steps)
    try:
        return Seen(True, distinct(plain(value) for value in shown.values), reason=shown.reason, steps=steps)
    except _TooLargeError:
        return Seen(True, None, reason=TOO_LARGE, steps=steps)


def merged(probe: Probe, each: Sequence[Seen]) -> Answer:
    """What holds for all starts: a value is certain if it is in every start that may reach the probe, and whether
    the line is executed is answered if all starts agree."""
    if probe.kind == "runs":
        answers = {seen.runs for seen in each}
        reason = next((seen.reason for seen in each if seen.runs == "maybe"), "") if answers != {"yes"} else ""
        return Answer(probe, False, [], answers.pop() if len(answers) == 1 else "maybe", reason, ())
    reached = [seen for seen in each if seen.is_reached]
    if not reached:
        return Answer(probe, False, [], "", UNREACHED, ())
    for seen in reached:
        if seen.values is None:
            return Answer(probe, False, [], "", seen.reason, seen.steps)
    values = distinct(value for seen in reached for value in seen.values or ())
    deciding = next((seen for seen in reached if seen.reason), reached[0])
    return Answer(probe, True, values, "", deciding.reason, deciding.steps)


def is_settled(probe: Probe, each: Iterable[Seen]) -> bool:
    """Whether nothing that another start sees makes the answer certain again."""
    if probe.kind == "runs":
        answers = {seen.runs for seen in each}
        return "maybe" in answers or len(answers) > 1
    return any(seen.is_reached and seen.values is None for seen in each)


def steps_of(origin: Origin | None) -> Steps:
    """The places through which a value came, oldest first, each once in a row."""
    steps: list[tuple[str, int]] = []
    while origin is not None and len(steps) < _MOST_STEPS:
        place = (origin.path, origin.line)
        if origin.path and (not steps or steps[-1] != place):
            steps.append(place)
        origin = origin.before
    return tuple(reversed(steps))


# -- values as JSON data


class _TooLargeError(Exception):
    """A number that Python does not write as text."""


def plain(value: object) -> object:
    """A value as JSON data: tuples are lists, sets are sorted lists, keys of dicts are texts."""
    if isinstance(value, float) and not math.isfinite(value):
        return {"$float": str(value)}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, (set, frozenset)):
        return sorted((plain(item) for item in value), key=repr)
    if isinstance(value, dict):
        return {_text(key): plain(item) for key, item in value.items()}
    if isinstance(value, int) and value.bit_length() > _MOST_BITS:
        raise _TooLargeError
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return {"$object": type(value).__name__}


def _text(key: object) -> str:
    try:
        return str(key)
    except ValueError:  # a number with too many digits
        raise _TooLargeError from None


def distinct(values: Iterable[object]) -> list[object]:
    """The values, each once; 1, 1.0 and true are three values."""
    by_text: dict[str, object] = {}
    for value in values:
        by_text.setdefault(json.dumps(value, sort_keys=True), value)
    return list(by_text.values())
