"""Decides which rank of a distributed run failed first, and which ones only waited for it."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from npulint.facts.model import Fact


def across(facts: Iterable[Fact]) -> list[Fact]:
    """The facts of the logs of one run, with consistent root causes.

    A rank that reports waiting for a peer only echoes another rank's failure: if any log has a root cause that is
    neither an echo nor an umbrella, echoes are no longer roots. If all ranks waited, the one with the earliest time
    stamp stays; without time stamps all stay. Callers group the logs by run."""
    everything = list(facts)
    roots = [one for one in everything if one.kind == "run_event" and one.attrs["root"] == "yes"]
    echoes = [one for one in roots if one.attrs["echo"] == "yes"]
    if all(one.attrs["echo"] == "yes" or one.attrs["umbrella"] == "yes" for one in roots):
        times = [one.attrs["time"] for one in echoes]
        if len(echoes) < 2 or not all(times):
            return everything
        earliest = min(times)
        echoes = [one for one in echoes if one.attrs["time"] != earliest]
    dropped = {id(one) for one in echoes}
    return [_dropped(one) if id(one) in dropped else one for one in everything]


def _dropped(fact: Fact) -> Fact:
    return msgspec.structs.replace(fact, attrs={**fact.attrs, "root": "no"})
