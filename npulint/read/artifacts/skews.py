"""How far the ranks of a run lie apart, and which of them the others wait for."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import msgspec

from npulint.facts.model import Fact, GenericFact, Span
from npulint.read.artifacts.quantities import micro, share

PARTS = ("computing_us", "exposed_us", "free_us")
"""Parts of a step; together they are its time."""

_NAMES = {"computing": "computing_us", "idle": "free_us"}


class Rank(msgspec.Struct):
    """All steps of one rank in µs, by part, and the place of the artifact that shows them. `bubble` is the part of
    the communication in which a pipeline stage waits for another one."""

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
        """µs of communication that nothing overlaps, without the bubbles of a pipeline."""
        return max(0.0, self.parts["exposed_us"] - self.bubble)


def skews(ranks: dict[str, Rank], stages: Sequence[Collection[str]] = ()) -> list[Fact]:
    """`run_skew` for computing, communication, idle time and the share of idle time of two ranks or more. Ranks of
    different pipeline stages do not wait for one another in collectives: communication is compared within `stages`,
    and not at all where there are bubbles but nobody knows the stages."""
    if len(ranks) < 2:
        return []
    facts = [
        _skew(name, {rank: found.parts[key] for rank, found in ranks.items()}, ranks, "_us")
        for name, key in _NAMES.items()
    ]
    idle = {rank: share(found.parts["free_us"], found.whole) for rank, found in ranks.items()}
    return [*facts, _skew("idle_share", idle, ranks, ""), *_communication(ranks, stages)]


def _communication(ranks: dict[str, Rank], stages: Sequence[Collection[str]]) -> list[Fact]:
    """The skew of the stage whose ranks lie farthest apart."""
    if not stages and not any(found.bubble for found in ranks.values()):
        stages = [ranks]
    groups = [{rank: ranks[rank].exchanging for rank in ranks if rank in stage} for stage in stages]
    groups = [group for group in groups if len(group) > 1]
    if not groups:
        return []
    return [
        _skew("communication", max(groups, key=lambda group: max(group.values()) - min(group.values())), ranks, "_us")
    ]


def _skew(name: str, values: dict[str, float], ranks: dict[str, Rank], unit: str) -> Fact:
    """Ranks wait for the slow one: it computes longest, and its own communication is the shortest."""
    most = max(values, key=lambda rank: values[rank])
    least = min(values, key=lambda rank: values[rank])
    suspect = least if name == "communication" else most
    attrs: dict[str, object] = {
        "ranks": len(values),
        f"max{unit}": micro(values[most]),
        f"min{unit}": micro(values[least]),
        "most": most,
        "least": least,
        "suspect": suspect,
        "spread": share(values[most] - values[least], values[most]),
    }
    if unit:
        attrs["step_share"] = share(values[most] - values[least], max(found.whole for found in ranks.values()))
        attrs["suspect_idle"] = share(ranks[suspect].parts["free_us"], ranks[suspect].whole)
    place = ranks[most]
    return GenericFact("run_skew", name, place.path, Span.at(place.line), attrs)
