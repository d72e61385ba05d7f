"""Generates examples of a kind, has them judged, and keeps what fails."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import hypothesis
import msgspec
from hypothesis import HealthCheck, Phase, given
from hypothesis import strategies as st

from scripts.fuzzing.example import Example, Failure
from scripts.fuzzing.sandbox import Sandbox
from scripts.fuzzing.shrink import shrink

CHUNK = 50  # examples that are generated at once


class Found(msgspec.Struct, frozen=True):
    """A failure and the smallest example of it."""

    failure: Failure
    example: Example


class Tally(msgspec.Struct):
    """What became of a kind: how many examples in how many seconds, the longest one, and each failure once."""

    kind: str
    examples: int = 0
    seconds: float = 0.0
    longest: float = 0.0
    found: list[Found] = []

    def __str__(self) -> str:
        counted = f"{self.examples} examples, {self.seconds:.0f} s, longest {self.longest:.1f} s"
        return f"{self.kind:12} {counted}, {len(self.found)} failures"


def generated(strategy: st.SearchStrategy[Example], count: int, seed: int) -> list[Example]:
    """So many examples; the same ones for the same seed."""
    found: list[Example] = []

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=count,
        phases=(Phase.generate,),
        database=None,
        deadline=None,
        derandomize=False,
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def collect(example: Example) -> None:
        found.append(example)

    collect()
    return found[:count]


def fuzz(
    kind: str,
    strategy: st.SearchStrategy[Example],
    sandbox: Sandbox,
    seed: int,
    more: Callable[[Tally], bool],
    shrinking: bool = True,
) -> Tally:
    """Judge examples of a kind while `more` says so."""
    tally = Tally(kind)
    begun = time.monotonic()
    for chunk in range(1 << 30):
        for example in generated(strategy, CHUNK, seed * 1_000_003 + chunk):
            tally.seconds = time.monotonic() - begun
            if not more(tally):
                return tally
            _judge(example, sandbox, tally, shrinking)
    return tally


def _judge(example: Example, sandbox: Sandbox, tally: Tally, shrinking: bool) -> None:
    before = time.monotonic()
    failure = sandbox.judge(example)
    tally.longest = max(tally.longest, time.monotonic() - before)
    tally.examples += 1
    if failure is not None and failure.sort == "hang":  # by itself, or only because the machine was busy?
        failure = sandbox.judge(example)
    if failure is None or any(str(one.failure) == str(failure) for one in tally.found):
        return
    if shrinking:
        example = shrink(example, failure, sandbox.judge)
    tally.found.append(Found(failure, example))


def save(found: Found, folder: Path) -> None:
    """Write a failing example: its project, its messages, its command, and what is wrong."""
    for name, data in found.example.files.items():
        path = folder / "project" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    if found.example.messages:
        (folder / "messages").write_bytes(b"".join(found.example.messages))
    if found.example.stdin:
        (folder / "stdin").write_bytes(found.example.stdin)
    words = " ".join(("npulint", *found.example.words))
    (folder / "failure.txt").write_text(f"{words}\n{found.failure}\n\n{found.failure.detail}\n", encoding="utf-8")
