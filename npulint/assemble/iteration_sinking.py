"""Iteration sinking is set up in two places, a session option and a call, and checkpoints wait for its end: do the
numbers agree?"""

from __future__ import annotations

from collections.abc import Iterable

from npulint.assemble.index import FactTable
from npulint.facts.model import Fact
from npulint.facts.values import PossibleValues

_CALLS = frozenset(("set_iteration_per_loop", "load_iteration_per_loop_var"))
_ANNOUNCED = frozenset(("create_iteration_per_loop_var", "SetIterationsVarHook"))


def describe_sinking(settings: Iterable[Fact], tables: Iterable[FactTable]) -> None:
    """Add to settings of ``iterations_per_loop`` on a session whether the call that sinks the loop is
    there and gives the same number (`agrees`: yes, no, missing or unknown), and to those of an NPURunConfig whether
    its checkpoint interval is a multiple (`divides`: yes, no or unknown)."""
    settings = list(settings)
    _relate_checkpoints(settings)
    sinking = [f for f in settings if f.name == "iterations_per_loop" and f.get("via") == "session_key"]
    if not sinking:
        return
    called = [f for part in tables for f in part.get("call", ()) if f.name.rpartition(".")[2] in _CALLS | _ANNOUNCED]
    for fact in sinking:
        fact.attrs["agrees"] = _agrees(fact.get("value"), called)


def _relate_checkpoints(settings: list[Fact]) -> None:
    passed = [f for f in settings if f.get("via") == "run_config"]
    intervals = {f.get("entry"): f.get("value") for f in passed if f.name == "save_checkpoints_steps"}
    for fact in passed:
        if fact.name == "iterations_per_loop":
            fact.attrs["divides"] = _divides(fact.get("value"), intervals.get(fact.get("entry")))


def _divides(loop: object, interval: object) -> str:
    steps, every = (v.single if isinstance(v, PossibleValues) else None for v in (loop, interval))
    if not isinstance(steps, int) or not isinstance(every, int) or steps < 1 or every < 1:
        return "unknown"
    return "no" if every % steps else "yes"


def _agrees(wanted: object, called: list[Fact]) -> str:
    if not called:
        return "missing"
    given = [
        f.args.argument_value("iterations_per_loop", 2)
        for f in called
        if f.name.rpartition(".")[2] in _CALLS and f.args
    ]
    given = [g.single for g in given if isinstance(g, PossibleValues)]
    if not given or None in given or not isinstance(wanted, PossibleValues) or wanted.single is None:
        return "unknown"
    return "yes" if wanted.single in given else "no"
