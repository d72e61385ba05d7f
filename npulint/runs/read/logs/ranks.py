"""Decides which rank of a distributed run failed first, and which ones only waited for it."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from npulint.facts.model import Fact
from npulint.runs.read.logs.triage import LogMessage


def across(facts: Iterable[Fact]) -> list[Fact]:
    """The facts of the logs of one run, with consistent root causes.

    A rank that reports waiting for a peer only echoes another rank's failure: if any log has a root cause that is
    neither an echo nor an umbrella, echoes are no longer roots. If all ranks waited, the one with the earliest time
    stamp stays; without time stamps all stay. Callers group the logs by run."""
    everything = list(facts)
    roots = [one for one in everything if isinstance(one, LogMessage) and one.root]
    echoes = [root for root in roots if root.echo]
    if all(root.echo or root.umbrella for root in roots):
        times = [echoe.time for echoe in echoes]
        if len(echoes) < 2 or not all(times):
            return everything
        earliest = min(times)
        echoes = [echoe for echoe in echoes if echoe.time != earliest]
    dropped = {id(echoe) for echoe in echoes}
    return [msgspec.structs.replace(fact, root=False) if id(fact) in dropped else fact for fact in everything]
