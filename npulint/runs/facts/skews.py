"""Ranks of one run that were profiled each by itself, held against each other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from npulint.facts.model import Fact
from npulint.runs.facts.profiles import folder_of
from npulint.runs.read.environment import ProfileOptions
from npulint.runs.read.skews import Rank, RankSkew, skews
from npulint.runs.read.steps import StepBreakdown


def across_ranks(facts: Iterable[Fact]) -> list[Fact]:
    """A `run_skew` for profiles that lie beside one another and are of several ranks, each once, over as many steps.
    None where a table of the whole cluster tells it."""
    facts = list(facts)
    if any(isinstance(fact, RankSkew) for fact in facts):
        return []
    numbers = {
        folder_of(fact.path): fact.rank for fact in facts if isinstance(fact, ProfileOptions) and fact.rank is not None
    }
    return [skew for group in _groups(facts, numbers) for skew in skews(group)]


def _groups(facts: Iterable[Fact], numbers: dict[str, int]) -> Iterator[dict[str, Rank]]:
    """The ranks of each run. Who has a rank twice, or other steps, is of another run: nobody knows which."""
    steps: dict[str, list[tuple[str, StepBreakdown]]] = {}
    for fact in facts:
        profile = folder_of(folder_of(fact.path))
        if isinstance(fact, StepBreakdown) and not fact.traced and profile in numbers:
            steps.setdefault(folder_of(profile), []).append((str(numbers[profile]), fact))
    for _, found in sorted(steps.items()):
        ranks = {rank: _rank(fact) for rank, fact in found}
        if len(ranks) == len(found) and len({fact.steps for _, fact in found}) == 1:
            yield ranks


def _rank(fact: StepBreakdown) -> Rank:
    parts = {"computing_us": fact.computing_us, "exposed_us": fact.exposed_us, "free_us": fact.free_us}
    return Rank(fact.path, fact.span.line, parts, fact.bubble_us or 0.0)
