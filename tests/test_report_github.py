"""The report for GitHub, read by the rules of its runner."""

from __future__ import annotations

import json
import posixpath
import re
from importlib import import_module
from xml.etree import ElementTree

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from npulint.facts.model import Span
from npulint.judge.findings import Finding, Fix, RunResult, Summary
from npulint.judge.settings import MACHINE_FORMATS
from npulint.report.github import COMMAND, LONGEST, PER_SEVERITY, command
from npulint.report.terminal import UNSEEN, escape_control_chars, leading, plain_line
from npulint.report.view import ReportView, render
from tests import hostile_results
from tests.github_runner import Command, run
from tests.surface_support import finding, sample, source

INJECTIONS = (
    *(
        "::error::x",
        "\n::add-mask::a",
        "  ::set-output name=a::b",
        "\r::stop-commands::x",
        "\ufe0f::echo::on",
        "\u200b::",
    ),
    *(
        "##[error]x",
        "a ##[add-mask]b",
        "###[group]x",
        "#\u200b#[stop-commands]x",
        "#\ufe0f#[warning]y",
        "##",
        "[error]",
    ),
    *(
        "##vso[task.setvariable variable=a]b",
        "##teamcity[message text='x']",
        "%0A::error::x",
        "%250A",
        "%",
        ":",
        ",",
        "=",
    ),
)
pieces = st.one_of(st.sampled_from(INJECTIONS), hostile_results.texts)
texts = st.lists(pieces, max_size=3).map("".join)
paths = st.one_of(texts, hostile_results.paths)
findings = st.builds(
    lambda one, name, path, message, why, fix: msgspec.structs.replace(
        one, name=name, path=path, message=message, why=why, fix=Fix(fix), code="NPU1101"
    ),
    hostile_results.findings,
    st.sampled_from(["native-dropout", "a"]),
    paths,
    texts.map(lambda text: text if text.split() else "m"),
    texts,
    texts,
)
results = st.builds(
    RunResult,
    findings=st.lists(findings, max_size=3),
    unreadable=st.lists(hostile_results.problems, max_size=1),
    target=st.dictionaries(st.just("soc"), texts, max_size=1),
)


def notes_in(commands: list[Command]) -> list[Command]:
    return [one for one in commands if one.name in COMMAND.values()]


def hostile_lines(path: str) -> list[str]:
    return ["x = '" + injection.replace("\n", "").replace("\r", "") + "'" for injection in INJECTIONS] * 3


@given(texts, st.dictionaries(st.sampled_from(["file", "title", "line"]), texts.map(str.strip), max_size=3))
def test_a_command_is_read_as_it_was_meant(message: str, properties: dict[str, str]) -> None:
    meant = {key: value.lstrip("=") for key, value in properties.items() if value.lstrip("=")}
    line = command("error", message, **properties)
    assert "\n" not in line and "\r" not in line
    commands, shown = run(line)
    plain = message.encode("utf-8", "backslashreplace").decode()
    assert shown == [] and [one.data for one in commands] == [plain]
    assert {key: value.strip() for key, value in commands[0].properties.items()} == {
        key: value.encode("utf-8", "backslashreplace").decode().strip() for key, value in meant.items()
    }


@given(results)
@settings(deadline=None, max_examples=60)
def test_no_other_command_stands_in_the_report(result: RunResult) -> None:
    text = render("github", result, ReportView(lines=hostile_lines, folder="sub"))
    commands, shown = run(text)
    told = notes_in(commands)
    names = [one.name for one in commands if one not in told]
    words = [one.data for one in commands if one.name == "stop-commands"]
    assert names == [*(["group", "endgroup"] if result.findings else []), "stop-commands", *words]
    assert len(told) == len(result.findings)
    by_place = sorted((one.data.split("\n")[0], one.name) for one in told)
    assert by_place == sorted(
        (escape_control_chars(" ".join(f.message.split())), COMMAND[f.severity]) for f in result.findings
    )
    assert "\n".join(shown) == render("text", result, ReportView(lines=hostile_lines, ungrouped=True))


@given(results, st.sampled_from(["text", "concise", "markdown", "github"]))
@settings(deadline=None, max_examples=60)
def test_no_report_for_people_holds_a_command_even_without_the_fence(result: RunResult, format_name: str) -> None:
    text = render(format_name, result, ReportView(lines=hostile_lines, verbose=True))
    unfenced = [line for line in text.split("\n") if not line.startswith("::")] if format_name == "github" else [text]
    assert run("\n".join(unfenced))[0] == []
    assert "##vso[" not in "\n".join(unfenced) and "##teamcity[" not in "\n".join(unfenced)


def meaning(format_name: str, text: str) -> object:
    if format_name in ("junit", "checkstyle"):
        return [(one.tag, one.attrib, one.text) for one in ElementTree.fromstring(text.encode()).iter()]
    if format_name == "agent":
        return text
    return [json.loads(line) for line in text.split("\n") if line] if format_name == "jsonl" else json.loads(text)


@pytest.mark.slow
@given(results, st.sampled_from(MACHINE_FORMATS))
@settings(deadline=None, max_examples=80)
def test_no_report_for_machines_holds_a_command_and_none_means_anything_else(result: RunResult, form: str) -> None:
    view = ReportView(lines=hostile_lines, verbose=True)
    text = render(form, result, view)
    assert run(text)[0] == []
    assert "##vso[" not in text and "##teamcity[" not in text
    module = import_module(f"npulint.report.{form}")
    assert meaning(form, text) == meaning(form, module.render(result, view))


@given(texts)
def test_what_begins_a_line_is_no_command(text: str) -> None:
    assert run(leading(text))[0] == run(plain_line(text))[0] == []


def plain(path: str) -> str:
    return re.sub(f"[\x00-\x1f{UNSEEN}]", lambda match: escape_control_chars(match[0]), path)


@given(findings, st.sampled_from(["", "sub", "sub/deep"]))
@settings(deadline=None, max_examples=60)
def test_the_runner_finds_place_title_and_file(one: Finding, folder: str) -> None:
    commands, _ = run(render("github", RunResult([one]), ReportView(folder=folder)))
    told = notes_in(commands)[0].properties
    line, last = int(told["line"]), int(told["endLine"])
    assert line == max(1, one.span.line) and last == max(line, one.span.end_line)
    if line != last:
        assert "col" not in told and "endColumn" not in told
    else:
        assert 1 <= int(told["col"]) <= int(told["endColumn"])
    assert told["title"] == f"{one.name} (NPU1101)"
    path = plain(one.path).encode("utf-8", "backslashreplace").decode()
    if not re.match(r"/|[A-Za-z]:[\\/]|\\\\", path):
        path = posixpath.join(folder, path) if path else ""
        path = posixpath.normpath(path) if path else ""
    assert posixpath.normpath(told.get("file", ".")) == (posixpath.normpath(path) if path else ".")


def test_the_gravest_have_their_annotations_and_the_rest_is_counted() -> None:
    found = [finding(severity="warning", span=Span(n, 1, n, 2)) for n in range(1, 31)]
    found += [finding(severity="error", code="NPU1101", name="a", category="functional", span=Span(40, 1, 40, 2))]
    found += [finding(severity="warning", code="NPU1209", name="rare", span=Span(99, 1, 99, 2))]
    found += [finding(severity="note", code=f"NPU14{n}", span=Span(n, 1, n, 2)) for n in range(10, 22)]
    commands, shown = run(render("github", RunResult(found, summary=Summary(1, 1)), ReportView()))
    told = notes_in(commands)
    assert [one.name for one in told] == ["error"] + ["warning"] * PER_SEVERITY + ["notice"] * PER_SEVERITY
    assert [one.properties["title"] for one in told[1:3]] == ["native-dropout (NPU1301)", "rare (NPU1209)"]
    assert told[-1].properties == {"title": "npulint"}
    assert told[-1].data == (
        "24 of 44 findings have no annotation, because GitHub keeps 10 per severity and step. "
        "The log of this step lists them all."
    )
    assert sum(line.startswith(("error[", "warning[", "note[")) for line in shown) == 44


def test_exactly_ten_leave_nothing_out() -> None:
    found = [finding(severity=severity, span=Span(n, 1, n, 2)) for severity in COMMAND for n in range(1, 11)]
    told = notes_in(run(render("github", RunResult(found), ReportView()))[0])
    assert len(told) == 30 and "npulint" not in {one.properties["title"] for one in told}


@pytest.mark.parametrize("char", ["x", "中", "🚀"])
@pytest.mark.parametrize("url", ["", "https://example.org/checks/a"])
def test_long_messages_are_cut_where_the_runner_would_cut_them(char: str, url: str) -> None:
    one = finding(message=char * 3000, why=char * 3000, url=url)
    told = notes_in(run(render("github", RunResult([one]), ReportView()))[0])[0].data
    units = len(told.encode("utf-16-le")) // 2
    assert LONGEST - 3 <= units <= LONGEST
    assert told.startswith(char * 1000) and "…" in told and told.endswith(url)


def test_the_word_that_ends_the_fence_follows_the_report() -> None:
    def words(result: RunResult) -> list[str]:
        commands, _ = run(render("github", result, ReportView(lines=source)))
        return [one.data for one in commands if one.name == "stop-commands"]

    first, again, other = words(sample()), words(sample()), words(RunResult([finding(message="x")]))
    assert first == again != other
    assert re.fullmatch("npulint-[0-9a-f]{32}", first[0])


def test_a_clean_run_says_so() -> None:
    text = render("github", RunResult(summary=Summary(1, 1)), ReportView())
    assert [one.name for one in notes_in(run(text)[0])] == []
    assert "1 file checked" in text
