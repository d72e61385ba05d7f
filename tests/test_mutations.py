"""What a comparison finds in two programs of which one was changed on purpose; it is silent where nothing was."""

from __future__ import annotations

import functools
import itertools
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from npulint.commands.compare.compare_command import compare_folders
from npulint.facts.recipe import ITEM_OF
from npulint.judge.findings import ComparedRow, RunResult
from tests.daily import daily, nightly_unless, parameters
from tests.mutations.rewrites import REWRITES
from tests.mutations.table import Case, Files, Place, changed_places, entry, equalities, mutations, programs, sources
from tests.project_support import Project

pytestmark = pytest.mark.slow


def compared(before: Files, after: Files, folder: Path) -> RunResult:
    """What a comparison of two projects says."""
    for side, files in (("reference", before), ("migrated", after)):
        Project(folder).write({f"{side}/{path}": text.encode() for path, text in files.items()})
    return compare_folders(str(folder / "reference"), str(folder / "migrated"))


def differing(result: RunResult) -> list[tuple[str, ComparedRow]]:
    """The rows that say that something differs, with the program that they are of."""
    assert result.comparison is not None and result.comparison.pairs
    return [
        (pair.migrated, row)
        for pair in result.comparison.pairs
        for item in pair.items
        for row in item.rows
        if row.answer in ("differs", "note")
    ]


def at(row: ComparedRow, left: list[Place], right: list[Place]) -> bool:
    """Whether a row speaks of one of the changed places."""
    sides = ((row.reference, left), (row.migrated, right))
    return any(side and any(p.near(side.path, side.span.line) for p in places) for side, places in sides)


def told(rows: list[tuple[str, ComparedRow]]) -> list[str]:
    """For the message of a failure."""
    return [
        f"{row.answer} {row.part} {row.what}: "
        + " -> ".join(f"{s.text} ({s.path}:{s.span.line})" if s else "-" for s in (row.reference, row.migrated))
        for _, row in rows
    ]


def named(case: Case) -> str:
    return f"{case.program}: {case.name}"


# What a comparison does not tell, and why. A case that is found one day fails here, and is then taken out.
_MISSED = {
    "tf_estimator: how often it is tested": "how often something is tested changes no number of the training",
    "tf_keras: evaluation in the tree": "the same",
    "torch_detection: leaf added": "a leaf that only one side has may say what is the default anyway",
    "torch_transformer: evaluated weights": "which of two variables is given to an own function",
}


def _cases() -> list[object]:
    """All mutations; of each program and item of the checklist, one runs each time."""
    missed = {name: [pytest.mark.xfail(reason=why, strict=True)] for name, why in _MISSED.items()}
    chosen = daily(mutations(), named, lambda case: (case.program, ITEM_OF[case.parts[0]]), per_group=1)
    return [
        pytest.param(case, id=named(case), marks=nightly_unless(named(case) in chosen, *missed.get(named(case), ())))
        for case in mutations()
    ]


def _rewritten() -> list[object]:
    """All programs with all rewrites; two of each program and of each rewrite run each time."""
    listed = list(itertools.product(programs(), REWRITES))
    chosen = daily(listed, "-".join, lambda pair: pair[0], lambda pair: pair[1])
    return [pytest.param(*pair, id="-".join(pair), marks=nightly_unless("-".join(pair) in chosen)) for pair in listed]


def test_few_are_missed() -> None:
    assert len(_MISSED) <= 0.05 * len(mutations())
    assert set(_MISSED) <= {named(case) for case in mutations()}


@pytest.mark.daily
@pytest.mark.parametrize("case", _cases())
def test_what_was_changed_is_found_and_nothing_else(case: Case, tmp_path: Path) -> None:
    before, after = case.sides()
    rows = differing(compared(before, after, tmp_path))
    left, right = changed_places(before, after)
    here = [(program, row) for program, row in rows if at(row, left, right)]
    items = {ITEM_OF[part] for part in case.parts}
    found = {ITEM_OF[row.part] for _, row in here}
    assert found & items, f"{left[0]} is not reported as {', '.join(case.parts)}, but: {told(rows)}"
    assert told([row for row in rows if row not in here]) == []


@pytest.mark.parametrize("case", parameters(equalities(), named, lambda case: case.program))
def test_what_changes_nothing_is_not_reported(case: Case, tmp_path: Path) -> None:
    before, after = case.sides()
    assert told(differing(compared(before, after, tmp_path))) == []


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Counter[str]]:
    """How many findings of each code a program has beside itself; each program is compared once."""

    @functools.cache
    def codes(program: str) -> Counter[str]:
        files = sources(program)
        return Counter(f.code for f in compared(files, files, tmp_path_factory.mktemp("alone")).findings)

    return codes


@pytest.mark.daily
@pytest.mark.parametrize(("program", "name"), _rewritten())
def test_a_rewritten_program_is_the_same(
    program: str, name: str, tmp_path: Path, alone: Callable[[str], Counter[str]]
) -> None:
    files = sources(program)
    result = compared(files, REWRITES[name](files, entry(program)), tmp_path)
    assert told(differing(result)) == []
    assert Counter(f.code for f in result.findings) == alone(program)


@pytest.mark.parametrize("program", programs())
def test_what_the_fixes_of_check_make_of_a_program_is_the_same(program: str, tmp_path: Path) -> None:
    files = sources(program)
    mine = Project(tmp_path / "fixed").write({path: text.encode() for path, text in files.items()})
    assert mine.run("check", "--fix", "--unsafe-fixes", "--no-cache", "--exit-zero", str(mine.folder)).code == 0
    after = {path: (mine.folder / path).read_text(encoding="utf-8") for path in files}
    adapted = ("loss_scale", "mixed_precision")  # what a fix may add to a program that has none
    rows = differing(compared(files, after, tmp_path))
    others = [(where, row) for where, row in rows if ITEM_OF[row.part] not in adapted and row.part != "drop_remainder"]
    assert after != files
    assert told(others) == []
