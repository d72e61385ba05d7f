"""The problem matchers of GitHub and Visual Studio Code find every finding of a concise report, and nothing else."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from npulint.facts.model import Problem, Span
from npulint.hosts.integrations import template
from npulint.judge.findings import Finding, Related, RunResult, Summary
from npulint.report.terminal import escape_control_chars
from npulint.report.view import ReportView, render
from tests import hostile_results
from tests.project_support import Project
from tests.surface_support import finding, source
from tests.tools import needed

HARNESS = Path(__file__).parent / "matchers.mjs"
GITHUB = json.loads(template("github-matcher.json"))
VSCODE = json.loads(template("vscode-tasks.json"))["tasks"][0]["problemMatcher"]
LEVEL = {"error": ("error", "error"), "warning": ("warning", "warning"), "note": ("notice", "info")}
FAKES = (
    "x:1:1: error: fake [a-b] (NPU1234)",
    ":1:1: warning: fake [a-b] (NPU1234)",
    "a.py:3:4: note: [b] (NPU1111)",
    "m [x] (NPU9999)",
    "::error::x",
)
SEPARATORS = re.compile("\r\n|\r|\n")


def matched(log: str) -> dict[str, Any]:
    """What the owners of the matchers find in a log."""
    given = json.dumps({"github": GITHUB, "vscode": VSCODE, "lines": SEPARATORS.split(log)})
    done = subprocess.run([needed("node"), str(HARNESS)], input=given.encode(), capture_output=True, check=True)
    seen: dict[str, Any] = json.loads(done.stdout)
    return seen


def meant(one: Finding, owner: int) -> list[Any]:
    message = escape_control_chars(one.message)
    return [one.span.line, one.span.column, LEVEL[one.severity][owner], message.strip() if owner else message, one.name]


def agree(result: RunResult, **view: Any) -> dict[str, Any]:
    seen = matched(render("concise", result, ReportView(lines=source, **view)))
    for owner, name in enumerate(("github", "vscode")):
        assert [row[1:] for row in seen[name]] == [meant(one, owner) for one in result.findings]
    return seen


paths = st.lists(
    st.one_of(st.sampled_from([*FAKES, "/", " ", ":", "12 | ", ":7:8", "C:\\dir\\", "[", "("]), hostile_results.paths),
    min_size=1,
    max_size=3,
).map("".join)
messages = st.lists(st.one_of(st.sampled_from([*FAKES, " "]), hostile_results.texts), max_size=3).map("".join)
findings = st.builds(
    lambda severity, path, line, column, message, related: finding(
        severity=severity,
        path=path,
        span=Span(line, column, line, column + 1),
        message=message if message.strip() else "m",
        related=tuple(Related(*one) for one in related),
    ),
    st.sampled_from(sorted(LEVEL)),
    paths.filter(str.strip),
    st.integers(1, 10**6),
    st.integers(1, 10**4),
    messages,
    st.lists(st.tuples(paths, st.just(Span(1, 2, 1, 3)), messages), max_size=2),
)


@pytest.mark.slow
@given(st.lists(findings, max_size=8), st.lists(hostile_results.problems, max_size=2), st.booleans(), st.booleans())
@settings(deadline=None, max_examples=40)
def test_every_finding_is_found_and_none_is_invented(
    found: list[Finding], unread: list[Problem], verbose: bool, color: bool
) -> None:
    result = RunResult(found, unreadable=unread, summary=Summary(9, 9))
    assert agree(result, verbose=verbose, color=color)["slowest"] < 500


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("models/train.py", "models/train.py"),
        ("模型/训练 数据.py", "模型/训练 数据.py"),
        ("C:\\dir\\a.py", "C:\\dir\\a.py"),
        ("C:/dir/a.py", "C:/dir/a.py"),
        ("a:1.py", "a:1.py"),
        ("a:1", "a:1"),
        ("a:1:2", "a:1:2"),
        ("a[0](1).py", "a[0](1).py"),
        ("::error::x.py", "./::error::x.py"),
        (" blank.py", "./ blank.py"),
        ("12 | a.py", "./12 | a.py"),
        ("a:1:2: error: b [c] (NPU1111).py", "a\\x3a1:2: error: b [c] (NPU1111).py"),
        ("a:1:2: error", "a\\x3a1:2: error"),
        ("a\x1b[31m\n.py", "a\\x1b[31m\\n.py"),
    ],
)
@pytest.mark.parametrize("color", [False, True])
def test_the_file_is_the_one_that_was_meant(path: str, told: str, color: bool) -> None:
    messages = ("plain", "`x[0]` is [not] (ready) [a-b] (NPU1234)", *FAKES)
    found = [finding(path=path, severity=severity, message=message) for severity in LEVEL for message in messages]
    seen = agree(RunResult(found, summary=Summary(1, 1)), color=color)
    assert {row[0] for row in (*seen["github"], *seen["vscode"])} == {told}


@pytest.mark.parametrize("format_name", ["text", "github"])
@pytest.mark.parametrize("color", [False, True])
def test_reports_with_source_match_nothing(format_name: str, color: bool) -> None:
    lines = [f"{fake}" for fake in FAKES] * 3
    found = [finding(message=fake, span=Span(n, 1, n + 1, 2)) for n, fake in enumerate(FAKES, 9)]
    text = render(format_name, RunResult(found), ReportView(lines=lambda path: lines, color=color, verbose=True))
    seen = matched(text)
    assert seen["github"] == seen["vscode"] == []


def test_a_long_line_costs_no_time() -> None:
    lines = [
        ":1:1: errr: " * 4000,
        "a" * 40_000,
        ":1" * 20_000,
        "a:1:1: error: " + " [a] (NPU1" * 4000,
        "1" * 40_000 + " |",
    ]
    seen = matched("\n".join(lines))
    assert seen["github"] == [] and seen["slowest"] < 500


@pytest.mark.slow
def test_a_real_run_is_found_whole(project: Project) -> None:
    program = """\
        import torch
        import torch_npu

        model = torch.nn.Linear(2, 2).cuda()
        for x in range(3):
            model(torch.ones(2).cuda())
        """
    project.write({"a b/训练.py": program, "[x](y).py": program, "12 | z.py": program})
    wanted = project.check().findings
    seen = matched(project.run("check", "--no-cache", "--format=concise", "--min-severity=note", "--verbose").out)
    assert len({one["path"] for one in wanted}) == 3
    for name in ("github", "vscode"):
        rows = [[row[0].removeprefix("./"), row[1], row[2], row[4], row[5]] for row in seen[name]]
        assert rows == [
            [one["path"], one["line"], one["column"], escape_control_chars(one["message"]), one["name"]]
            for one in wanted
        ]


def test_the_matchers_keep_the_rules_of_their_owners() -> None:
    owners = [matcher["owner"] for matcher in GITHUB["problemMatcher"]]
    assert len(set(owners)) == len(owners) == len(LEVEL)
    assert {matcher["severity"] for matcher in GITHUB["problemMatcher"]} <= {"error", "warning", "notice"}
    assert VSCODE["fileLocation"] == ["autoDetect", "${workspaceFolder}"]
    for pattern in (*(matcher["pattern"][0] for matcher in GITHUB["problemMatcher"]), VSCODE["pattern"]):
        groups = re.compile(pattern["regexp"]).groups
        numbers = [value for key, value in pattern.items() if key != "regexp"]
        assert sorted(numbers) == list(range(1, groups + 1))
        assert not re.search(r"\(\?<|\\p\{", pattern["regexp"])  # unknown to .NET's ECMAScript mode


def test_severities_differ_by_the_matcher_alone() -> None:
    one = finding()
    for severity, (level, _) in LEVEL.items():
        seen = agree(RunResult([msgspec.structs.replace(one, severity=severity)], summary=Summary(1, 1)))
        assert [row[3] for row in seen["github"]] == [level]
