"""Programs without code (graphs, training runs): which programs of the project they come from."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import msgspec

from npulint.model.code.index import FactTable
from npulint.model.programs.program_fact import ProgramFact
from npulint.recognizers.programs import Program


def home_of(near: Sequence[Program]) -> Program | None:
    """The program that something most probably comes from: one that trains, preferably with an entry script."""
    return max(near, key=lambda one: (one.fact.trains, bool(one.entry)), default=None)


def at_work(near: Sequence[Program], named: Collection[str]) -> list[Program]:
    """The programs that may have produced a training run, together with what no entry script reaches: those with an
    entry script among the files that the run has `named`, else those with such a file, else those that train, else
    all."""
    entries = [one for one in near if one.entry]
    chosen = [one for one in entries if one.entry in named]
    chosen = chosen or [one for one in entries if not set(named).isdisjoint(one.paths)]
    chosen = chosen or [one for one in entries if one.fact.trains]
    return [one for one in near if one in chosen or not one.entry] if chosen else list(near)


def fact_of(home: Program | None) -> ProgramFact:
    """The program fact for a graph or run that comes from a program, or from an unknown one. It is checked even if its
    script was not migrated."""
    if home is None:
        return ProgramFact()
    fact = msgspec.structs.replace(home.fact, entry=False)
    if fact.migration in ("left", "behind"):
        fact.migration = "none"
    return fact


def tables_of(near: Sequence[Program]) -> list[FactTable]:
    """The fact tables of programs, without duplicates."""
    return list({id(part): part for one in near for part in one.index.tables}.values())
