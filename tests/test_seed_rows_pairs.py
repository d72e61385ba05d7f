"""Differences of a port from its reference, each side in many spellings: reported, and not where there is none."""

from __future__ import annotations

from functools import cache

import pytest

from npulint.catalogue.check import Catalogue
from npulint.catalogue.load import load_catalogue
from npulint.pipeline import judge
from tests.seed_rows.pairs import combinations, differences
from tests.seed_rows.sources import Files
from tests.seed_rows.table import lines_of

FEWEST = 8  # spellings of a difference


@cache
def catalogue() -> Catalogue:
    return load_catalogue()


def cases() -> list[object]:
    found: list[object] = []
    for name, case in differences().items():
        for styles in combinations(name):
            reason = next((case.open[style] for style in styles if style in case.open), "")
            marks = [pytest.mark.xfail(reason=reason, strict=True)] if reason else []
            found.append(pytest.param(name, styles, id=f"{name} {styles[0]} {styles[1]}", marks=marks))
    return found


def test_every_difference_has_enough_spellings() -> None:
    assert differences()
    for name in differences():
        assert len(combinations(name)) >= FEWEST, name


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
