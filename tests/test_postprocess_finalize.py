"""Settling a whole run: order, doubles, thresholds, counts, and what could not be read."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npulint.core.errors import ConfigError
from npulint.core.texts import table
from npulint.facts.model import Comment, FileFacts, Problem, Span
from npulint.judge.catalogue.check import Catalogue
from npulint.judge.findings import Finding, ProgramSummary, Related, RunResult
from npulint.judge.postprocess.engine import of_problems
from npulint.judge.postprocess.finalize import finalize
from npulint.judge.postprocess.identity import identified
from npulint.judge.postprocess.passes import reported, unite
from npulint.judge.postprocess.record import RawResults, RunContext
from npulint.judge.settings import Settings
from npulint.judge.source_lines import FileLines
from tests.surface_support import finding, source


def run(
    *findings: Finding, files: Sequence[FileFacts] = (), problems: Sequence[Problem] = (), **settings: Any
) -> RunResult:
    raw = RawResults(findings, files=files, problems=problems)
    return finalize(raw, context(**settings))


def context(**settings: Any) -> RunContext:
    return RunContext(Settings(**settings), Catalogue(), source)


def test_findings_come_by_path_line_column_and_code() -> None:
    parts = [
        finding(path="b.py", span=Span(1, 1, 1, 2)),
        finding(path="a.py", span=Span(2, 1, 2, 2)),
        finding(path="a.py", span=Span(1, 5, 1, 6)),
        finding(path="a.py", span=Span(1, 1, 1, 2), code="NPU1302"),
        finding(path="a.py", span=Span(1, 1, 1, 2), code="NPU1301"),
    ]
    wanted = list(reversed(parts))
    for order in itertools.permutations(parts):
        assert [(f.path, f.span, f.code) for f in run(*order).findings] == [(f.path, f.span, f.code) for f in wanted]


def test_one_finding_of_a_shared_module_belongs_to_the_first_program() -> None:
    shared = [finding(program="train.py"), finding(program="eval.py"), finding(program="eval.py", message="other")]
    assert [(f.program, f.message) for f in unite(shared)] == [
        ("train.py", "`tf.nn.dropout` is slow on the NPU"),
        ("eval.py", "other"),
    ]


def test_a_merged_finding_has_the_places_of_all_programs() -> None:
    here, there, far = (Related(path, Span(1, 1, 1, 2), "") for path in ("here.py", "there.py", "far.py"))
    shared = [finding(related=(here, there)), finding(related=(there, far)), finding(related=())]
    assert [one.related for one in unite(shared)] == [(here, there, far)]


@pytest.mark.parametrize(
    ("settings", "shown"),
    [
        pytest.param({}, True, id="by default"),
        pytest.param({"min_severity": "warning"}, True, id="at the severity"),
        pytest.param({"min_severity": "error"}, False, id="below the severity"),
        pytest.param({"min_confidence": "medium"}, True, id="at the confidence"),
        pytest.param({"min_confidence": "high"}, False, id="below the confidence"),
    ],
)
def test_thresholds(settings: dict[str, Any], shown: bool) -> None:
    one = finding(severity="warning", confidence="medium")
    assert reported(one, Settings(**settings)) is shown
    result = run(one, **settings)
    assert (len(result.findings), result.summary.hidden) == (int(shown), int(not shown))


@pytest.mark.parametrize(
    ("format_name", "settings", "lowest"),
    [
        pytest.param("text", {}, "warning", id="people are spared notes"),
        pytest.param("json", {}, "note", id="machines get everything"),
        pytest.param("concise", {"fail_on": "note"}, "note", id="what fails the run is shown"),
        pytest.param("json", {"min_severity": "error"}, "error", id="a wish counts everywhere"),
    ],
)
def test_what_a_report_shows(format_name: str, settings: dict[str, Any], lowest: str) -> None:
    assert Settings(**settings).shown_from(format_name) == lowest


def test_a_check_that_is_not_wanted_says_nothing_and_is_not_counted() -> None:
    result = run(finding(), ignore=("native-dropout",), files=[FileFacts("a.py", "python")])
    assert result.findings == [] and result.summary.hidden == 0


def test_selecting_what_does_not_exist_is_an_error_ignoring_it_a_notice() -> None:
    with pytest.raises(ConfigError, match=r"^select: there is no check.*`syntax-eror`; did you mean `syntax-error`\?$"):
        run(select=("syntax-eror",))
    with pytest.raises(ConfigError, match="extend-select"):
        run(extend_select=("qq",))
    result = run(ignore=("syntax-eror", "parse"))
    assert [n.split("`")[3:4] for n in result.notices] == [["syntax-eror"]]
    assert "did you mean `syntax-error`" in result.notices[0]


def test_files_that_were_not_read_are_findings_and_counted() -> None:
    files = [
        FileFacts("old.py", "python", problems=[Problem("old.py", "python2", "print", Span(3, 1, 3, 2))]),
        FileFacts("n.ipynb", "notebook", problems=[Problem("n.ipynb", "syntax-error", "x", Span(2, 1), False)]),
        FileFacts("setup.py", "python"),
        FileFacts("setup.py", "dependency"),
    ]
    result = run(files=files, problems=[Problem("big.py", "too-large", "9 > 8")] * 2)
    assert [(f.path, f.name, f.severity, f.topic) for f in result.findings] == [
        ("big.py", "file-not-read", "warning", "parse"),
        ("n.ipynb", "syntax-error", "warning", "parse"),
        ("old.py", "syntax-error", "warning", "parse"),
    ]
    summary = result.summary
    assert (summary.files, summary.read, summary.skipped, summary.warnings) == (4, 2, 2, 3)
    assert [(p.path, p.fatal) for p in result.unreadable] == [("big.py", True), ("n.ipynb", False), ("old.py", True)]


def test_a_path_that_is_not_there_is_counted_but_is_no_finding() -> None:
    result = run(problems=[Problem("nope.py", "missing")])
    assert result.findings == [] and [p.path for p in result.unreadable] == ["nope.py"]


def test_ignoring_the_finding_of_an_unread_file_does_not_hide_the_file() -> None:
    result = run(problems=[Problem("big.py", "too-large")], ignore=("parse",))
    assert result.findings == [] and result.summary.skipped == 1 and len(result.unreadable) == 1


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_every_reason_has_its_texts(lang: str) -> None:
    reasons = [key.removeprefix("problem.") for key in table("problem")]
    for reason in set(reasons) - {"detail", "why", "why.part"}:
        assert f"short.{reason}" in table("short")
        one = of_problems([Problem("a", reason, "detail")], lang)[0]
        assert "detail" in one.message and one.why and one.fix.text


def test_an_unknown_reason_is_still_told() -> None:
    one = of_problems([Problem("a", "eaten-by-dog")], "en")[0]
    assert "eaten-by-dog" in one.message and one.name == "file-not-read"


def test_python_2_comes_with_a_hint() -> None:
    assert "Port it to Python 3" in of_problems([Problem("a", "python2")], "en")[0].fix.text


def test_suppressions_are_counted_and_useless_ones_reported() -> None:
    comments = [Comment(13, False, "npulint: ignore[NPU1301]"), Comment(1, False, "npulint: ignore[nope]")]
    result = run(finding(), files=[FileFacts("models/train.py", "python", comments=comments)])
    assert [f.name for f in result.findings] == ["invalid-suppression"]
    assert result.summary.suppressed == 1


def test_the_target_says_what_was_given_and_what_was_inferred() -> None:
    programs = [ProgramSummary("a", 1, "torch", "partial"), ProgramSummary("b", 1, "none", "not_started")]
    settled = finalize(RawResults(programs=programs), context(target={"cann": "8.0"}))
    assert settled.target == {"cann": "8.0 (specified)", "framework": "torch (inferred)"}
    given = finalize(RawResults(programs=programs), context(target={"torch": "2.1"}))
    assert given.target == {"torch": "2.1 (specified)"}


def test_a_framework_whose_generation_is_known_is_told_once() -> None:
    programs = [ProgramSummary(f"{name}.py", 1, name, "not_started") for name in ("tensorflow", "tensorflow 1.x")]
    settled = finalize(RawResults(programs=programs), context(lang="zh"))
    assert settled.target["framework"] == "tensorflow 1.x（推断）"
    first = finalize(RawResults(programs=programs[:1]), context())
    assert first.target["framework"] == "tensorflow (inferred)"


def test_standard_input_gives_its_own_lines() -> None:
    lines = FileLines(Settings(stdin=b"a\nb", stdin_filename="x.py").piped())
    assert lines("x.py") == ["a", "b"]
    assert FileLines()("does/not/exist.py") == []
    assert FileLines({"x.py": b"a\r\nb\rc\xff\x00"})("x.py") == ["a", "b", "c\\xff\0"]


def test_only_the_last_files_are_kept() -> None:
    lines = FileLines({f"{i}.py": b"x" for i in range(100)})
    kept = [lines(f"{i}.py") for i in range(100)]
    assert lines("99.py") is kept[99]
    assert lines("0.py") is not kept[0]


def prints(lines: list[str], at: list[int]) -> list[str]:
    findings = [finding(path="a.py", span=Span(line, 1, line, 2)) for line in at]
    return [f.fingerprint for f in identified(findings, lambda path: lines, lambda code, name: "")]


@given(st.lists(st.sampled_from(["x = 1", "", "  y()", "z"]), max_size=8), st.integers(0, 4))
def test_a_fingerprint_survives_inserted_lines_and_new_indentation(above: list[str], indent: int) -> None:
    shift = 2 * len(above)
    moved = [*above, "import tf", *above, " " * indent + "drop(a)", "drop(b)"]
    assert prints(["import tf", "drop(a)", "drop(b)"], [2, 3]) == prints(moved, [2 + shift, 3 + shift])


def test_fingerprints_tell_repeated_lines_apart() -> None:
    marks = prints(["drop(a)", "drop(a)", "drop(b)"], [1, 2, 3])
    assert len(set(marks)) == 3
    assert prints(["drop(a)"], [1]) == marks[:1]


def test_without_source_the_message_identifies() -> None:
    first, second = identified([finding(), finding(message="other")], lambda path: [], lambda code, name: "")
    assert first.fingerprint != second.fingerprint
