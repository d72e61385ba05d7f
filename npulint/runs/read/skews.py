"""Differences between the ranks of a run, and the rank that others wait for."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Literal

import msgspec

from npulint.facts.kinds import fact_kind
from npulint.facts.model import Fact, FileFact, Span
from npulint.runs.read.quantities import micro, share

PARTS = ("computing_us", "exposed_us", "free_us")
"""The parts of a step time; they add up to it."""

_Part = Literal["computing", "communication"]


@fact_kind("run_skew")
class RankSkew(FileFact):
    """What the ranks of a run differ in (cluster_step_trace_time, otherwise the step_trace_time of ranks whose profiles
    are side by side). Communication is that of one pipeline stage, without bubbles."""

    name: _Part
    max_us: float
    min_us: float
    most: str
    """The rank that takes longest."""
    least: str
    suspect: str
    """The rank that the others probably wait for."""
    spread: float
    """The difference in percent of the longest."""
    step_share: float
    """The difference in percent of the longest rank's time."""
    suspect_idle: float
    """How much of its time that rank is idle, in percent."""


class Rank(msgspec.Struct):
    """The times of one rank in µs by part, over all steps, and their place in an artifact. `bubble` is communication
    time in which a pipeline stage waits for another one."""

    path: str
    line: int
    parts: dict[str, float]
    bubble: float = 0.0

    @property
    def whole(self) -> float:
        """µs of all steps."""
        return sum(self.parts.values())

    @property
    def exchanging(self) -> float:
        """µs of communication that is not overlapped, without pipeline bubbles."""
        return max(0.0, self.parts["exposed_us"] - self.bubble)


def skews(ranks: dict[str, Rank], stages: Sequence[Collection[str]] = ()) -> list[Fact]:
    """A `run_skew` for computing and communication, if there are two ranks or more. Ranks of different pipeline stages
    do not wait for each other in collectives: communication is compared within `stages`, and not at all if there are
    bubbles but the stages are unknown."""
    if len(ranks) < 2:
        return []
    computing = {rank: times.parts["computing_us"] for rank, times in ranks.items()}
    return [_skew("computing", computing, ranks), *_communication(ranks, stages)]


def _communication(ranks: dict[str, Rank], stages: Sequence[Collection[str]]) -> list[Fact]:
    """The skew of the stage with the largest difference."""
    if not stages and not any(rank.bubble for rank in ranks.values()):
        stages = [ranks]
    groups = [{rank: ranks[rank].exchanging for rank in ranks if rank in stage} for stage in stages]
    groups = [group for group in groups if len(group) > 1]
    if not groups:
        return []
    return [_skew("communication", max(groups, key=lambda group: max(group.values()) - min(group.values())), ranks)]


def _skew(name: _Part, values: dict[str, float], ranks: dict[str, Rank]) -> RankSkew:
    """Ranks wait for the slow one, which has the longest computing and the shortest communication time."""
    most = max(values, key=lambda rank: values[rank])
    least = min(values, key=lambda rank: values[rank])
    suspect = least if name == "communication" else most
    place, difference = ranks[most], values[most] - values[least]
    return RankSkew(
        name,
        place.path,
        Span.at(place.line),
        max_us=micro(values[most]),
        min_us=micro(values[least]),
        most=most,
        least=least,
        suspect=suspect,
        spread=share(difference, values[most]),
        step_share=share(difference, max(rank.whole for rank in ranks.values())),
        suspect_idle=share(ranks[suspect].parts["free_us"], ranks[suspect].whole),
    )
