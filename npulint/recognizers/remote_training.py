"""Programs whose training steps run in processes of Ray, which do not load the entry script."""

from __future__ import annotations

from collections.abc import Sequence

from npulint.facts.model import Fact
from npulint.model.code.index import Index
from npulint.model.code.reached import Place
from npulint.model.programs.entry_scripts import place_of
from npulint.model.running.call_graph import possible_calls
from npulint.model.running.code_facts import CallFact, CodeFact
from npulint.model.running.reach import Reach
from npulint.model.running.remote import (
    loaded_remotely,
    remote_places,
    remote_scopes,
    set_up_remotely,
    starts_elsewhere,
)
from npulint.model.values.context import Context


def trains_remotely(context: Context, index: Index, entry: str, paths: Sequence[str], starts: Sequence[Place]) -> bool:
    """Whether all training steps of a program run in processes of Ray: its own, which begins at `starts`, reaches none.
    What these processes call first may import anything."""
    apart = remote_places(context)
    if not apart:
        return False
    return context.memoize(("trains remotely", entry), lambda: _trains(context, index, entry, paths, starts))


def _trains(context: Context, index: Index, entry: str, paths: Sequence[str], starts: Sequence[Place]) -> bool:
    if set_up_remotely(context, paths):
        return False
    steps = [fact for fact in index.of_kind("train_step") if fact.get("in_test") != "yes"]
    places = {place_of(fact) for fact in steps if isinstance(fact, CallFact) and not starts_elsewhere(fact.call)}
    apart = remote_places(context)
    return bool(places) and not Reach(possible_calls(context), entry, paths, starts, apart).reaches(places - apart)


def is_loaded_remotely(context: Context, entry: str, fact: Fact) -> bool:
    """Whether the processes of Ray load a place of code."""
    if fact.path in loaded_remotely(context, entry):
        return True
    return isinstance(fact, CodeFact) and not remote_scopes(context).isdisjoint(fact.scope.ancestors)
