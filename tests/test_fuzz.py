"""Hostile and odd inputs of every kind, the same ones each time: nothing crashes, hangs or writes, and every report is
of its format. `python -m scripts.fuzz` tries more."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest

from scripts.fuzzing.kinds import KINDS
from scripts.fuzzing.run import fuzz
from scripts.fuzzing.sandbox import Limits, Sandbox

pytestmark = pytest.mark.slow

SEED = 7
USUAL = 60
EXAMPLES = {"checks": 12, "editor": 20, "yaml": 40}
"""How many examples of the kinds that take longer: about seven seconds of one core for each kind."""


def judged(kind: str, count: int) -> tuple[int, list[str]]:
    """How many examples of a kind were tried, and what was found."""
    with Sandbox(Limits(seconds=30)) as sandbox:
        tally = fuzz(kind, KINDS[kind], sandbox, SEED, lambda tally: tally.examples < count)
    return tally.examples, [f"{one.failure} {one.example}" for one in tally.found]


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_of_any_kind_does_harm(kind: str) -> None:
    count = EXAMPLES.get(kind, USUAL)
    # Hypothesis takes constants from the modules that are loaded: in a process of its own the examples are the same
    with ProcessPoolExecutor(1, get_context("spawn")) as executor:
        assert executor.submit(judged, kind, count).result() == (count, [])
