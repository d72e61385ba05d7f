"""The engine is certain of nothing wrong: its answers for forms and generated programs, judged by what CPython did."""

from __future__ import annotations

import pytest

from tests.oracle import grammars
from tests.oracle.state import WRONG_CERTAINTY, Judged, judged_all, parts, recorded_state
from tests.oracle.truth import records

PARTS = parts()
SEEDS = 2_000  # programs of each grammar that are tried at night
TOGETHER = 50


@pytest.mark.daily
@pytest.mark.parametrize("part", PARTS)
def test_nothing_is_wrong_but_what_is_listed(part: str) -> None:
    programs = list(PARTS[part]())
    result = judged_all(programs)
    titles = {program.title for program, _ in programs}
    listed = {title: kind for title, kind in recorded_state()["faults"].items() if title in titles}
    assert result.faults == listed, "\n".join(
        ["`python -m tests.oracle.record --state` lists what is left when faults were repaired", *result.details]
    )
    assert result.share >= recorded_state()["known"][part]


def test_faults_and_shares_are_listed_of_what_there_is() -> None:
    state = recorded_state()
    titles = {*records("forms"), *records("programs")}
    assert set(state["known"]) == set(PARTS)
    assert set(state["faults"]) <= titles


@pytest.mark.nightly
@pytest.mark.parametrize("first", range(grammars.FIXED + 1, SEEDS + 1, TOGETHER))
@pytest.mark.parametrize("grammar", grammars.GRAMMARS, ids=lambda grammar: grammar.name)
def test_no_other_generated_program_has_a_wrong_certainty(grammar: grammars.Grammar, first: int) -> None:
    result = Judged()
    for seed in range(first, min(first + TOGETHER, SEEDS + 1)):
        made = grammar.program(seed)
        result.add(made.program, made.truth)
    wrong = [detail for detail in result.details if result.faults[detail.partition(": ")[0]] == WRONG_CERTAINTY]
    crashes = [title for title, kind in result.faults.items() if kind == "crash"]
    assert not wrong and not crashes, "\n".join(result.details)
