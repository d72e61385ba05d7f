"""Pitfalls of field reports in many spellings: the bad program is reported at its line, its correct twin is not, and
the fix removes the finding."""

from __future__ import annotations

import ast
from functools import cache

import pytest

from npulint.commands.check.fix_command import fix_texts
from npulint.commands.examples import judge
from npulint.judge.catalogue.check import Catalogue
from npulint.judge.catalogue.load import load_catalogue
from npulint.judge.findings import Finding
from npulint.read.notebook import read_notebook
from tests.daily import daily, nightly_unless
from tests.seed_rows.sources import DoesNotApplyError, Files
from tests.seed_rows.table import NOT_FIXED, STYLES, Case, lines_of, spellings, table

FEWEST = 8  # spellings of a row


@cache
def catalogue() -> Catalogue:
    return load_catalogue()


def spoken(case: Case, files: Files) -> list[Finding]:
    return [one for one in judge(files, case.target, catalogue()) if one.name in case.checks]


def rows() -> list[object]:
    """Every case in every style; two styles of each case and two cases of each style run each time."""
    chosen = daily(spellings(), _named, lambda one: one[0], lambda one: one[1])
    return [
        pytest.param(*one, id=_named(one), marks=nightly_unless(_named(one) in chosen, *_open(*one)))
        for one in spellings()
    ]


def _named(spelling: tuple[str, str]) -> str:
    return " ".join(spelling)


def _open(name: str, style: str) -> list[pytest.MarkDecorator]:
    reasons = table()[name].open
    return [pytest.mark.xfail(reason=reasons[style], strict=True)] if style in reasons else []


def test_every_case_has_enough_spellings() -> None:
    assert table()
    for name, case in table().items():
        assert case.excused("as_it_is") == ""
        assert sum(1 for style in STYLES if not case.excused(style)) >= FEWEST, name
        assert {*case.open} <= {*STYLES}, name


@pytest.mark.daily
@pytest.mark.parametrize(("name", "style"), rows())
def test_a_pitfall_is_reported_in_every_spelling_and_its_twin_is_not(name: str, style: str) -> None:
    case = table()[name]
    try:
        bad, good = case.rendered(style, bad=True), case.rendered(style, bad=False)
    except DoesNotApplyError as reason:
        pytest.fail(f"the style does not apply, so the entry has to name it: {reason}")
    for files in (bad, good):
        parses(files)
    marked = {f"{path}:{line}" for path, line in lines_of(bad)} | {*case.places}
    found = spoken(case, bad)
    assert marked & {f"{one.path}:{one.span.line}" for one in found}, "\n\n".join(bad.values())
    assert [str(one) for one in spoken(case, good)] == [], "\n\n".join(good.values())
    if any(one.fix.applicability != "manual" for one in found):
        if style == NOT_FIXED or style in case.by_hand:
            assert fixed(case, bad) == bad
        else:
            holds_after_the_fix(case, bad)


def parses(files: Files) -> None:
    """Every program is valid."""
    for path, text in files.items():
        if path.endswith(".py"):
            ast.parse(text)
        if path.endswith(".ipynb"):
            notebook = read_notebook(text, path)
            assert notebook.problems == []
            ast.parse(notebook.text)


def holds_after_the_fix(case: Case, files: Files) -> None:
    """The fixed program is valid, the finding is gone, and nothing is left to change."""
    made = fixed(case, files)
    assert made != files, "the fix changes nothing"
    parses(made)
    assert [str(one) for one in spoken(case, made) if one.fix.applicability != "manual"] == [], "\n\n".join(
        made.values()
    )
    assert fixed(case, made) == made


def fixed(case: Case, files: Files) -> Files:
    codes = [check.code for check in catalogue().checks if check.name in case.checks]
    result = fix_texts(files, case.target, catalogue(), codes)
    return {**files, **{one.path: one.after.decode() for one in result.files}}
