"""Differences of a port from its reference, each side in many spellings: reported, and not where there is none."""

from __future__ import annotations

from functools import cache

import pytest

from npulint.commands.examples import judge
from npulint.judge.catalogue.check import Catalogue
from npulint.judge.catalogue.load import load_catalogue
from tests.daily import daily, nightly_unless
from tests.seed_rows.pairs import combinations, differences
from tests.seed_rows.sources import Files
from tests.seed_rows.table import lines_of

FEWEST = 8  # spellings of a difference


@cache
def catalogue() -> Catalogue:
    return load_catalogue()


def cases() -> list[object]:
    """Every difference in every pair of styles; two pairs of each difference and one of each style run each time."""
    listed = [(name, styles) for name in differences() for styles in combinations(name)]
    chosen = daily(listed, _named, lambda one: one[0]) | daily(listed, _named, lambda one: one[1], per_group=1)
    return [
        pytest.param(*one, id=_named(one), marks=nightly_unless(_named(one) in chosen, *_open(*one))) for one in listed
    ]


def _named(case: tuple[str, tuple[str, str]]) -> str:
    name, styles = case
    return f"{name} {styles[0]} {styles[1]}"


def _open(name: str, styles: tuple[str, str]) -> list[pytest.MarkDecorator]:
    reasons = differences()[name].open
    reason = next((reasons[style] for style in styles if style in reasons), "")
    return [pytest.mark.xfail(reason=reason, strict=True)] if reason else []


def test_every_difference_has_enough_spellings() -> None:
    assert differences()
    for name in differences():
        assert len(combinations(name)) >= FEWEST, name


@pytest.mark.daily
@pytest.mark.parametrize(("name", "styles"), cases())
def test_a_difference_is_reported_in_every_spelling_and_equal_programs_are_not(
    name: str, styles: tuple[str, str]
) -> None:
    case = differences()[name]
    bad, good = case.rendered(styles, bad=True), case.rendered(styles, bad=False)
    found = spoken(bad, case.checks)
    assert found, "\n\n".join(bad.values())
    marked = lines_of({path: text for path, text in bad.items() if path.startswith("migrated/")})
    assert not marked or marked & found, (marked, found)
    assert spoken(good, case.checks) == set(), "\n\n".join(good.values())


def spoken(files: Files, checks: tuple[str, ...]) -> set[tuple[str, int]]:
    return {(one.path, one.span.line) for one in judge(files, {}, catalogue()) if one.name in checks}
