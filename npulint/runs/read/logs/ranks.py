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
    echoes = [one for one in roots if one.echo]
    if all(one.echo or one.umbrella for one in roots):
        times = [one.time for one in echoes]
        if len(echoes) < 2 or not all(times):
            return everything
        earliest = min(times)
        echoes = [one for one in echoes if one.time != earliest]
    dropped = {id(one) for one in echoes}
    return [msgspec.structs.replace(one, root=False) if id(one) in dropped else one for one in everything]
