"""Which regular expressions a check may use."""

from __future__ import annotations

import pytest

from npulint.judge.catalogue.regexes import regex_problem


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
        "((a+)b)*",
        "(?:a|b)*",
        "(?:a|ab)*c",
        "(?:a*)*",
        "foo.*bar",
        "^foo.*bar.*baz",
        r"^\d+\.\d+\.\d+\.\d+$",
        r"(?i)(^|[ ._])(val|eval|test|dev)",
        "(?i)key *: *true",
        r"\w{1,99}_impl: .*",
        "a(?#note)",
    ],
)
def test_accepted(pattern: str) -> None:
    assert regex_problem(pattern) == ""


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("(a+)+$", "around"),
        ("(a*)*b", "around"),
        ("(?:a+)*b", "around"),
        ("(?:a+){2,}b", "around"),
        ("(?:a+){10}b", "around"),
        ("([a-z]+)*@", "around"),
        (r"(\w+\s?)+:", "around"),
        ("((a)+)+b", "around"),
        ("((a+)b?)*b", "around"),
        ("(?P<x>a+)+b", "around"),
        ("(?i:a+)+b", "around"),
        ("(a?){40}a", "around"),
        ("(a|aa)+$", "around"),
        ("(.*a){12}", "around"),
        ("(a{1,9})+b", "around"),
        (r"(a)\1", "backreferences"),
        (r"(?P<x>a)(?P=x)", "backreferences"),
        ("(?=a)b", "look-around"),
        ("(?!a)b", "look-around"),
        ("(?<=a)b", "look-around"),
        ("(?<!a)b", "look-around"),
        ("(a)?(?(1)b|c)", "not allowed"),
        ("(?x) a", "not allowed"),
        (".*.*.*.*.*x", "too many ways"),
        ("foo.*bar.*baz", "too many ways"),
        ("^.*.*.*x", "too many ways"),
        ("a{0,60}" * 30 + "x", "too many ways"),
        ("(?:a|ab|abb)(?:b|)" * 12 + "x", "too many ways"),
        ("a?" * 40 + "x", "too many ways"),
        ("(?:a|[\u4e00a])(?:a|\u4e00)*b" * 3 + ".*x.*y", "too many ways"),
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
