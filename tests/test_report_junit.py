"""JUnit reports: valid for Jenkins, read by a library, and red exactly where the run fails."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from junitparser import Error, Failure, JUnitXml, Skipped

from npulint.facts.model import Problem, Span
from npulint.judge.findings import Related, RunResult, Summary, SuppressedFinding
from npulint.report.view import ReportView, render
from tests.hostile_results import results
from tests.project_support import Project
from tests.surface_support import finding, sample, source

_ATTRIBUTES = {
    "testsuites": {"name", "time", "tests", "failures", "errors"},
    "testsuite": set(
        "name tests failures errors group time skipped timestamp hostname id package file log url".split()
    ),
    "properties": set(),
    "property": {"name", "value"},
    "testcase": {"name", "time", "classname", "group"},
    "failure": {"type", "message"},
    "error": {"type", "message"},
    "skipped": {"type", "message"},
    "system-out": set(),
}
_REQUIRED = {
    "testsuite": {"name", "tests", "failures", "errors"},
    "property": {"name", "value"},
    "testcase": {"name"},
}
_CHILDREN = {
    "testsuites": ["testsuite"],
    "testsuite": ["properties", "testcase"],
    "properties": ["property"],
    "testcase": ["skipped", "error", "failure", "system-out"],
}


def refused_by_jenkins(node: ElementTree.Element) -> list[str]:
    """What the schemas of Jenkins' xUnit plugin do not allow, below `node`."""
    found = [f"{node.tag}/@{key}" for key in node.attrib if key not in _ATTRIBUTES.get(node.tag, set())]
    found += [f"{node.tag} lacks {key}" for key in _REQUIRED.get(node.tag, set()) - set(node.attrib)]
    order = _CHILDREN.get(node.tag, [])
    found += [f"{node.tag}/{child.tag}" for child in node if child.tag not in order]
    places = [order.index(child.tag) for child in node if child.tag in order]
    if places != sorted(places):
        found.append(f"order in {node.tag}")
    if order and (node.text or "").strip():
        found.append(f"text in {node.tag}")
    return found + [text for child in node for text in refused_by_jenkins(child)]


def suites(result: RunResult, **view: Any) -> JUnitXml:
    """The report as a library reads it, after Jenkins' schema and the totals were looked at."""
    text = render("junit", result, ReportView(**view))
    root = ElementTree.fromstring(text.encode())
    assert refused_by_jenkins(root) == []
    told = JUnitXml.fromstring(text.encode())
    for suite in told:
        kinds = Counter(type(one) for case in suite for one in case.result)
        assert (suite.tests, suite.failures, suite.errors, suite.skipped) == (
            len(list(suite)),
            kinds[Failure],
            kinds[Error],
            kinds[Skipped],
        )
        names = [case.name for case in suite]
        assert len(set(names)) == len(names)
    assert told.tests == sum(suite.tests for suite in told)
    assert told.failures == sum(suite.failures for suite in told)
    assert told.errors == sum(suite.errors for suite in told)
    return told


def outcomes(result: RunResult, **view: Any) -> list[tuple[str, str, str]]:
    """(suite, case, outcome) of everything but the run itself."""
    run, *files = suites(result, **view)
    assert (run.name, [(case.name, case.result) for case in run]) == ("npulint", [("check", [])])
    return [
        (suite.name, case.name, type(case.result[0]).__name__ if case.result else "passed")
        for suite in files
        for case in suite
    ]


@pytest.mark.slow
@given(results)
@settings(max_examples=100, deadline=None)
def test_junit_is_valid_whatever_the_texts(result: RunResult) -> None:
    told = outcomes(result)
    fatal = {problem.path for problem in result.unreadable if problem.fatal}
    parsed = {one.path for one in result.findings if one.topic == "parse"}
    assert len(told) == len(result.findings) + len(fatal - parsed) + len(result.suppressed)
    assert render("junit", result, ReportView()) == render("junit", result, ReportView())


def test_a_clean_run_has_a_case_that_passes() -> None:
    (run,) = suites(RunResult(summary=Summary(files=3, read=3)))
    assert [(case.name, case.classname, case.is_passed) for case in run] == [("check", "npulint", True)]


@pytest.mark.parametrize(
    ("fail_on", "kinds"),
    [
        ("error", ["Failure", "passed", "passed"]),
        ("warning", ["Failure", "Failure", "passed"]),
        ("note", ["Failure"] * 3),
        ("never", ["passed"] * 3),
    ],
)
def test_a_case_fails_where_the_run_fails(fail_on: str, kinds: list[str]) -> None:
    findings = [
        finding(code=code, name=code, severity=word)
        for code, word in zip("ABC", ("error", "warning", "note"), strict=True)
    ]
    assert [kind for *_, kind in outcomes(RunResult(findings), fail_on=fail_on)] == kinds


def test_a_failure_tells_the_whole_story() -> None:
    one = finding(severity="error", related=(Related("b.py", Span(2, 3, 2, 4), "there"),), url="https://example.org/x")
    _, suite = suites(RunResult([one]))
    (case,) = suite
    (failure,) = case.result
    assert (suite.name, case.classname, case.name) == ("models/train.py", "models.train_py", "native-dropout")
    assert (failure.type, failure.message) == ("native-dropout", "`tf.nn.dropout` is slow on the NPU")
    assert failure.text.split("\n") == [
        "models/train.py:13:17: error: `tf.nn.dropout` is slow on the NPU [native-dropout] (NPU1301)",
        "why: The native operator runs on the host.",
        "fix: Use npu_ops.dropout.",
        "b.py:2:3: there",
        "https://example.org/x",
    ]


def test_a_note_tells_its_story_and_passes() -> None:
    _, suite = suites(RunResult([finding(severity="note")]))
    (case,) = suite
    assert case.is_passed
    assert case.system_out.startswith("models/train.py:13:17: note: ")


def test_equal_cases_have_different_names() -> None:
    lines = [finding(span=Span(n, 1, n, 2)) for n in (3, 5)]
    assert [name for _, name, _ in outcomes(RunResult(lines))] == ["native-dropout", "native-dropout #2"]


@pytest.mark.parametrize(
    ("by", "reason", "message"),
    [
        ("comment", "done on the host", "suppressed by a comment: done on the host"),
        ("comment", "", "suppressed by a comment"),
        ("baseline", "", "recorded in the baseline"),
    ],
)
def test_what_is_silenced_is_skipped(by: str, reason: str, message: str) -> None:
    _, suite = suites(RunResult(suppressed=[SuppressedFinding(finding(severity="error"), by, reason)]))
    (case,) = suite
    assert [one.message for one in case.result] == [message]
    assert case.is_skipped


def test_notes_that_are_not_shown_are_not_skipped_either() -> None:
    assert (
        outcomes(RunResult(suppressed=[SuppressedFinding(finding(severity="note"), "comment")]), shown_from="warning")
        == []
    )


@pytest.mark.parametrize(
    ("problem", "shown", "outcome"),
    [
        pytest.param(Problem("a.py", "python2"), True, [("a.py", "syntax-error", "Error")], id="not read"),
        pytest.param(Problem("a.py", "python2"), False, [("a.py", "file-not-read", "Skipped")], id="nobody asked"),
        pytest.param(Problem("a.py", "missing"), False, [("a.py", "file-not-read", "Error")], id="not there"),
        pytest.param(Problem("a.py", "json", fatal=False), True, [("a.py", "syntax-error", "passed")], id="partly"),
        pytest.param(Problem("a.py", "json", fatal=False), False, [], id="partly and not shown"),
    ],
)
def test_files_that_were_not_read(problem: Problem, shown: bool, outcome: list[tuple[str, str, str]]) -> None:
    told = [finding(code="NPU0101", name="syntax-error", topic="parse", path="a.py")] if shown else []
    assert outcomes(RunResult(told, unreadable=[problem])) == outcome


def test_the_counts_of_the_run_are_properties() -> None:
    result = RunResult(
        target={"cann": "8.0 (specified)"}, summary=Summary(files=3, read=2, suppressed=4, known=5, hidden=6)
    )
    root = ElementTree.fromstring(render("junit", result, ReportView()).encode())
    told = {one.attrib["name"]: one.attrib["value"] for one in root.iterfind("testsuite/properties/property")}
    assert (told["suppressed"], told["known"], told["hidden"], told["files"]) == ("4", "5", "6", "3")
    assert told["target.cann"] == "8.0 (specified)"


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("train.py", "train_py"),
        ("./v1.5/models/train.py", "v1_5.models.train_py"),
        ("../up/a.py", "__.up.a_py"),
        ("/data/a.py", "data.a_py"),
        ("模型/训练.sh", "模型.训练_sh"),
    ],
)
def test_class_names_are_packages_by_folder(path: str, name: str) -> None:
    _, suite = suites(RunResult([finding(path=path)]))
    assert [case.classname for case in suite] == [name]


def test_the_threshold_of_the_command_line_decides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    project = Project(tmp_path).write(
        {"a.py": "import tensorflow as tf\ny = tf.load_op_library('./ops.so').y()\ntf.Session().run(y)\n"}
    )
    for fail_on, failing in (("warning", True), ("error", False), ("never", False)):
        answer = project.run("check", "--format=junit", "--no-cache", f"--fail-on={fail_on}")
        told = JUnitXml.fromstring(answer.out.encode())
        assert (told.failures > 0) == (answer.code == 1) == failing


def test_the_sample_shows_every_outcome() -> None:
    told = Counter(kind for *_, kind in outcomes(sample(), lines=source))
    assert told == {"passed": 4, "Failure": 1, "Skipped": 2, "Error": 1}
