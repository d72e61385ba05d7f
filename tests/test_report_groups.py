"""The text report in groups: one block for each check, a line for each check with notes."""

from __future__ import annotations

from npulint.facts.model import Span
from npulint.judge.findings import Finding, Related, RunResult, Summary
from npulint.judge.priorities import grouped
from npulint.report.view import ReportView, render
from tests.surface_support import finding

_WORDING = "bad ({count:places} in {files:files})"


def _many(count: int) -> list[Finding]:
    return [
        finding(path=f"{number}.py", span=Span(1, 1, 1, 2), places=2, related=(Related(f"{number}.py", Span(2), "x"),))
        for number in range(count)
    ]


def _text(findings: list[Finding], **view: object) -> str:
    return render("text", RunResult(findings, summary=Summary(files=9, read=9)), ReportView(**view))  # type: ignore[arg-type]


def test_findings_of_one_check_form_one_block() -> None:
    text = _text(_many(7))
    assert text.count("warning[native-dropout]") == 1
    assert [f"::: {number}.py:1:1" in text for number in range(1, 7)] == [True] * 4 + [False] * 2
    assert "... and 2 more findings: --verbose\n" in text


def test_verbose_reports_show_each_finding() -> None:
    assert _text(_many(7), verbose=True).count("warning[native-dropout]") == 7


def test_a_group_counts_the_places_of_all_its_findings() -> None:
    (group,) = grouped([finding(message="bad (2 places in 1 file)", wording=_WORDING, path=one) for one in "abc"])
    assert group.message == "bad (3 places in 3 files)"
    (mixed,) = grouped([finding(wording=_WORDING), finding(message="worse", wording="worse")])
    assert mixed.message == mixed.first.message


def test_more_severe_groups_come_first_then_those_with_more_places() -> None:
    few = finding(code="NPU1", name="few", category="functional")
    many = [finding(code="NPU2", name="many", category="functional", path=path) for path in "ab"]
    grave = finding(code="NPU3", name="grave", severity="error")
    assert [group.first.name for group in grouped([few, *many, grave])] == ["grave", "many", "few"]


def test_hidden_notes_have_one_line_for_each_check() -> None:
    notes = [finding(severity="note", path=path, code="NPU9", name="a-note") for path in "ab"]
    text = _text([*notes, finding()], shown_from="warning")
    assert "Not shown (--min-severity note)\n  a-note: 2 places, the first at a:13\n" in text
    assert "Not shown" not in _text([*notes, finding()], shown_from="note")


def test_the_report_ends_with_what_was_found_and_what_to_do_first() -> None:
    closing, first = _text(_many(5)).split("\n\n")[-2:]
    assert closing.splitlines()[1].startswith("Found 5 findings (5 warnings)")
    assert first.startswith("What to do first")
