"""The program that a run is: what all its artifacts say, beside the facts of the code that belongs to it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from npulint.assemble.context import Context
from npulint.assemble.index import Index, table
from npulint.assemble.programs import Program
from npulint.assemble.related_programs import at_work, fact_of, home_of, tables_of
from npulint.assemble.run.compiles import with_differences
from npulint.assemble.run.cores import with_cores
from npulint.assemble.run.covered import with_covered
from npulint.assemble.run.databases import tables_first
from npulint.assemble.run.exports import newest
from npulint.assemble.run.fusion_effect import with_fusion_effects
from npulint.assemble.run.lines import with_places
from npulint.assemble.run.origins import Origins
from npulint.assemble.run.profiles import steps_once, together
from npulint.assemble.run.shares import with_step_shares
from npulint.assemble.run.skews import across_ranks
from npulint.facts.model import Fact, FileFacts
from npulint.read.artifacts.frames import LineFact
from npulint.read.artifacts.logs.ranks import across
from npulint.read.artifacts.overflow import Overflow, ranked, with_operators, without_parsed


def run_program(root: str, files: Iterable[FileFacts], programs: Sequence[Program], context: Context) -> Program:
    """One program for the artifacts of a project, whose other `programs` are known, as is what its code means."""
    paths = sorted(file.path for file in files)
    facts = of_one_run([fact.copy() for file in files for fact in file.facts], paths)
    facts = with_places(facts, context)
    named = {fact.at for fact in facts if isinstance(fact, LineFact) and fact.at}
    near = at_work([one for one in programs if one.fact.framework in ("tensorflow", "torch")], named)
    fact = fact_of(home_of(near))
    fact.run = True
    tables = tables_of(near)
    program = Program(paths[0], root, paths, Index([table(facts), *tables]), fact)
    program.origins = Origins(context, near).of
    program.source_files = frozenset(path for one in near for path in one.paths)
    return program


def of_one_run(facts: list[Fact], paths: Sequence[str]) -> list[Fact]:
    """The facts of all artifacts, with what one says of another."""
    overflows = [one for one in facts if isinstance(one, Overflow)]
    others = [one for one in facts if not isinstance(one, Overflow)]
    others = together(with_covered(with_cores(with_step_shares(steps_once(tables_first(newest(others)))))))
    others = with_fusion_effects(others)
    others += across_ranks(others)
    return [*across(with_differences(others)), *ranked(with_operators(without_parsed(overflows, paths), paths))]
