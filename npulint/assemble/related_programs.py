"""Programs that are no code: what is known of them from the programs beside them."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import msgspec

from npulint.assemble.index import FactTable
from npulint.assemble.program_fact import ProgramFact
from npulint.assemble.programs import Program


def home_of(near: Sequence[Program]) -> Program | None:
    """The program that something most probably comes from: one that trains, best with an entry script."""
    return max(near, key=lambda one: (one.fact.trains, bool(one.entry)), default=None)


def at_work(near: Sequence[Program], named: Collection[str]) -> list[Program]:
    """The programs that may have left a run behind, with what no entry script reaches: those with an entry script among
    the files that the run has `named`, else with such a file, else those that train, else all."""
    entries = [one for one in near if one.entry]
    chosen = [one for one in entries if one.entry in named]
    chosen = chosen or [one for one in entries if not set(named).isdisjoint(one.paths)]
    chosen = chosen or [one for one in entries if one.fact.trains]
    return [one for one in near if one in chosen or not one.entry] if chosen else list(near)


def fact_of(home: Program | None) -> ProgramFact:
    """A fact for what a program made, or what nothing is known of. It is checked even where its script is left."""
    if home is None:
        return ProgramFact()
    fact = msgspec.structs.replace(home.fact, entry=False)
    if fact.migration == "left":
        fact.migration = "none"
    return fact


def tables_of(near: Sequence[Program]) -> list[FactTable]:
    """The facts of programs, each table once."""
    return list({id(part): part for one in near for part in one.index.tables}.values())
