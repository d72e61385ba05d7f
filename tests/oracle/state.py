"""How the engine answers now: the faults that are not repaired yet, and the share of the probes that it knows.

The tests demand that no other program has a fault, that each of these still has it, and that no share becomes smaller.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from itertools import groupby
from typing import Any

from tests.oracle import grammars
from tests.oracle.judging import WRONG, Verdict, judged, known_share, shares
from tests.oracle.notation import Program, all_forms
from tests.oracle.respondents import analysed
from tests.oracle.truth import DATA, Truth, digest, from_record, records

STATE = DATA / "state.json"
CHUNK = 25  # fixed programs that are judged together

WRONG_CERTAINTY = "wrong"
CRASH = "crash"
INCOMPLETE = "incomplete"


@dataclass
class Judged:
    """What the answers for several programs are worth: their faults by title, the details of these, all verdicts."""

    faults: dict[str, str] = field(default_factory=dict)
    details: list[str] = field(default_factory=list)
    verdicts: list[Verdict] = field(default_factory=list)

    def add(self, program: Program, truth: Truth) -> None:
        """Ask the engine for a program, and judge its answers."""
        try:
            analysis = analysed(program)
        except Exception as error:
            self._fault(program, CRASH, [f"{type(error).__name__}: {error}"])
            return
        verdicts = judged(program, truth, analysis.answers)
        self.verdicts += verdicts
        wrong = [str(verdict) for verdict in verdicts if verdict.name == WRONG]
        if wrong:
            self._fault(program, WRONG_CERTAINTY, wrong)
        elif analysis.limits:
            self._fault(program, INCOMPLETE, analysis.limits)

    def _fault(self, program: Program, kind: str, details: Iterable[str]) -> None:
        self.faults[program.title] = kind
        self.details += [f"{program.title}: {detail}" for detail in details]

    @property
    def share(self) -> float:
        """The share of the probes that are known, of those that can be."""
        return known_share(shares(self.verdicts))


def judged_all(programs: Iterable[tuple[Program, Truth]]) -> Judged:
    """What the answers for these programs are worth."""
    result = Judged()
    for program, truth in programs:
        result.add(program, truth)
    return result


@cache
def recorded_forms() -> dict[str, list[tuple[Program, Truth]]]:
    """The forms with their recorded truth, by group."""
    truths = records("forms")
    return {
        group: [(form, _truth(form, truths)) for form in forms]
        for group, forms in groupby(all_forms(), lambda one: one.group)
    }


def recorded_programs(name: str, number: int) -> Iterator[tuple[Program, Truth]]:
    """One chunk of the fixed programs of a grammar, with their recorded truth."""
    truths = records("programs")
    grammar = next(each for each in grammars.GRAMMARS if each.name == name)
    for seed in range(number * CHUNK + 1, (number + 1) * CHUNK + 1):
        program = grammar.attempt(seed, truths[f"{name}/{seed}"]["attempt"])
        assert program is not None
        yield program, _truth(program, truths)


def _truth(program: Program, truths: dict[str, dict[str, Any]]) -> Truth:
    record = truths.get(program.title)
    if record is None or record["digest"] != digest(program):
        raise LookupError(f"{program.title} was changed: run `python -m tests.oracle.record`")
    return from_record(record)


def parts() -> dict[str, Callable[[], Iterable[tuple[Program, Truth]]]]:
    """What is judged together, by its name: the groups of forms, and the chunks of programs."""
    made: dict[str, Callable[[], Iterable[tuple[Program, Truth]]]] = {}
    for group in recorded_forms():
        made[group] = lambda group=group: recorded_forms()[group]  # type: ignore[misc]
    for grammar in grammars.GRAMMARS:
        for number in range(grammars.FIXED // CHUNK):
            made[f"{grammar.name}-{number}"] = lambda name=grammar.name, number=number: recorded_programs(name, number)  # type: ignore[misc]
    return made


def current() -> dict[str, Any]:
    """The state now."""
    faults: dict[str, str] = {}
    known: dict[str, float] = {}
    for name, programs in parts().items():
        result = judged_all(programs())
        faults.update(result.faults)
        known[name] = math.floor(result.share * 1000) / 1000
    return {"faults": dict(sorted(faults.items())), "known": known}


def write_state(state: dict[str, Any]) -> None:
    """Record a state."""
    STATE.write_text(json.dumps(state, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def recorded_state() -> dict[str, Any]:
    """The recorded state."""
    state: dict[str, Any] = json.loads(STATE.read_text(encoding="utf-8"))
    return state
