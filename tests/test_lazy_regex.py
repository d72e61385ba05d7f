"""Patterns that are compiled at their first use."""

from __future__ import annotations

import re

import pytest

from npulint.core.lazy_regex import lazy_compile


@pytest.mark.parametrize("method", ["match", "search", "fullmatch"], ids=lambda name: f"{name} answers as compiled")
def test_answers_as_compiled(method: str) -> None:
    for text in ("ab1", "1ab", "", "AB"):
        late, early = lazy_compile(r"[a-z]+\d", re.IGNORECASE), re.compile(r"[a-z]+\d", re.IGNORECASE)
        first, again = getattr(late, method)(text), getattr(late, method)(text)
        wanted = getattr(early, method)(text)
        assert [one and one.span() for one in (first, again)] == [wanted and wanted.span()] * 2


def test_other_methods_work_first_too() -> None:
    assert lazy_compile(r"\d").sub("-", "a1b2") == "a-b-"
    assert lazy_compile(rb"\d").findall(b"a1b2") == [b"1", b"2"]
    assert lazy_compile(r",").split("a,b") == ["a", "b"]


def test_a_mistake_shows_at_the_first_use() -> None:
    broken = lazy_compile("(")
    with pytest.raises(re.error):
        broken.match("")


def test_has_no_other_attributes() -> None:
    assert not hasattr(lazy_compile("a"), "__wrapped__")
