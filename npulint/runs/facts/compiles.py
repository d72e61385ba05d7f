"""Device graphs that the ranks of one run compiled: whether all compiled the same."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.kinds import fact_kind
from npulint.facts.model import Fact, FileFact
from npulint.runs.read.logs import LogSummary
from npulint.runs.read.series.graphs import GraphCompilations

_NUMBER = lazy_compile(r"\d+")


@fact_kind("run_rank_graphs")
class RankGraphs(FileFact):
    """The ranks of one run, of each of which there is one log, have compiled different graphs."""

    name: Literal["compiles"]
    ranks: int
    least: int
    """The rank that compiled least."""
    most: int
    min: int
    """How many graphs that is."""
    max: int


def with_differences(facts: Iterable[Fact]) -> list[Fact]:
    """The facts, and a `run_rank_graphs` where logs of several ranks of one run tell of different compiles. It lies
    where the rank that compiled least tells of its graphs."""
    facts = list(facts)
    ranks = {one.path: one.rank for one in facts if isinstance(one, LogSummary)}
    runs: dict[str, dict[int, list[GraphCompilations]]] = {}
    for fact in facts:
        if isinstance(fact, GraphCompilations) and ranks.get(fact.path, "").isdecimal():
            name = _NUMBER.sub("#", fact.path)  # the logs of ranks differ in numbers: train_0.log, 1/train.log
            runs.setdefault(name, {}).setdefault(int(ranks[fact.path]), []).append(fact)
    found = [_difference(own) for _, own in sorted(runs.items())]
    return facts + [one for one in found if one is not None]


def _difference(by_rank: dict[int, list[GraphCompilations]]) -> Fact | None:
    """The difference between ranks that have one log each; of several logs of a rank nobody knows which belong
    together."""
    if len(by_rank) < 2 or any(len(own) > 1 for own in by_rank.values()):
        return None
    compiles = {rank: own[0] for rank, own in by_rank.items()}
    if len({(graph_compilations.graphs, graph_compilations.ids) for graph_compilations in compiles.values()}) < 2:
        return None
    ordered = sorted(compiles, key=lambda rank: (compiles[rank].graphs, rank))
    least, most = ordered[0], ordered[-1]
    place = compiles[least]
    counts = place.graphs, compiles[most].graphs
    return RankGraphs("compiles", place.path, place.span, len(compiles), least, most, *counts)
