"""Device graphs that the ranks of one run compiled: whether all compiled the same."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from npulint.facts.model import Fact, GenericFact
from npulint.lazy_regex import lazy_compile

_NUMBER = lazy_compile(r"\d+")


def with_differences(facts: Iterable[Fact]) -> list[Fact]:
    """The facts, and a `run_rank_graphs` where logs of several ranks of one run tell of different compiles. It lies
    where the rank that compiled least tells of its graphs."""
    facts = list(facts)
    ranks = {one.path: str(one.attrs["rank"]) for one in facts if one.kind == "run_log" and one.attrs["rank"]}
    runs: dict[str, dict[int, list[Fact]]] = {}
    for one in facts:
        if one.kind == "run_compile" and ranks.get(one.path, "").isdecimal():
            name = _NUMBER.sub("#", one.path)  # the logs of ranks differ in numbers: train_0.log, 1/train.log
            runs.setdefault(name, {}).setdefault(int(ranks[one.path]), []).append(one)
    found = [_difference(own) for _, own in sorted(runs.items())]
    return facts + [one for one in found if one is not None]


def _difference(by_rank: dict[int, list[Fact]]) -> Fact | None:
    """The difference between ranks that have one log each; of several logs of a rank nobody knows which belong
    together."""
    if len(by_rank) < 2 or any(len(own) > 1 for own in by_rank.values()):
        return None
    compiles = {rank: own[0] for rank, own in by_rank.items()}
    if len({(one.attrs["graphs"], one.attrs["ids"]) for one in compiles.values()}) < 2:
        return None
    ordered = sorted(compiles, key=lambda rank: (compiles[rank].attrs["graphs"], rank))
    least, most = ordered[0], ordered[-1]
    attributes: dict[str, Any] = {
        "ranks": len(compiles),
        "least": least,
        "most": most,
        "min": compiles[least].attrs["graphs"],
        "max": compiles[most].attrs["graphs"],
    }
    place = compiles[least]
    return GenericFact("run_rank_graphs", "compiles", place.path, place.span, attributes)
