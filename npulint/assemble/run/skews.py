"""Ranks of one run that were profiled each by itself, held against each other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from npulint.assemble.run.profiles import folder_of
from npulint.facts.model import Fact
from npulint.read.artifacts.skews import PARTS, Rank, skews


def across_ranks(facts: Iterable[Fact]) -> list[Fact]:
    """A `run_skew` for profiles that lie beside one another and are of several ranks, each once, over as many steps.
    None where a table of the whole cluster tells it."""
    facts = list(facts)
    if any(fact.kind == "run_skew" for fact in facts):
        return []
    numbers = {
        folder_of(fact.path): fact.attrs["rank"]
        for fact in facts
        if fact.kind == "run_profile" and isinstance(fact.attrs.get("rank"), int)
    }
    return [skew for group in _groups(facts, numbers) for skew in skews(group)]


def _groups(facts: Iterable[Fact], numbers: dict[str, object]) -> Iterator[dict[str, Rank]]:
    """The ranks of each run. Who has a rank twice, or other steps, is of another run: nobody knows which."""
    steps: dict[str, list[tuple[str, Fact]]] = {}
    for fact in facts:
        profile = folder_of(folder_of(fact.path))
        if fact.kind == "run_step" and fact.attrs["from"] == "step_trace_time" and profile in numbers:
            steps.setdefault(folder_of(profile), []).append((str(numbers[profile]), fact))
    for _, found in sorted(steps.items()):
        ranks = {rank: _rank(fact) for rank, fact in found}
        if len(ranks) == len(found) and len({fact.attrs["steps"] for _, fact in found}) == 1:
            yield ranks


def _rank(fact: Fact) -> Rank:
    parts = {key: float(str(fact.attrs[key])) for key in PARTS}
    return Rank(fact.path, fact.span.line, parts, float(str(fact.attrs["bubble_us"])))
