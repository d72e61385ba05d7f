"""The program that a run is: what all its artifacts say, beside the facts of the code that belongs to it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from npulint.facts.model import Fact, FileFacts
from npulint.model.code.index import Index, table
from npulint.model.values.context import Context
from npulint.recognizers.programs import Program
from npulint.recognizers.related_programs import at_work, fact_of, home_of, tables_of
from npulint.runs.facts.compiles import with_differences
from npulint.runs.facts.cores import with_cores
from npulint.runs.facts.covered import with_covered
from npulint.runs.facts.databases import tables_first
from npulint.runs.facts.exports import newest
from npulint.runs.facts.fusion_effect import with_fusion_effects
from npulint.runs.facts.lines import with_places
from npulint.runs.facts.origins import Origins
from npulint.runs.facts.profiles import steps_once, together
from npulint.runs.facts.shares import with_step_shares
from npulint.runs.facts.skews import across_ranks
from npulint.runs.read.frames import LineFact
from npulint.runs.read.logs.ranks import across
from npulint.runs.read.overflow import Overflow, ranked, with_operators, without_parsed


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
    overflows = [fact for fact in facts if isinstance(fact, Overflow)]
    others = [fact for fact in facts if not isinstance(fact, Overflow)]
    others = together(with_covered(with_cores(with_step_shares(steps_once(tables_first(newest(others)))))))
    others = with_fusion_effects(others)
    others += across_ranks(others)
    return [*across(with_differences(others)), *ranked(with_operators(without_parsed(overflows, paths), paths))]
