"""Compares answers for probes with what the probes saw."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from tests.oracle.notation import Place, Program
from tests.oracle.truth import Seen, Truth, same

Answer = Mapping[str, Any]
Respondent = Callable[[Program], list[dict[str, Any]]]

WRONG = "wrong"  # certain, and an execution shows something else
KNOWN = "known"  # certain, with exactly what was seen
LOOSE = "loose"  # certain, with more values than were seen
UNKNOWN = "unknown"  # not certain, though all executions show one thing
OPEN = "open"  # not certain, and the executions differ
UNREACHED = "unreached"  # the value is never made: any answer is right
VERDICTS = (WRONG, KNOWN, LOOSE, UNKNOWN, OPEN, UNREACHED)


class Verdict(NamedTuple):
    """What an answer for a probe is worth."""

    program: Program
    place: Place
    name: str
    said: object
    seen: object

    def __str__(self) -> str:
        line = self.program.files[self.place.path].splitlines()[self.place.line - 1].strip()
        return f"{self.name}: {self.place.path}:{self.place.line} {line}: said {self.said!r}, seen {self.seen!r}"


def verdict_of(truth: Truth, seen: Seen, answer: Answer | None) -> tuple[str, object, object]:
    """The verdict on an answer (None: there is none), what it says, and what was seen."""
    if seen.place.kind == "runs":
        return _of_runs(truth.runs(seen), "maybe" if answer is None else answer["answer"])
    said = list(answer["values"]) if answer is not None and answer["certain"] else None
    if not seen.values:
        name = UNREACHED
    elif said is None:
        name = OPEN if len(seen.values) > 1 else UNKNOWN
    elif not all(any(same(value, other) for other in said) for value in seen.values):
        name = WRONG
    else:
        name = KNOWN if len(said) == len(seen.values) else LOOSE
    return name, said, seen.values


def _of_runs(seen: str, said: object) -> tuple[str, object, object]:
    if said == "maybe":
        return (OPEN if seen == "some" else UNKNOWN), said, seen
    return (KNOWN if said == seen else WRONG), said, seen


def judged(program: Program, truth: Truth, answers: Iterable[Answer]) -> list[Verdict]:
    """The verdict on the answers for each probe of a program."""
    by_place = {Place(answer["path"], answer["line"], answer["kind"]): answer for answer in answers}
    if set(by_place) - {seen.place for seen in truth.seen}:
        raise ValueError(f"{program.title}: an answer for a place without a probe")
    return [Verdict(program, seen.place, *verdict_of(truth, seen, by_place.get(seen.place))) for seen in truth.seen]


def shares(verdicts: Iterable[Verdict]) -> dict[str, int]:
    """How often each verdict was given."""
    counts = Counter(verdict.name for verdict in verdicts)
    return {name: counts[name] for name in VERDICTS}


def known_share(counts: Mapping[str, int]) -> float:
    """The share of known ones among the probes for which something certain can be said."""
    sayable = counts[KNOWN] + counts[LOOSE] + counts[UNKNOWN] + counts[WRONG]
    return counts[KNOWN] / sayable if sayable else 1.0
