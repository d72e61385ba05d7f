"""Conditions on values: yes, no, or unknown, and unknown is never taken for an answer."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npulint.facts.values import NO, NOTHING, YES, PossibleValues, merge, truth
from npulint.judge.evaluate import conditions
from npulint.judge.evaluate.checks import key, within
from npulint.judge.evaluate.fact_index import last_segment, matches

_ONE = PossibleValues((3,), True)
_TWO = PossibleValues((3, 4), True)
_SOME = PossibleValues((3,), False, "x")
_TEXT = PossibleValues(("allow_mix_precision",), True)

# condition -> answers for 3; 3 or 4; 3 or anything; anything; absent
_TABLE: dict[str, tuple[Any, tuple[bool | None, ...]]] = {
    "equal": (3, (True, None, None, None, False)),
    "equal to another": (5, (False, False, None, None, False)),
    "equal to a text": ("3", (False, False, None, None, False)),
    "present": ("present", (True, True, True, True, False)),
    "absent": ("absent", (False, False, False, False, True)),
    "known": ("known", (True, True, False, False, False)),
    "unknown": ("unknown", (False, False, True, True, False)),
    "not": ({"not": 3}, (False, None, None, None, True)),
    "not another": ({"not": 5}, (True, True, None, None, True)),
    "not absent": ({"not": "absent"}, (True, True, True, True, False)),
    "one of": ({"one_of": [3, 5]}, (True, None, None, None, False)),
    "one of all": ({"one_of": [3, 4]}, (True, True, None, None, False)),
    "one of none": ({"one_of": []}, (False, False, False, False, False)),
    "one of or absent": ({"one_of": [3, "absent"]}, (True, None, None, None, True)),
    "less": ({"lt": 4}, (True, None, None, None, False)),
    "at most": ({"le": 4}, (True, True, None, None, False)),
    "greater": ({"gt": 3}, (False, None, None, None, False)),
    "at least": ({"ge": 3}, (True, True, None, None, False)),
    "between": ({"ge": 3, "lt": 4}, (True, None, None, None, False)),
    "beyond": ({"gt": 9}, (False, False, None, None, False)),
    "maybe": ({"maybe": 3}, (True, True, True, True, False)),
    "maybe another": ({"maybe": 5}, (False, False, True, True, False)),
    "all": ({"all": [{"ge": 3}, {"le": 4}]}, (True, True, None, None, False)),
    "contains on a number": ({"contains": "3"}, (False, False, None, None, False)),
    "matches on a number": ({"matches": "3"}, (False, False, None, None, False)),
}


@pytest.mark.parametrize(("condition", "answers"), _TABLE.values(), ids=_TABLE.keys())
def test_condition(condition: Any, answers: tuple[bool | None, ...]) -> None:
    assert tuple(conditions.tester(condition)(value) for value in (_ONE, _TWO, _SOME, NOTHING, None)) == answers


# condition, value -> answer
_PLAIN: dict[str, tuple[Any, Any, bool | None]] = {
    "a text": ("yes", "yes", True),
    "another text": ("yes", "no", False),
    "a text that says unknown is not known": ("known", "unknown", False),
    "a text that says unknown": ("unknown", "unknown", True),
    "a text is known": ("known", "yes", True),
    "a text is not unknown": ("unknown", "yes", False),
    "contains": ({"contains": "mix"}, _TEXT, True),
    "contains not": ({"contains": "fp16"}, _TEXT, False),
    "matches": ({"matches": "^allow_.*_precision$"}, _TEXT, True),
    "matches a part": ({"matches": "mix"}, _TEXT, True),
    "matches not": ({"matches": "^mix"}, _TEXT, False),
    "true is not one": (1, YES, False),
    "one is not true": (True, _ONE, False),
    "true": (True, YES, True),
    "false is not zero": (0, NO, False),
    "numbers of either kind are equal": (3, PossibleValues((3.0,), True), True),
    "a truth value has no order": ({"lt": 3}, YES, False),
    "a text has no order": ({"lt": 3}, _TEXT, False),
    "a bound in scientific notation": ({"lt": "1e-3"}, PossibleValues((0.0001,), True), True),
    "a plain number": ({"gt": 1}, 2, True),
}


@pytest.mark.parametrize(("condition", "value", "answer"), _PLAIN.values(), ids=_PLAIN.keys())
def test_condition_on_one_value(condition: Any, value: Any, answer: bool | None) -> None:
    assert conditions.tester(condition)(value) is answer


_CONDITIONS = st.recursive(
    st.sampled_from([0, 1, True, "a", "present", "absent", {"lt": 2}, {"ge": 1}, {"contains": "a"}]),
    lambda inner: st.one_of(
        inner.map(lambda c: {"not": c}),
        st.lists(inner, min_size=1, max_size=3).map(lambda c: {"one_of": c}),
        st.lists(inner, min_size=1, max_size=3).map(lambda c: {"all": c}),
    ),
    max_leaves=5,
)
_SCALARS = st.sampled_from([None, 0, 1, 2, 1.5, True, False, "a", "ab", ""])


@given(_CONDITIONS, st.lists(_SCALARS, min_size=1, max_size=3))
def test_a_sure_answer_holds_for_every_value(condition: Any, scalars: list[Any]) -> None:
    answer = conditions.tester(condition)(PossibleValues(tuple(scalars), True))
    singles = {conditions.tester(condition)(PossibleValues((s,), True)) for s in scalars}
    assert answer is None or singles == {answer}


@given(_CONDITIONS, st.lists(_SCALARS, min_size=0, max_size=3), st.lists(_SCALARS, min_size=1, max_size=3))
def test_knowing_more_never_turns_an_answer_round(condition: Any, seen: list[Any], others: list[Any]) -> None:
    before = conditions.tester(condition)(PossibleValues(tuple(seen), False))
    after = conditions.tester(condition)(PossibleValues(tuple(seen + others), True))
    assert before is None or after is before


# pattern -> names that fit, names that do not
_PATTERNS = {
    "tensorflow.Session": (
        ["tensorflow.Session"],
        ["tensorflow.Session.run", "xtensorflow.Session", "tensorflowXSession"],
    ),
    "tensorflow.*": (["tensorflow.Session"], ["tensorflow", "tensorflow.nn.relu"]),
    "tensorflow.**": (["tensorflow", "tensorflow.Session", "tensorflow.nn.relu"], ["tensorflowx.a"]),
    "**.run": (["run", "a.run", "a.b().run"], ["a.rerun", "a.run.b"]),
    "a.**.b": (["a.b", "a.x.b", "a.x.y.b"], ["ab", "a.xb", "b"]),
    "tensorflow.*.dropout": (["tensorflow.nn.dropout"], ["tensorflow.dropout", "tensorflow.a.b.dropout"]),
    "tensorflow.reduce_*": (["tensorflow.reduce_sum"], ["tensorflow.reduce.sum", "tensorflow.xreduce_sum"]),
    "**Optimizer": (["tensorflow.train.AdamOptimizer", "Optimizer"], ["tensorflow.Optimizers"]),
    "**": (["", "a", "a.b"], []),
    "*": (["a"], ["a.b"]),
    "f().g[]": (["f().g[]"], ["f.g"]),
}


@pytest.mark.parametrize(("pattern", "names"), _PATTERNS.items(), ids=_PATTERNS.keys())
def test_name_pattern(pattern: str, names: tuple[list[str], list[str]]) -> None:
    fitting, others = names
    assert [n for n in fitting if not matches(pattern, n)] == []
    assert [n for n in others if matches(pattern, n)] == []


@pytest.mark.parametrize(
    ("pattern", "last"), [("a.b", "b"), ("b", "b"), ("a.*", ""), ("a.**", ""), ("a.b*", ""), ("**.b", "b")]
)
def test_last_segment_of_a_pattern(pattern: str, last: str) -> None:
    assert last_segment(pattern) == last


# range -> versions inside, versions outside
_RANGES = {
    ">=1.15,<2": (["1.15", "1.15.5", "1.16", "1"], ["1.14", "2.0", "2", "2.6.5"]),
    "==1.15": (["1.15", "1.15.5", "1"], ["1.14", "2"]),
    "!=1.15": (["1.14", "1.15.1"], ["1.15", "1.15.0"]),
    ">1.15": (["1.15.1", "2"], ["1.15", "1.14"]),
    "<=7.0.RC1": (["6.3", "7.0.RC1", "7.0.RC1.alpha003"], ["7.0", "7.0.RC2", "8.0"]),
    ">=7.0": (["7.0", "7.0.0", "7.1", "8.0.RC1"], ["7.0.RC1", "7.0.RC1.alpha003", "6.3"]),
    ">=r1.9": (["r1.9.0", "1.10", "v1.9"], ["r1.8.0"]),
    "1.15": (["1.15", "1.15.2"], ["1.14"]),
    "": (["1", "anything"], []),
    ">= 2 , < 3": (["2.6", "2"], ["3.0", "1.15"]),
}


@pytest.mark.parametrize(("wanted", "versions"), _RANGES.items(), ids=_RANGES.keys())
def test_version_range(wanted: str, versions: tuple[list[str], list[str]]) -> None:
    inside, outside = versions
    assert [v for v in inside if not within(v, wanted)] == []
    assert [v for v in outside if within(v, wanted)] == []


def test_pre_releases_come_before_their_release() -> None:
    ordered = ["6.3", "7.0.RC1.alpha001", "7.0.RC1.alpha003", "7.0.RC1.beta1", "7.0.RC1", "7.0.RC2", "7.0.1"]
    assert sorted({*ordered}, key=lambda v: (key(v) + (0,) * 8)[:8]) == ordered


@pytest.mark.parametrize("wanted", [">= 1 2", "1.15 or later"])
def test_what_is_no_range_is_refused(wanted: str) -> None:
    with pytest.raises(ValueError, match="not a version range"):
        within("1.15", wanted)


def test_values_are_merged_without_repetition() -> None:
    merged = merge([PossibleValues((1, "a"), True), PossibleValues((1, True), True), PossibleValues((), False, "x")])
    assert merged == PossibleValues((1, "a", True), False, "x")


def test_very_many_values_are_not_exact() -> None:
    merged = merge([PossibleValues((i,), True) for i in range(40)])
    assert (merged.exact, len(merged.values) <= 16) == (False, True)


@pytest.mark.parametrize(
    ("known", "answer"),
    [
        (YES, True),
        (NO, False),
        (NOTHING, None),
        (PossibleValues((), True), None),
        (PossibleValues((0, ""), True), False),
        (PossibleValues((0, 1), True), None),
        (_SOME, None),
    ],
)
def test_truth_of_a_value(known: PossibleValues, answer: bool | None) -> None:
    assert truth(known) is answer
