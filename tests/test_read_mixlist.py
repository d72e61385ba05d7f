"""Mixed precision lists: entries at their exact place, and everything the adapter will not take."""

from __future__ import annotations

import json

import pytest

from npulint.facts.model import Fact
from npulint.read.mixlist import read_mixlist

VALID = """{
  "black-list": {
    "to-add": ["ReduceSumD", "SoftmaxV2"],
    "to-remove": []
  },
  "white-list": {"to-remove": ["BatchMatMulV2"]}
}
"""


def entries(text: str) -> list[tuple[str, str, str]]:
    facts = [fact for fact in read_mixlist(text, "ops.json") if fact.kind == "mixlist_entry"]
    return [(fact.name, fact.get("list"), fact.get("action")) for fact in facts]


def problems(text: str) -> list[str]:
    return [fact.name for fact in read_mixlist(text, "ops.json") if fact.kind == "mixlist_problem"]


def whole(text: str) -> Fact:
    (fact,) = [fact for fact in read_mixlist(text, "ops.json") if fact.kind == "mixlist_file"]
    return fact


def test_a_valid_list_gives_its_entries_and_no_problem() -> None:
    assert entries(VALID) == [
        ("ReduceSumD", "black-list", "to-add"),
        ("SoftmaxV2", "black-list", "to-add"),
        ("BatchMatMulV2", "white-list", "to-remove"),
    ]
    assert problems(VALID) == []
    assert whole(VALID).name == "ops.json"


def test_the_place_of_an_entry_is_exact() -> None:
    lines = VALID.split("\n")
    for fact in read_mixlist(VALID, "ops.json"):
        if fact.kind == "mixlist_entry":
            assert fact.span.line == fact.span.end_line
            written = lines[fact.span.line - 1][fact.span.column - 1 : fact.span.end_column - 1]
            assert written == json.dumps(fact.name)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ["invalid-json"]),
        ("[]", ["wrong-shape"]),
        ('{"black-list": {"to-add": ["A"]}', ["invalid-json"]),
        ('{"black-list": {"to-add": ["A",]}}', ["invalid-json"]),
        ('{"black-list": {"to-add": ["A" "B"]}}', ["invalid-json"]),
        ("{'black-list': {}}", ["invalid-json"]),
        ('{"black-list": {"to-add": ["A"]} // reason\n}', ["comment-in-json"]),
        ('{"black-list": {"to-add": ["A" /* B */]}}', ["comment-in-json"]),
        ('{"gray-list": {"to-add": ["A"]}}', ["unknown-key"]),
        ('{"gray-list": ["A"]}', ["unknown-key"]),
        ('{"black-list": {"to_add": ["A"]}}', ["unknown-key"]),
        ('{"black-list": ["A"]}', ["wrong-shape"]),
        ('{"black-list": {"to-add": "A"}}', ["wrong-shape"]),
        ('{"black-list": {"to-add": ["A", 3, ["B"]]}}', ["wrong-shape", "wrong-shape"]),
        ('{"black-list": {"to-add": ["A"]}, "white-list": {"to-add": ["A"]}}', ["duplicate"]),
        ('{"black-list": {"to-add": ["A"], "to-remove": ["A"]}}', ["duplicate"]),
        ('{"black-list": {"to-add": ["A"]}, "black-list": {"to-add": ["B"]}}', ["duplicate"]),
        ('{"black-list": {"to-add": ["A"]}, "white-list": {"to-remove": ["A"]}}', []),
        ('{"black-list": {"to-add": ["A", "A"]}}', []),
        ("{}", []),
    ],
    ids=[
        "empty",
        "top level is a list",
        "cut",
        "trailing comma",
        "missing comma",
        "single quotes",
        "line comment",
        "block comment",
        "unknown list",
        "unknown list of a wrong shape",
        "misspelt action",
        "list without action",
        "one name without a list",
        "elements that are no names",
        "in both lists",
        "added and removed",
        "key given twice",
        "moved from white to black",
        "named twice",
        "nothing",
    ],
)
def test_each_mistake_has_its_name(text: str, expected: list[str]) -> None:
    assert sorted(problems(text)) == sorted(expected)


def test_entries_are_read_although_there_are_comments() -> None:
    text = '{\n  "black-list": {  // fp16 overflows\n    "to-add": [\n    "MatMulV2", // "Add",\n    "Mul"\n]}\n}\n'
    assert [name for name, _, _ in entries(text)] == ["MatMulV2", "Mul"]
    (problem,) = [fact for fact in read_mixlist(text, "x") if fact.kind == "mixlist_problem"]
    assert (problem.span.line, problem.span.column) == (2, 20)


def test_a_contradiction_is_placed_at_the_later_entry() -> None:
    text = '{"black-list": {"to-add": ["A"]},\n "white-list": {"to-add": ["A"]}}'
    (problem,) = [fact for fact in read_mixlist(text, "x") if fact.kind == "mixlist_problem"]
    assert problem.span.line == 2
    assert problem.get("detail") == "A: black-list to-add"


@pytest.mark.parametrize(
    "text",
    ['{"a":' * 100_000, "[" * 100_000, '"\\' * 50_000, "/*" * 50_000, '{"black-list":{"to-add":["\\ud800"]}}', "\x00{"],
    ids=["deep object", "deep list", "escapes", "comments", "half a pair", "nul"],
)
def test_hostile_text_is_read_quickly_and_can_be_stored(text: str) -> None:
    import msgspec

    assert msgspec.msgpack.encode(read_mixlist(text, "x"))
