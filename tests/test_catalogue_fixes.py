"""How a check file says what mends its findings, and every mistake in it at its place."""

from __future__ import annotations

import pytest

from npulint.judge.catalogue.check import FixRule, Query, SafeReason, StepRule
from tests.catalogue_samples import parsed, problems, sample

EXAMPLES = """
  - bad: 'x = 1 # expect'
    fixed: |
      x = 2
  - good: x = 2
"""


def fix(text: str) -> str:
    """A check file with a fix."""
    return sample(fix=text, examples=EXAMPLES)


def test_rules_with_steps() -> None:
    check = parsed(
        fix(
            "\n  - when: {call: tf.Variable, args: {name: absent}}\n"
            "    applicability: safe\n"
            "    edits: [{rename: tf.get_variable}, {argument: {name: name, position: 2, missing: '\"w\"'}}]\n"
            "  - applicability: unsafe\n"
            "    edits:\n"
            "      - insert: {text: import os, where: imports, at: entry}\n"
            "      - delete: {what: statement, at: {call: tf.Session}}"
        )
    )
    assert check.fixes == (
        FixRule(
            "safe",
            (
                StepRule("rename", {"to": "tf.get_variable"}),
                StepRule("argument", {"name": "name", "position": "2", "missing": '"w"'}),
            ),
            Query(kind="call", names=("tf.Variable",), args={"name": "absent"}, active=False),
        ),
        FixRule(
            "unsafe",
            (
                StepRule("insert", {"text": "import os", "where": "imports"}, entry=True),
                StepRule("delete", {"what": "statement"}, Query(kind="call", names=("tf.Session",))),
            ),
        ),
    )
    assert check.applicability == "safe"


def test_a_single_rule_needs_no_list() -> None:
    check = parsed(fix("{applicability: unsafe, edits: [{delete: statement}]}"))
    assert check.fixes == (FixRule("unsafe", (StepRule("delete", {"what": "statement"}),)),)
    assert check.applicability == "unsafe"


def test_without_a_rule_a_person_has_to_do_it() -> None:
    assert parsed(sample()).applicability == "manual"


def test_a_question_of_a_condition_may_mean_the_whole_program() -> None:
    check = parsed(fix("{when: {call: a.b, anywhere: true}, applicability: safe, edits: [{delete: statement}]}"))
    assert check.fixes[0].when == Query(kind="call", names=("a.b",), active=False, anywhere=True)


@pytest.mark.parametrize("text", ["$old + 1", "f($receiver, $arguments)", "$arg(rate|1)", "$arg(0)", "$module(a.b)"])
def test_placeholders_that_are_known(text: str) -> None:
    check = parsed(fix(f"{{applicability: safe, edits: [{{wrap: '{text}'}}]}}"))
    assert check.fixes[0].steps == (StepRule("wrap", {"with": text}),)


STEP = "{applicability: safe, edits: [%s]}"
MISTAKES = {
    "no applicability": ("{edits: [{delete: statement}]}", "{edits", "fix: the key 'applicability' is missing"),
    "an unknown applicability": (
        "{applicability: magic, edits: [{delete: statement}]}",
        "magic",
        "not one of safe, unsafe",
    ),
    "no edits": ("{applicability: safe}", "{applicability", "fix: the key 'edits' is missing"),
    "empty edits": ("{applicability: safe, edits: []}", "[]", "fix.edits must be a non-empty list"),
    "an unknown verb": (STEP % "{renam: x}", "renam", "unknown verb 'renam' (did you mean 'rename'?)"),
    "two verbs": (STEP % "{rename: x, wrap: y}", "{rename", "must have one verb of"),
    "a word that is missing": (STEP % "{insert: {text: x}}", "{text", "the key 'where' is missing"),
    "a word too few for a plain text": (STEP % "{insert: x}", "x", "must be a mapping with text, where"),
    "a word of another verb": (STEP % "{rename: {to: x, whom: y}}", "whom", "unknown key 'whom'"),
    "a choice that there is not": (STEP % "{delete: everything}", "everything", "'everything' is not one of"),
    "an unknown placeholder": (STEP % "{wrap: $odl}", "$odl", "'$odl' is not a placeholder (did you mean 'old'?)"),
    "a bare dollar": (STEP % "{wrap: 5$}", "5$", "'$' is not a placeholder"),
    "a place that there is not": (STEP % "{insert: {text: x, where: after, at: end}}", "end", "'end' is not one of"),
    "a question about nothing": (
        "{when: {coll: x}, applicability: safe, edits: [{delete: statement}]}",
        "coll",
        "unknown kind of fact 'coll'",
    ),
    "the whole program as a word": (
        "{when: {call: x, anywhere: all}, applicability: safe, edits: [{delete: statement}]}",
        "all",
        "anywhere must be true or false",
    ),
}


SAFE = "{applicability: safe, edits: [{delete: statement}]}"
REASONS: dict[str, tuple[dict[str, str | None], str]] = {
    "no reason": ({"safe": None}, "a fix is labelled safe, but the key 'safe' does not say why"),
    "a reason for nothing": (
        {"fix": "{applicability: unsafe, edits: [{delete: statement}]}", "safe": "{en: So., zh: 如此。}"},
        "no fix is labelled safe",
    ),
    "one language": ({"safe": "{en: So.}"}, "safe: the key 'zh' is missing"),
    "an unknown condition": (
        {"safe": "{en: So., zh: 如此。, only: [gpu]}"},
        "safe.only: 'gpu' is not one of npu, uncaught (did you mean 'npu'?)",
    ),
}


@pytest.mark.parametrize("name", REASONS)
def test_a_safe_fix_says_why_it_is_safe(name: str) -> None:
    keys, message = REASONS[name]
    given: dict[str, str | None] = {"fix": SAFE, "examples": EXAMPLES}
    found = problems(sample(**{**given, **keys}))
    assert [one.message for one in found] == [message]


def test_the_conditions_under_which_a_fix_is_safe() -> None:
    check = parsed(sample(fix=SAFE, examples=EXAMPLES, safe="{en: So., zh: 如此。, only: [npu, uncaught]}"))
    assert check.safe == SafeReason({"en": "So.", "zh": "如此。"}, ("npu", "uncaught"))


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes(name: str) -> None:
    text, at, message = MISTAKES[name]
    source = fix(text)
    place = next((p for p in problems(source) if message in p.message), None)
    assert place is not None, problems(source)
    assert source.split("\n")[place.line - 1][place.column - 1 :].startswith(at)


EXAMPLE_MISTAKES = {
    "a fix that no example shows": (
        "\n  - bad: 'x # expect'\n  - good: y",
        "there is a fix but no example with 'fixed'",
    ),
    "a good example that is fixed": (
        "\n  - bad: 'x # expect'\n    fixed: y\n  - {good: y, fixed: z}",
        "a good example must not have 'fixed'",
    ),
    "one text for several files": (
        "\n  - bad: {files: {a.py: 'x # expect', b.py: y}}\n    fixed: y\n  - good: y",
        "'fixed' must name its files",
    ),
}


@pytest.mark.parametrize("name", EXAMPLE_MISTAKES)
def test_mistakes_of_examples(name: str) -> None:
    text, message = EXAMPLE_MISTAKES[name]
    source = sample(fix="{applicability: safe, edits: [{delete: statement}]}", examples=text)
    assert any(message in p.message for p in problems(source)), problems(source)


def test_fixed_files_by_name() -> None:
    text = "\n  - bad: {files: {a.py: 'x # expect', b.py: y}}\n    fixed: {files: {a.py: z, c.json: '{}'}}\n  - good: y"
    check = parsed(sample(fix="{applicability: safe, edits: [{delete: statement}]}", examples=text))
    assert check.examples[0].fixed == {"a.py": "z", "c.json": "{}"}


REASON = "{when: {call: tf.Variable}, at: {call: tf.Session}, because: {en: not there, zh: 此处不适用}}"


def test_a_rule_may_say_why_it_edits_nothing() -> None:
    check = parsed(sample(fix=REASON))
    (rule,) = check.fixes
    assert rule.because == {"en": "not there", "zh": "此处不适用"}
    assert (rule.steps, rule.at) == ((), Query(kind="call", names=("tf.Session",)))
    assert check.applicability == "manual"


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("not there", "'not {number}'", "nothing fills {number}"),
        (", zh: 此处不适用", "", "the key 'zh' is missing"),
        ("when: {call: tf.Variable}, ", "", "the key 'when' is missing"),
        ("at: {call", "edits: {call", "unknown key 'edits'"),
    ],
)
def test_mistakes_in_reasons(old: str, new: str, problem: str) -> None:
    assert any(problem in one.message for one in problems(sample(fix=REASON.replace(old, new))))
