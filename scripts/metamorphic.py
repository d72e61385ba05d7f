"""Applies changes that mean nothing to programs, and lists where npulint reports something else afterwards.

    python -m scripts.metamorphic [FOLDER ...] [--within FOLDER] [--no-own] [--change NAME ...] [--variants N]
        [--seed S] [--differences FILE]

The programs are those of the repository (the table of pitfalls in bad and correct form, and sixty whole projects), each
FOLDER, and each folder within a folder. Of each program and each of the twenty changes, N variants are checked, which
the seed selects. Findings are compared by code, severity, confidence and message, without their lines, and so are the
properties and the readiness items of all training programs. --differences writes every difference with the change of
the text to a file. Exit code 1 if fewer than 99 % of the variants have equal answers."""

from __future__ import annotations

import argparse
import ast
import difflib
import os
import random
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from scripts.metamorphic_changes.judging import Difference, Judge, difference, judge, renamed
from scripts.metamorphic_changes.projects import Project, folder_project, golden, rows
from scripts.metamorphic_changes.source import Files, Program, Variant
from scripts.metamorphic_changes.table import CHANGES

BAR = 0.99
"""The share of variants that must have equal answers."""


class Outcome(NamedTuple):
    """A variant of a project that was checked: the change, where it is, and what was reported otherwise."""

    project: Project
    change: str
    variant: Variant
    difference: Difference


def main(argv: Sequence[str] | None = None) -> int:
    """Check the variants of all programs, as the command line says."""
    parser = argparse.ArgumentParser(prog="scripts.metamorphic", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folders", nargs="*", type=Path, metavar="FOLDER", help="the folder of a further project")
    parser.add_argument("--within", type=Path, action="append", default=[], help="a folder of further projects")
    parser.add_argument("--no-own", action="store_true", help="without the projects of the repository")
    parser.add_argument("--change", action="append", choices=sorted(CHANGES), help="repeatable; all without it")
    parser.add_argument("--variants", type=int, default=1, help="of each program and change")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--differences", type=Path, metavar="FILE", help="write every difference to this file")
    options = parser.parse_args(argv)
    outcomes: list[Outcome] = []
    with open(options.differences or os.devnull, "w", encoding="utf-8") as stream:
        for project in _projects(options):
            for outcome in checked(project, options.change or list(CHANGES), options.variants, options.seed):
                outcomes.append(outcome)
                if outcome.difference:
                    print(described(outcome), file=stream, flush=True)
    print("\n".join(table_lines(outcomes)))
    return int(share_of_equal(outcomes) < BAR)


def _projects(options: argparse.Namespace) -> Iterator[Project]:
    if not options.no_own:
        yield from rows()
        yield from golden()
    within = (path for folder in options.within for path in sorted(folder.iterdir()) if path.is_dir())
    yield from (folder_project(folder) for folder in (*options.folders, *within))


def checked(project: Project, changes: Iterable[str], count: int, seed: int) -> Iterator[Outcome]:
    """The outcomes of variants of a project, `count` of each change that the seed selects. Raises `RuntimeError` if a
    variant is no program any more, or if npulint does not report twice the same for the project itself."""
    program = Program(project.files)
    with judge(project.files, project.target) as folder:
        before = folder.answers()
        for change in changes:
            for variant in selected(program, project.name, change, count, seed):
                changed = variant.changed_files(project.files)
                _parse(changed, f"{project.name}: {change} at {variant.location}")
                after = folder.answers(changed, variant.names, variant.splits)
                compared = [renamed(answers, variant.names) for answers in (before, after)]
                yield Outcome(project, change, variant, difference(*compared))
        _compare_again(folder, before, project)


def selected(program: Program, name: str, change: str, count: int, seed: int) -> list[Variant]:
    """The variants of a change that a seed selects, the same ones each time."""
    variants = list(CHANGES[change](program))
    return random.Random(f"{seed} {name} {change}").sample(variants, min(count, len(variants)))


def _parse(changed: Files, what: str) -> None:
    for path, data in changed.items():
        try:
            if path.endswith(".py"):
                ast.parse(data)
        except SyntaxError as error:
            raise RuntimeError(f"{what}: {path}: {error}\n{data.decode()}") from error


def _compare_again(folder: Judge, before: object, project: Project) -> None:
    if folder.answers() != before:
        raise RuntimeError(f"{project.name}: two runs report different findings for the same files")


def share_of_equal(outcomes: Sequence[Outcome]) -> float:
    """The share of variants that have the answers of the unchanged program; 1 without any variant."""
    return sum(not outcome.difference for outcome in outcomes) / len(outcomes) if outcomes else 1.0


def table_lines(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """The numbers of variants, equal and different answers of each change, and of all."""
    variants = Counter(outcome.change for outcome in outcomes)
    different = Counter(outcome.change for outcome in outcomes if outcome.difference)
    projects = len({outcome.project.name for outcome in outcomes})
    yield f"{'change':<24}{'variants':>10}{'equal':>10}{'different':>10}"
    for change in [change for change in CHANGES if variants[change]]:
        equal = variants[change] - different[change]
        yield f"{change:<24}{variants[change]:>10}{equal:>10}{different[change]:>10}"
    total, failed = variants.total(), different.total()
    share = f"{100 * share_of_equal(outcomes):.2f} % equal"
    yield f"{'all':<24}{total:>10}{total - failed:>10}{failed:>10}  {share}, {projects} projects"


def described(outcome: Outcome) -> str:
    """A difference in full: what is reported before (-) and after (+), and the change of the text."""
    project, variant = outcome.project, outcome.variant
    lines = [f"== {project.name}: {outcome.change} at {variant.location}"]
    lines += [f"- {' | '.join(answer)}" for answer in outcome.difference.lost]
    lines += [f"+ {' | '.join(answer)}" for answer in outcome.difference.gained]
    for path, data in variant.changed_files(project.files).items():
        old, new = (text.decode(errors="replace").splitlines() for text in (project.files.get(path, b""), data))
        lines += [f"    {line}" for line in difflib.unified_diff(old, new, path, path, lineterm="")]
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    sys.exit(main())
