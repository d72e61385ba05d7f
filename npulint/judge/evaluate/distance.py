"""How far the place of a fact is from one that matters most: the one answer for grouped findings, readiness items and
what to do first."""

from __future__ import annotations

from npulint.facts.model import Fact
from npulint.recognizers.programs import Program

APART = 32
"""What is added for places of which no training of the project has anything to fear: in tests, behind guards, in code
that nothing uses, and in files that are there for something else."""
_HARMLESS, _UNSURE, _ELSEWHERE = 16, 8, 1
_HOW_SELDOM = {"yes": 0, "gated": 2}
"""How seldom code runs while training: in every step, in some; else less than that."""
_LEAST = 4


def distance(fact: Fact, program: Program) -> int:
    """0 for a place in the entry script that surely runs in every training step and does harm. A place where the code
    does no harm is farther away, then one that may not run, then one outside of the training step, then one in
    another file."""
    is_apart = "yes" in (fact.get("in_test"), fact.get("guarded"), fact.get("unused")) or fact.get("active") == "no"
    is_apart = is_apart or fact.get("behind") in ("npu", "cuda")
    is_harmless = fact.get("breaks") not in (None, "yes")
    is_unsure = is_apart or not program.surely_runs(fact)
    return (
        APART * is_apart
        + _HARMLESS * is_harmless
        + _UNSURE * is_unsure
        + _HOW_SELDOM.get(fact.get_text("step"), _LEAST)
        + _ELSEWHERE * (fact.path != program.entry)
    )
