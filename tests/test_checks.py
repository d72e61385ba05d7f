"""The real catalogue: every check file is complete and its examples hold."""

from __future__ import annotations

import re
from collections import Counter
from functools import partial

import pytest

from npulint.core.errors import CatalogueError
from npulint.judge.catalogue.check import Catalogue, Check
from npulint.judge.catalogue.examples import run_examples
from npulint.judge.catalogue.load import load_catalogue
from npulint.judge.catalogue.page import render_page
from tests.daily import daily
from tests.tables import for_all

_UNFINISHED = re.compile(r"TODO|FIXME|待写")
_CODE = re.compile(r"`[^`]*`")


def _load() -> tuple[Catalogue, str]:
    try:
        return load_catalogue(use_cache=False), ""
    except CatalogueError as error:
        return Catalogue(), str(error)


CATALOGUE, PROBLEMS = _load()
every_check = for_all({check.name: check for check in CATALOGUE.checks})
IN_THE_FAST_RUN = daily(
    CATALOGUE.checks, lambda check: check.name, lambda check: (check.family, check.topic), per_group=1
)
each_check = pytest.mark.parametrize(
    "check",
    [
        pytest.param(check, id=check.name, marks=() if check.name in IN_THE_FAST_RUN else pytest.mark.slow)
        for check in CATALOGUE.checks
    ],
)


def test_the_catalogue_is_valid_and_not_empty() -> None:
    assert PROBLEMS == ""
    assert CATALOGUE.checks


@every_check
def test_a_check_has_two_bad_and_two_good_examples(check: Check) -> None:
    sides = Counter(example.bad for example in check.examples)
    assert sides[True] >= 2
    assert sides[False] >= 2


@every_check
def test_a_check_is_finished_in_both_languages(check: Check) -> None:
    assert set(check.text) == {"en", "zh"}
    assert not any(_UNFINISHED.search(reference.title) for reference in check.references)
    for lang, text in check.text.items():
        assert text.title in render_page(check, lang)
        assert not any(_UNFINISHED.search(part) for part in (text.title, text.message, text.why, text.fix))


@every_check
def test_the_texts_are_set_like_sentences(check: Check) -> None:
    assert check.text["en"].message.endswith((".", "?"))
    assert check.text["zh"].message.endswith(("。", "？"))
    for lang, examples in (("en", "\n## Reported\n"), ("zh", "\n## 会报告\n")):
        assert not re.search(r"\{[a-z_]+\}", render_page(check, lang).partition(examples)[0]), "an open capture"
    for part in (check.text["zh"].message, check.text["zh"].why, check.text["zh"].fix):
        prose = _CODE.sub("", part)
        assert not re.search(r"\([^()]*[\u4e00-\u9fff、][^()]*\)", prose), "parentheses around Chinese are full-width"


@every_check
def test_a_check_says_where_it_knows_it_from(check: Check) -> None:
    assert check.references
    assert any(reference.title and reference.source for reference in check.references)


@every_check
def test_codes_allowed_in_good_examples_exist(check: Check) -> None:
    codes = {other.code for other in CATALOGUE.checks}
    assert {code for example in check.examples for code in example.also} <= codes - {check.code}


@pytest.mark.daily
@each_check
def test_the_examples_hold(check: Check) -> None:
    from npulint.commands.check.fix_command import fixed_example
    from npulint.commands.examples import judge

    mend = partial(fixed_example, catalogue=CATALOGUE.with_opt_in())
    outcomes = run_examples([check], CATALOGUE.checks, partial(judge, catalogue=CATALOGUE.with_opt_in()), mend)
    assert [str(outcome) for outcome in outcomes if not outcome.ok] == []


def test_titles_differ() -> None:
    for lang in ("en", "zh"):
        titles = Counter(check.text[lang].title for check in CATALOGUE.checks)
        assert [title for title, count in titles.items() if count > 1] == []
