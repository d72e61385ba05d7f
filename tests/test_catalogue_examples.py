"""The words for how an example went."""

from __future__ import annotations

import pytest

from npulint.facts.model import Span
from npulint.judge.catalogue.check import Check
from npulint.judge.catalogue.examples import run_examples
from npulint.judge.findings import Finding, Fix
from tests.catalogue_samples import parsed, sample

_EXAMPLE = {
    "bad": "\n  - bad: |\n      a  # expect\n      b\n      c  # expect\n  - good: x",
    "good": "\n  - good: x\n    also: [NPU1102]\n  - bad: 'x # expect'",
}


def check(side: str) -> Check:
    return parsed(sample(examples=_EXAMPLE[side]))


def other(code: str, status: str) -> Check:
    return parsed(sample(code=code, status=status), name=f"other-{code[3:]}")


OTHERS = [other("NPU1102", "stable"), other("NPU1103", "stable"), other("NPU1104", "preview")]


def finding(line: int, code: str = "NPU1101", severity: str = "error", path: str = "train.py") -> Finding:
    return Finding(
        code, "n", "other", "functional", severity, "high", path, Span(line, 1, line, 2), "message", "why", Fix("fix")
    )


def words(side: str, findings: list[Finding]) -> list[str]:
    """What is said of the first example when the judge answers `findings`."""
    subject = check(side)
    outcomes = run_examples([subject], [subject, *OTHERS], lambda files, target: findings)
    first = [outcome for outcome in outcomes if outcome.example == 1]
    assert all(outcome.ok == (outcome.word in ("reported", "validated")) for outcome in first)
    return [str(outcome).removeprefix("NPU1101 a-check example 1 ") for outcome in first]


@pytest.mark.parametrize(
    ("side", "findings", "expected"),
    [
        pytest.param("bad", [finding(1), finding(3)], ["reported"], id="exactly the marked lines"),
        pytest.param("bad", [finding(1), finding(1), finding(3)], ["reported"], id="two findings in one marked line"),
        pytest.param("bad", [finding(1)], ["missing: train.py:3 NPU1101"], id="a marked line without a finding"),
        pytest.param(
            "bad", [finding(1), finding(2), finding(3)], ["noisy: train.py:2 NPU1101"], id="a line that is not marked"
        ),
        pytest.param(
            "bad",
            [finding(1), finding(2)],
            ["missing: train.py:3 NPU1101", "noisy: train.py:2 NPU1101"],
            id="both wrong at once",
        ),
        pytest.param(
            "bad",
            [finding(1, path="b.py"), finding(1), finding(3)],
            ["noisy: b.py:1 NPU1101"],
            id="the right line of another file",
        ),
        pytest.param("bad", [finding(1), finding(3), finding(2, "NPU1103")], ["reported"], id="others may speak"),
        pytest.param("good", [], ["validated"], id="silence"),
        pytest.param("good", [finding(1)], ["noisy: train.py:1 NPU1101"], id="a finding where none belongs"),
        pytest.param("good", [finding(1, "NPU1103")], ["noisy: train.py:1 NPU1103"], id="a stable error of another"),
        pytest.param("good", [finding(1, "NPU1103", "warning")], ["validated"], id="a warning of another"),
        pytest.param("good", [finding(1, "NPU1104")], ["validated"], id="an error of a preview check"),
        pytest.param("good", [finding(1, "NPU1102")], ["validated"], id="an error that 'also' names"),
        pytest.param("good", [finding(1, "NPU0101")], ["validated"], id="a code of no check"),
    ],
)
def test_outcomes(side: str, findings: list[Finding], expected: list[str]) -> None:
    assert words(side, findings) == expected


def test_the_judge_gets_files_without_markers_and_the_target() -> None:
    seen: list[tuple[dict[str, str], dict[str, str]]] = []

    def judge(files: dict[str, str], target: dict[str, str]) -> list[Finding]:
        seen.append((files, target))
        return []

    subject = parsed(sample(examples="\n  - {bad: 'x  # expect', target: {torch: '2.1'}}\n  - good: y"))
    outcomes = run_examples([subject], [subject], judge)
    assert seen == [({"train.py": "x"}, {"torch": "2.1"}), ({"train.py": "y"}, {})]
    assert [(o.code, o.name, o.example, o.word) for o in outcomes] == [
        ("NPU1101", "a-check", 1, "missing"),
        ("NPU1101", "a-check", 2, "validated"),
    ]


FIXED = """
  - bad: |
      a  # expect
      b
    fixed: |
      A
      b
  - bad: 'b  # expect'
  - good: x"""
MENDED = "A\nb\n"


def mended(*answers: tuple[dict[str, str], list[str]]) -> list[str]:
    """What is said of the first example of a check with a fix, when mending gives these answers in their turn."""
    fix = "{applicability: safe, edits: [rename: A]}"
    subject = parsed(sample(examples=FIXED, fix=fix))
    waiting = list(answers)
    asked: list[dict[str, str]] = []

    def mend(files: dict[str, str], target: dict[str, str], code: str) -> tuple[dict[str, str], list[str]]:
        assert code == "NPU1101"
        asked.append(files)
        return waiting.pop(0)

    outcomes = run_examples([subject], [subject], lambda files, target: [finding(1)], mend)
    assert asked[1:] in ([], [{"train.py": MENDED}])
    assert waiting == []
    return [str(outcome).removeprefix("NPU1101 a-check example 1 ") for outcome in outcomes if outcome.example == 1]


def test_a_fix_that_makes_what_stands_there_and_then_rests() -> None:
    assert mended(({"train.py": MENDED}, []), ({}, [])) == ["reported"]


def test_a_fix_that_changes_nothing() -> None:
    (said,) = mended(({}, ["train.py:1 no-call"]))
    assert said.split("\n") == [
        *("unfixed", "  refused: train.py:1 no-call", "  --- train.py as wanted", "  +++ train.py as made"),
        *("  @@ -1,2 +1,2 @@", "  -A", "  +a", "   b"),
    ]


@pytest.mark.parametrize(
    "made",
    [
        pytest.param({"train.py": "A\nB\n"}, id="too much"),
        pytest.param({"train.py": MENDED, "other.py": "x\n"}, id="another file"),
        pytest.param({"train.py": MENDED[:-1]}, id="the last line end"),
    ],
)
def test_a_fix_that_makes_something_else(made: dict[str, str]) -> None:
    (said,) = mended((made, []))
    assert said.startswith("misfixed\n  --- ")


def test_a_fix_that_never_rests() -> None:
    (said,) = mended(({"train.py": MENDED}, []), ({"train.py": "AA\nb\n"}, []))
    assert said.split("\n")[0] == "restless"
    assert "  -A" in said
    assert "  +AA" in said


def test_fixes_are_not_tried_where_the_check_itself_is_wrong() -> None:
    subject = parsed(sample(examples=FIXED, fix="{applicability: safe, edits: [rename: A]}"))
    outcomes = run_examples([subject], [subject], lambda files, target: [], lambda *_: pytest.fail("it was tried"))
    assert outcomes[0].word == "missing"
