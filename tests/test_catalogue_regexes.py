"""Which regular expressions a check may use."""

from __future__ import annotations

import pytest

from npulint.catalogue.regexes import regex_problem


@pytest.mark.parametrize(
    "pattern",
    [
        "fp16",
        "^(?:fp16|bf16)$",
        r"\bgpu:\d+",
        "(?i)cuda",
        "(?i:cuda) device",
        "[a-z]+_[0-9]*",
        "(?P<key>[^=]+)=.*",
        "a{3}b{2,5}c{2,}",
        "(ab)+",
        "(?:[ab]c)*",
        "(?:a+b)?",
        "x??y*?",
        r"[)(*+]+\)\(",
        r"[]a]+[^]b]*",
        "a{b}{",
        r"\[\d+\]",
    ],
)
def test_accepted(pattern: str) -> None:
    assert regex_problem(pattern) == ""


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("(a+)+$", "around"),
        ("(a*)*", "around"),
        ("(?:a+)*b", "around"),
        ("(?:a+){2,}", "around"),
        ("(?:a+){10}", "around"),
        ("([a-z]+)*@", "around"),
        (r"(\w+\s?)+:", "around"),
        ("((a)+)+", "around"),
        ("((a+)b)*", "around"),
        ("(?P<x>a+)+", "around"),
        ("(?i:a+)+", "around"),
        ("(a?){40}a", "around"),
        ("(a|aa)+$", "around"),
        ("(?:a|b)*", "around"),
        ("(.*a){12}", "around"),
        ("(a{1,9})+", "around"),
        (r"(a)\1", "backreferences"),
        (r"(?P<x>a)(?P=x)", "backreferences"),
        ("(?=a)b", "look-around"),
        ("(?!a)b", "look-around"),
        ("(?<=a)b", "look-around"),
        ("(?<!a)b", "look-around"),
        ("(a)?(?(1)b|c)", "not allowed"),
        ("(?x) a", "not allowed"),
        ("(?#note)a", "not allowed"),
        (".*.*.*.*.*x", "more than 4 open repetitions"),
        ("(", "not a regular expression"),
        ("a**", "not a regular expression"),
        ("[b-a]", "not a regular expression"),
        ("a{99999999999999999999}", "not a regular expression"),
        ("x" * 301, "longer than 300"),
    ],
)
def test_refused(pattern: str, reason: str) -> None:
    assert reason in regex_problem(pattern)


def test_possessive_and_atomic_forms_are_refused_on_every_version() -> None:
    assert regex_problem("a++b")
    assert regex_problem("(?>a)b")
