"""Which rank of a distributed run failed first, and which only waited for it."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from npulint.facts.model import Fact


def across(facts: Iterable[Fact]) -> list[Fact]:
    """The facts of the logs of one run, with one view of their roots.

    A rank that reports that it waited for a peer repeats another rank's failure: where any log has a root that is no
    such echo, and no mere umbrella, the echoes are roots no longer. Where all only waited, the earliest by its time
    stamp stays; without time stamps all stay. Logs of one run only: callers group them.
    """
    given = list(facts)
    roots = [one for one in given if one.kind == "run_event" and one.attrs["root"] == "yes"]
    echoes = [one for one in roots if one.attrs["echo"] == "yes"]
    if all(one.attrs["echo"] == "yes" or one.attrs["umbrella"] == "yes" for one in roots):
        times = [one.attrs["time"] for one in echoes]
        if len(echoes) < 2 or not all(times):
            return given
        earliest = min(times)
        echoes = [one for one in echoes if one.attrs["time"] != earliest]
    dropped = {id(one) for one in echoes}
    return [_dropped(one) if id(one) in dropped else one for one in given]


def _dropped(fact: Fact) -> Fact:
    return msgspec.structs.replace(fact, attrs={**fact.attrs, "root": "no"})
