"""JSON lines, GitLab, JUnit and Checkstyle: what their readers find in them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import msgspec
import pytest
from hypothesis import given, settings
from junitparser import JUnitXml

from npulint.facts.model import Span
from npulint.judge.findings import Fix, RunResult
from npulint.report.json import encodable
from npulint.report.view import ReportView, render
from npulint.report.xmltext import element, escaped, legal
from tests.hostile_results import results, texts
from tests.project_support import Project
from tests.surface_support import finding, sample

FORMATS = ("jsonl", "gitlab", "junit", "checkstyle")


def report(name: str, result: RunResult, **view: Any) -> str:
    return render(name, result, ReportView(**view))


@pytest.mark.parametrize("name", FORMATS)
def test_reports_tell_no_time(name: str) -> None:
    later = msgspec.structs.replace(sample(), summary=msgspec.structs.replace(sample().summary, seconds=9.0))
    assert report(name, later) == report(name, sample())


@pytest.mark.parametrize("name", FORMATS)
def test_reports_speak_the_language_of_the_run(name: str) -> None:
    told = report(name, RunResult([finding(message="原生 dropout 很慢", why="在主机上运行")]), lang="zh")
    assert "原生 dropout 很慢" in told


# JSON lines


def rows(result: RunResult, **view: Any) -> list[dict[str, Any]]:
    text = report("jsonl", result, **view)
    assert text.endswith("\n")
    return [json.loads(line) for line in text.removesuffix("\n").split("\n")]


def test_lines_hold_what_the_document_holds() -> None:
    document = json.loads(report("json", sample()))
    lines = rows(sample())
    kinds = {
        kind: [{**row} for row in lines if row["kind"] == kind] for kind in ("finding", "program", "unread", "summary")
    }
    assert sum(map(len, kinds.values())) == len(lines)
    for kind, key in (("finding", "findings"), ("program", "programs"), ("unread", "unread")):
        assert [{k: v for k, v in row.items() if k != "kind"} for row in kinds[kind]] == document[key]
        assert kinds[kind]
    (closing,) = kinds["summary"]
    assert closing == {
        "kind": "summary",
        "version": 1,
        "tool": document["tool"],
        "target": document["target"],
        **document["summary"],
        "verdict": document["verdict"],
        "first_steps": document["first_steps"],
    }


def test_the_kind_comes_first_and_the_summary_last() -> None:
    lines = report("jsonl", sample()).splitlines()
    assert all(line.startswith('{"kind":"') for line in lines)
    assert [json.loads(line)["kind"] for line in lines] == [*["finding"] * 6, *["program"] * 2, "unread", "summary"]


def test_a_clean_run_is_one_line() -> None:
    assert [row["kind"] for row in rows(RunResult())] == ["summary"]


@pytest.mark.slow
@given(results)
@settings(max_examples=100, deadline=None)
def test_no_text_breaks_a_line(result: RunResult) -> None:
    lines = rows(result)
    told = [row for row in lines if row["kind"] == "finding"]
    assert [row["message"] for row in told] == [encodable(one.message) for one in result.findings]
    assert lines[-1]["kind"] == "summary"


# GitLab

_SEVERITIES = {"info", "minor", "major", "critical", "blocker"}


def issues(result: RunResult, **view: Any) -> list[dict[str, Any]]:
    told: list[dict[str, Any]] = json.loads(report("gitlab", result, **view))
    return told


def refused(issue: dict[str, Any]) -> list[str]:
    """What GitLab's documentation asks of an issue and this one lacks."""
    found = [key for key in ("description", "check_name", "fingerprint") if not isinstance(issue.get(key), str)]
    found += [key for key in ("description", "fingerprint") if not issue.get(key)]
    if issue.get("severity") not in _SEVERITIES:
        found.append("severity")
    place = issue.get("location", {})
    if not isinstance(place.get("path"), str) or place["path"].startswith("./"):
        found.append("location.path")
    begin, end = place.get("lines", {}).get("begin"), place.get("lines", {}).get("end")
    if not (isinstance(begin, int) and isinstance(end, int) and 1 <= begin <= end):
        found.append("location.lines")
    return found


@pytest.mark.slow
@given(results)
@settings(max_examples=100, deadline=None)
def test_gitlab_takes_every_issue(result: RunResult) -> None:
    told = issues(result)
    assert [refused(issue) for issue in told] == [[]] * len(result.findings)
    prints = [issue["fingerprint"] for issue in told]
    assert len(set(prints)) == len(prints)
    assert report("gitlab", result) == report("gitlab", result)


def test_an_issue() -> None:
    (told,) = issues(RunResult([finding(path="./models/train.py", span=Span(8, 10, 12, 2), fingerprint="f" * 20)]))
    assert told == {
        "type": "issue",
        "description": "native-dropout: `tf.nn.dropout` is slow on the NPU",
        "check_name": "native-dropout",
        "content": {"body": "The native operator runs on the host.\n\nUse npu_ops.dropout."},
        "categories": ["Performance"],
        "severity": "major",
        "fingerprint": "f" * 20,
        "location": {"path": "models/train.py", "lines": {"begin": 8, "end": 12}},
    }


@pytest.mark.parametrize(("severity", "word"), [("error", "critical"), ("warning", "major"), ("note", "info")])
def test_severities_of_gitlab(severity: str, word: str) -> None:
    assert [issue["severity"] for issue in issues(RunResult([finding(severity=severity)]))] == [word]


def test_fingerprints_of_issues_survive_moved_lines() -> None:
    both = [finding(span=Span(n, 1, n, 2)) for n in (3, 4)]
    moved = [finding(span=Span(n, 1, n, 2)) for n in (7, 9)]
    here, there = issues(RunResult(both)), issues(RunResult(moved))
    assert [one["fingerprint"] for one in here] == [one["fingerprint"] for one in there]
    assert len({one["fingerprint"] for one in here}) == 2


def test_no_issue_is_an_empty_list() -> None:
    assert report("gitlab", RunResult()) == "[]\n"
    assert report("gitlab", RunResult([finding(severity="note")]), shown_from="warning") == "[]\n"


def test_advice_is_in_the_body_of_an_issue() -> None:
    (told,) = issues(RunResult([finding(why="", fix=Fix(""), url="https://example.org/x")]))
    assert told["content"] == {"body": "https://example.org/x"}


# XML


@given(texts, texts)
@settings(max_examples=300, deadline=None)
def test_texts_come_back_from_xml(attribute: str, content: str) -> None:
    root = ElementTree.fromstring(element("x", {"a": attribute}, escaped(content)))
    assert root.get("a") == legal(attribute)
    assert (root.text or "") == legal(content)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        pytest.param("a\tb\nc\rd 模型🚀\ufffd", "a\tb\nc\rd 模型🚀\ufffd", id="legal"),
        pytest.param("\x00\x08\x0b\x0c\x1b\x1f", "\\x00\\x08\\x0b\\x0c\\x1b\\x1f", id="controls"),
        pytest.param("\ud800\udcff\ufffe\uffff", "\\ud800\\xff\\ufffe\\uffff", id="no characters"),
        pytest.param("\x7f\x85\x9b31m", "\\x7f\\x85\\x9b31m", id="C1"),
        pytest.param("a\u202eb\u2066c\u200f\u2028", "a\\u202eb\\u2066c\\u200f\\u2028", id="bidi"),
        pytest.param("a\u200bb\ufeff\U000e0041", "a\\u200bb\\ufeff\\ue0041", id="no glyph"),
    ],
)
def test_what_xml_cannot_hold_is_told(text: str, kept: str) -> None:
    assert legal(text) == kept


# Checkstyle


def errors(result: RunResult, **view: Any) -> list[tuple[str, dict[str, str]]]:
    root = ElementTree.fromstring(report("checkstyle", result, **view).encode())
    assert (root.tag, list(root.attrib)) == ("checkstyle", ["version"])
    assert {file.tag for file in root} <= {"file"}
    assert all(len(file) for file in root)
    return [(file.attrib["name"], one.attrib) for file in root for one in file]


@pytest.mark.slow
@given(results)
@settings(max_examples=100, deadline=None)
def test_checkstyle_gives_every_text_back(result: RunResult) -> None:
    told = errors(result)
    wanted = [(legal(one.path), legal(one.message)) for one in sorted(result.findings, key=lambda one: one.path)]
    assert [(path, one["message"]) for path, one in told] == wanted
    assert all(list(one) == ["line", "column", "severity", "message", "source"] for _, one in told)
    assert all(int(one["line"]) > 0 and int(one["column"]) > 0 for _, one in told)
    assert {one["severity"] for _, one in told} <= {"info", "warning", "error"}


def test_an_error_of_checkstyle() -> None:
    told = errors(RunResult([finding(message="`a` < \"b\" & 'c'", path="a b/<模型>.py", severity="note")]))
    assert told == [
        (
            "a b/<模型>.py",
            {
                "line": "13",
                "column": "17",
                "severity": "info",
                "message": "`a` < \"b\" & 'c'",
                "source": "npulint.NPU1301",
            },
        )
    ]


def test_checkstyle_of_a_clean_run() -> None:
    assert errors(RunResult()) == []


# Together


def test_several_reports_are_written_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    project = Project(tmp_path).write(
        {"模型.py": "import tensorflow as tf\ny = tf.nn.dropout(x, 0.5)\ntf.Session().run(y)\n"}
    )
    outputs = [f"--output={name}={name}.out" for name in (*FORMATS, "sarif")]
    answer = project.run("check", "--no-cache", "--lang=en", *outputs)
    assert answer.err == ""
    places = {name: tmp_path.joinpath(f"{name}.out").read_text(encoding="utf-8") for name in (*FORMATS, "sarif")}
    assert json.loads(places["sarif"])["version"] == "2.1.0"
    lines = map(json.loads, places["jsonl"].splitlines())
    codes = [line["code"] for line in lines if line["kind"] == "finding"]
    assert re.findall(r'source="npulint\.(\w+)"', places["checkstyle"]) == codes
    assert len(json.loads(places["gitlab"])) == len(codes) > 0
    assert len(list(JUnitXml.fromstring(places["junit"].encode()))) == 2


@pytest.mark.parametrize("format_name", ["gitlab", "sarif"])
def test_paths_begin_at_the_root_of_the_repository_in_ci(format_name: str) -> None:
    result = RunResult([finding(path=path) for path in ("a b.py", "../c.py", "/d.py")])
    text = render(format_name, result, ReportView(folder="training"))
    document = json.loads(text)
    if format_name == "gitlab":
        paths = [issue["location"]["path"] for issue in document]
        assert paths == ["training/a b.py", "c.py", "/d.py"]
    else:
        results = document["runs"][0]["results"]
        places = [one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for one in results]
        assert places == ["training/a%20b.py", "c.py", "file:///d.py"]
