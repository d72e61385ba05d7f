"""Programs without code (graphs, training runs): which programs of the project they come from."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import msgspec

from npulint.model.code.index import FactTable
from npulint.model.programs.program_fact import ProgramFact
from npulint.recognizers.programs import Program


def home_of(near: Sequence[Program]) -> Program | None:
    """The program that something most probably comes from: one that trains, preferably with an entry script."""
    return max(near, key=lambda program: (program.fact.trains, bool(program.entry)), default=None)


def at_work(near: Sequence[Program], named: Collection[str]) -> list[Program]:
    """The programs that may have produced a training run, together with what no entry script reaches: those with an
    entry script among the files that the run has `named`, else those with such a file, else those that train, else
    all."""
    entries = [program for program in near if program.entry]
    chosen = [entry for entry in entries if entry.entry in named]
    chosen = chosen or [entry for entry in entries if not set(named).isdisjoint(entry.paths)]
    chosen = chosen or [entry for entry in entries if entry.fact.trains]
    return [program for program in near if program in chosen or not program.entry] if chosen else list(near)


def fact_of(home: Program | None) -> ProgramFact:
    """The program fact for a graph or run that comes from a program, or from an unknown one. It is checked even if its
    script was not migrated."""
    if home is None:
        return ProgramFact()
    fact = msgspec.structs.replace(home.fact, entry=False)
    if fact.migration == "left":
        fact.migration = "none"
    return fact


def tables_of(near: Sequence[Program]) -> list[FactTable]:
    """The fact tables of programs, without duplicates."""
    return list({id(part): part for program in near for part in program.index.tables}.values())
