"""Hostile and odd inputs of every kind: nothing crashes, hangs or writes, and every report is of its format.

The recorded examples are tried each time, others at random each night; `python -m scripts.fuzz` tries more."""

from __future__ import annotations

import secrets
from collections.abc import Iterator

import pytest

from scripts.fuzzing.kinds import KINDS
from scripts.fuzzing.recorded import recorded
from scripts.fuzzing.run import fuzz
from scripts.fuzzing.sandbox import Limits, Sandbox

pytestmark = pytest.mark.slow

EXAMPLES = {"checks": 12, "editor": 20, "yaml": 40}
"""How many random examples of the kinds that take longer: about seven seconds of one core for each kind."""
USUAL = 60
PATIENT = Limits(seconds=60)  # of the processor: the examples are small, and a hang is not over after a minute either


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    """A process that judges all recorded examples."""
    with Sandbox(PATIENT) as made:
        yield made


@pytest.mark.parametrize("kind", KINDS)
def test_no_recorded_example_does_harm(kind: str, sandbox: Sandbox) -> None:
    examples = recorded(kind)
    assert examples
    assert [str(failure) for failure in map(sandbox.judge, examples) if failure is not None] == []


@pytest.mark.nightly
@pytest.mark.parametrize("kind", KINDS)
def test_no_random_example_does_harm(kind: str) -> None:
    count, seed = EXAMPLES.get(kind, USUAL), secrets.randbelow(1 << 20)
    with Sandbox(PATIENT) as sandbox:
        tally = fuzz(kind, KINDS[kind], sandbox, seed, lambda tally: tally.examples < count)
    assert [f"{one.failure} {one.example}" for one in tally.found] == [], f"with --seed {seed}"
    assert tally.examples == count
