"""Programs without code (graphs, training runs): which programs of the project they come from."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from npulint.assemble.index import FactTable
from npulint.assemble.programs import Program

_UNKNOWN = {
    "npu": "no",
    "project_npu": "no",
    "own_npu": "no",
    "evaluates": "no",
    "exports": "no",
    "patched": "no",
    "mode": "",
    "precision": "unknown",
    "multi_device": "unknown",
    "ranks": "unknown",
    "tensorflow": "",
    "torch": "",
    "migration": "none",
    "state": "not_started",
}


def home_of(near: Sequence[Program]) -> Program | None:
    """The program that something most probably comes from: one that trains, preferably with an entry script."""
    return max(near, key=lambda one: (one.attrs["trains"] == "yes", bool(one.entry)), default=None)


def at_work(near: Sequence[Program], named: Collection[str]) -> list[Program]:
    """The programs that may have produced a training run, together with what no entry script reaches: those with an
    entry script among the files that the run has `named`, else those with such a file, else those that train, else
    all."""
    entries = [one for one in near if one.entry]
    chosen = [one for one in entries if one.entry in named]
    chosen = chosen or [one for one in entries if not set(named).isdisjoint(one.paths)]
    chosen = chosen or [one for one in entries if one.attrs["trains"] == "yes"]
    return [one for one in near if one in chosen or not one.entry] if chosen else list(near)


def attrs_of(home: Program | None) -> dict[str, str]:
    """The attributes of a program, or those of an unknown one. An explicitly named graph or run is checked whatever the
    migration state of the scripts in its folder."""
    attrs = dict(_UNKNOWN) if home is None else dict(home.attrs)
    if attrs["migration"] == "left":
        attrs["migration"] = _UNKNOWN["migration"]
    return attrs


def tables_of(near: Sequence[Program]) -> list[FactTable]:
    """The fact tables of programs, without duplicates."""
    return list({id(part): part for one in near for part in one.index.tables}.values())
