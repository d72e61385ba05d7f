"""SARIF logs: valid by the official schema, what GitHub asks for, and faithful to the result."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import unquote

import msgspec
import pytest
from hypothesis import given, settings

from npulint.facts.model import Problem, Span
from npulint.judge.findings import Edit, Finding, Fix, Related, RunResult, Summary, SuppressedFinding
from npulint.judge.source_lines import FileLines
from npulint.report import sarif
from npulint.report.sarif.results import ROOT
from npulint.report.view import ReportView, RulePage, render
from tests.hostile_results import results
from tests.project_support import ROOT as ROOT_FOLDER
from tests.project_support import Project
from tests.sarif_support import demands, linked, violations
from tests.surface_support import finding, sample, source

Json = dict[str, Any]


def log(result: RunResult, **view: Any) -> Json:
    document: Json = json.loads(render("sarif", result, ReportView(**view)))
    return document


def only(result: RunResult | Finding, **view: Any) -> Json:
    """The run of the log; of a single finding its result."""
    if isinstance(result, Finding):
        one: Json = log(RunResult([result]), **view)["runs"][0]["results"][0]
        return one
    run: Json = log(result, **view)["runs"][0]
    return run


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_sample_meets_every_demand(lang: str) -> None:
    document = log(sample(), lang=lang, lines=source)
    assert violations(document) == []
    assert demands(document) == []


def test_a_clean_run_is_a_log_without_results() -> None:
    document = log(RunResult(summary=Summary(files=1, read=1)))
    assert document["runs"][0]["results"] == []
    assert document["runs"][0]["tool"]["driver"]["rules"] == []
    assert (violations(document), demands(document)) == ([], [])


@pytest.mark.nightly
@pytest.mark.slow
@given(results)
@settings(max_examples=150, deadline=None)
def test_whatever_the_texts_the_log_is_valid(result: RunResult) -> None:
    text = render("sarif", result, ReportView())
    document = json.loads(text)
    assert violations(document) == []
    assert demands(document) == []
    assert text == render("sarif", result, ReportView())
    told = document["runs"][0]["results"]
    assert len(told) == len(result.findings) + len(result.suppressed)
    assert sum("suppressions" in one for one in told) == len(result.suppressed)


@pytest.mark.parametrize(
    ("broken", "complaint"),
    [
        pytest.param(lambda run: run.pop("columnKind"), "columnKind", id="columns"),
        pytest.param(lambda run: run["results"][0]["message"].update(text=" "), "message is empty", id="empty text"),
        pytest.param(lambda run: run["results"][0].update(ruleIndex=1), "ruleIndex", id="rule"),
        pytest.param(lambda run: run["results"][0].update(relatedLocations=[]), "links to a location", id="link"),
        pytest.param(
            lambda run: run["tool"]["driver"]["rules"][0]["help"].update(text=""), "help.text is missing", id="help"
        ),
        pytest.param(
            lambda run: run["results"][0]["locations"][0]["physicalLocation"]["region"].pop("endColumn"),
            "four numbers",
            id="region",
        ),
        pytest.param(
            lambda run: run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"].update(uri="./a b"),
            "percent-encoded",
            id="path",
        ),
    ],
)
def test_the_list_of_demands_notices(broken: Any, complaint: str) -> None:
    document = log(RunResult(sample().findings[:1]), lines=source)
    assert demands(document) == []
    rules = document["runs"][0]["tool"]["driver"]["rules"]
    rules.append({**rules[0], "id": "OTHER"})
    broken(document["runs"][0])
    assert any(complaint in text for text in demands(document)), demands(document)


def test_a_moved_line_keeps_its_fingerprints() -> None:
    lines = ["import x", *(f"a{number} = {number}" for number in range(80))]
    here = only(finding(path="a.py", span=Span(2, 1, 2, 3), fingerprint="f" * 20), lines=lambda path: lines)
    moved = only(finding(path="a.py", span=Span(4, 1, 4, 3), fingerprint="f" * 20), lines=lambda path: ["", "", *lines])
    assert here["partialFingerprints"] == moved["partialFingerprints"]
    assert here["partialFingerprints"]["npulint/v1"] == "f" * 20


def test_without_source_the_fingerprint_stands_for_the_line() -> None:
    own = only(finding(fingerprint="0123456789abcdef0123"))["partialFingerprints"]
    assert own == {"primaryLocationLineHash": "0123456789abcdef0123:1", "npulint/v1": "0123456789abcdef0123"}


def rule(one: Finding, page: RulePage | None = None) -> Json:
    described: Json = only(RunResult([one]), page=lambda code: page)["tool"]["driver"]["rules"][0]
    return described


def test_a_rule_tells_what_its_page_says() -> None:
    page = RulePage("Dropout is slow", "It runs on the host.", "Replace it.", "# Dropout\n")
    described = rule(finding(url="https://example.org/checks/x/"), page)
    assert described["shortDescription"] == {"text": "Dropout is slow"}
    assert described["fullDescription"] == {"text": "It runs on the host."}
    assert described["help"] == {
        "text": "Dropout is slow\n\nIt runs on the host.\n\nReplace it.",
        "markdown": "# Dropout",
    }
    assert described["helpUri"] == "https://example.org/checks/x/"
    assert described["properties"] == {
        "precision": "high",
        "problem.severity": "warning",
        "category": "performance",
        "topic": "dropout",
        "tags": ["ascend", "npu", "performance", "dropout"],
    }


@pytest.mark.parametrize("page", [None, RulePage("", " ", "\n", "")])
def test_nothing_is_empty_where_a_check_has_no_page(page: RulePage | None) -> None:
    described = rule(finding(why="", fix=Fix("")), page)
    assert described["shortDescription"]["text"] == described["fullDescription"]["text"] == "native-dropout"
    assert described["help"] == {"text": "native-dropout", "markdown": "native-dropout"}
    assert "helpUri" not in described


def test_descriptions_keep_the_limit() -> None:
    described = rule(finding(name="n" * 300), RulePage("t" * 2000, "模" * 1025, "", ""))
    assert described["shortDescription"]["text"] == "t" * 1023 + "…"
    assert described["fullDescription"]["text"] == "模" * 1023 + "…"
    assert len(described["name"]) == 255
    assert described["help"]["text"].startswith("t" * 2000)


def test_the_default_level_is_the_gravest() -> None:
    rules = only(RunResult([finding(severity=word) for word in ("note", "error", "warning")]))["tool"]["driver"][
        "rules"
    ]
    assert [(one["defaultConfiguration"], one["properties"]["problem.severity"]) for one in rules] == [
        ({"level": "error"}, "error")
    ]


def test_only_checks_that_occur_are_described() -> None:
    run = only(sample(), shown_from="warning")
    codes = [one["id"] for one in run["tool"]["driver"]["rules"]]
    assert codes == sorted({one["ruleId"] for one in run["results"]})
    assert "NPU1402" in codes  # silenced
    assert "NPU1401" not in codes  # a note


def test_related_places_are_linked() -> None:
    places = tuple(Related("b.py" if n % 2 else "models/train.py", Span(n, 1, n, 2), f"p[{n}]") for n in range(1, 6))
    told = only(finding(related=places, fix=Fix("Do it.")))
    first, second = told["message"]["text"].split("\n")
    assert first.endswith("([p\\[1\\] b.py:1](1), [p\\[2\\] L2](2), [p\\[3\\] b.py:3](3), ... and 2 more places)")
    assert second == "Do it."
    assert [one["id"] for one in told["relatedLocations"]] == [1, 2, 3, 4, 5]
    assert told["relatedLocations"][0]["message"] == {"text": "p[1]"}
    everything = only(finding(related=places), verbose=True)
    assert linked(everything["message"]["text"]) == [1, 2, 3, 4, 5]


def test_a_result_has_at_most_a_thousand_places() -> None:
    places = tuple(Related("b.py", Span(n, 1, n, 2), "there") for n in range(1, 1200))
    told = only(finding(related=places), verbose=True)
    assert len(told["relatedLocations"]) + len(told["locations"]) == 1000
    assert max(linked(told["message"]["text"])) == 999
    assert "... and 200 more places" in told["message"]["text"]


@pytest.mark.parametrize(
    ("message", "text"),
    [
        pytest.param("`a[0](1)` is slow", "`a[0] (1)` is slow", id="code that looks like a link"),
        pytest.param("write {0} or {name}", "write {{0}} or {name}", id="code that looks like a placeholder"),
        pytest.param("two\nlines\x1b[31m\u202e", "two\\nlines\\x1b[31m\\u202e", id="controls"),
        pytest.param("x" * 5000, "x" * 3999 + "…", id="endless"),
    ],
)
def test_messages_say_nothing_by_accident(message: str, text: str) -> None:
    assert only(finding(message=message, fix=Fix("")))["message"]["text"] == text


def applied(lines: list[str], replacements: list[Json]) -> str:
    """The text after what a reader of the log would do."""
    text = "\n".join(lines)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    for change in reversed(replacements):
        place = change["deletedRegion"]
        begin = starts[place["startLine"] - 1] + place["startColumn"] - 1
        end = starts[place["endLine"] - 1] + place["endColumn"] - 1
        text = text[:begin] + change.get("insertedContent", {"text": ""})["text"] + text[end:]
    return text


def test_fixes_do_what_the_edits_say() -> None:
    lines = ["a = 1", "模 = f(x, y)", "c = 2"]
    edits = (
        Edit("a.py", Span(1, 1, 1, 1), "import z\n"),
        Edit("a.py", Span(2, 5, 2, 6), "z.g"),
        Edit("a.py", Span(2, 8, 2, 11), ""),
        Edit("b.py", Span(1, 1, 1, 2), "q"),
    )
    told = only(finding(path="a.py", fix=Fix("Use z.g.", "safe", edits)))["fixes"]
    assert [one["description"] for one in told] == [{"text": "Use z.g."}]
    first, second = told[0]["artifactChanges"]
    assert applied(lines, first["replacements"]) == "import z\na = 1\n模 = z.g(x)\nc = 2"
    assert "insertedContent" not in first["replacements"][2]
    assert second["artifactLocation"] == {"uri": "b.py", "uriBaseId": ROOT}


def test_advice_without_edits_is_no_fix_and_notebooks_have_none() -> None:
    assert "fixes" not in only(finding())
    assert "fixes" not in only(finding(fix=Fix("x", "safe", (Edit("n.ipynb", Span(2, 1, 2, 2), '"'),))))


@pytest.mark.parametrize(
    ("silenced", "told"),
    [
        pytest.param(
            ("comment", "frozen on the host"),
            {"kind": "inSource", "status": "accepted", "justification": "frozen on the host"},
            id="comment",
        ),
        pytest.param(("comment", ""), {"kind": "inSource", "status": "accepted"}, id="without a reason"),
        pytest.param(("baseline", ""), {"kind": "external", "status": "accepted"}, id="baseline"),
    ],
)
def test_what_is_silenced_says_by_what(silenced: tuple[str, str], told: Json) -> None:
    run = only(RunResult([finding()], suppressed=[SuppressedFinding(finding(code="NPU1402"), *silenced)]))
    assert [one.get("suppressions") for one in run["results"]] == [None, [told]]


def test_files_that_were_not_read_are_notifications() -> None:
    unread = [Problem("a b.py", "python2", "print", Span(3, 1, 3, 2)), Problem("c.json", "json", fatal=False)]
    invocation = only(RunResult(unreadable=unread, notices=["warning: `x` is no check"]))["invocations"][0]
    assert invocation["executionSuccessful"] is True
    first, second = invocation["toolExecutionNotifications"]
    assert (first["descriptor"]["id"], first["level"], first["message"]) == (
        "python2",
        "warning",
        {"text": "Python 2: print"},
    )
    assert first["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "a%20b.py"
    assert second["message"] == {"text": "invalid JSON"}
    assert invocation["toolConfigurationNotifications"] == [
        {"level": "warning", "message": {"text": "warning: `x` is no check"}}
    ]


def test_a_path_that_is_not_there_is_no_success() -> None:
    invocation = only(RunResult(unreadable=[Problem("gone.py", "missing")]))["invocations"][0]
    assert invocation["executionSuccessful"] is False


def test_what_is_too_much_is_cut_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sarif, "MOST_RESULTS", 3)
    findings = [finding(severity=word, span=Span(n, 1, n, 2)) for n, word in enumerate(["note", "warning", "error"], 1)]
    result = RunResult(
        [*findings, finding(span=Span(9, 1, 9, 2))],
        suppressed=[SuppressedFinding(finding(severity="error"), "comment")],
    )
    run = only(result)
    assert [one["locations"][0]["physicalLocation"]["region"]["startLine"] for one in run["results"]] == [2, 3, 9]
    assert run["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"].startswith(
        "2 findings were omitted, because a run holds at most 3"
    )


def test_at_the_limit_nothing_is_cut() -> None:
    many = [(finding(), None)] * sarif.MOST_RESULTS
    grave = (finding(severity="error"), None)
    assert sarif.MOST_RESULTS == 25_000
    assert sarif.most_important(many, 25_000) == many
    assert sarif.most_important([*many, grave], 25_000) == [*many[1:], grave]


def test_counts_are_not_lost() -> None:
    run = only(
        RunResult(target={"cann": "8.0"}, summary=Summary(files=3, read=2, skipped=1, suppressed=4, known=5, hidden=6))
    )
    told = run["properties"]["summary"]
    assert (told["suppressed"], told["known"], told["hidden"], told["skipped"]) == (4, 5, 6, 1)
    assert run["properties"]["target"] == {"cann": "8.0"}


def test_no_time_and_no_place_of_this_machine_is_told() -> None:
    later = msgspec.structs.replace(sample(), summary=msgspec.structs.replace(sample().summary, seconds=9.0))
    assert render("sarif", later, ReportView()) == render("sarif", sample(), ReportView())


def test_a_null_is_told_and_not_held() -> None:
    text = render("sarif", RunResult([finding(why="a\0b\\u0000")]), ReportView())
    assert json.loads(text)["runs"][0]["results"][0]["properties"]["why"] == "a\\x00b\\u0000"


def test_a_real_project_from_end_to_end(tmp_path: Any, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    project = Project(tmp_path).write(
        {
            "my model/训练.py": """
                import tensorflow as tf
                sess = tf.Session()
                spare = tf.Session()  # npulint: ignore[session-without-npu-config] freezes on the host
                sess.run(tf.train.AdamOptimizer().minimize(tf.nn.dropout(x, 0.5)))
                """,
            "old.py": "print 'x'\nexec 'y' in z\n`a`\n",
        }
    )
    for lang in ("en", "zh"):
        answer = project.run("check", "--format=sarif", "--no-cache", "--lang", lang)
        document = json.loads(answer.out)
        assert (violations(document), demands(document)) == ([], [])
        run = document["runs"][0]
        uris = {one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for one in run["results"]}
        assert "my%20model/%E8%AE%AD%E7%BB%83.py" in uris
        assert [one["suppressions"] for one in run["results"] if "suppressions" in one] == [
            [{"kind": "inSource", "status": "accepted", "justification": "freezes on the host"}]
        ]
        described = {one["name"]: one for one in run["tool"]["driver"]["rules"]}
        assert described["session-without-npu-config"]["help"]["markdown"].startswith("# ")
        assert described["session-without-npu-config"]["helpUri"].startswith("https://")
        assert str(tmp_path) not in answer.out


def test_the_example_projects_from_end_to_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT_FOLDER)
    answer = Project(ROOT_FOLDER).run("check", "--format=sarif", "--no-cache", "--isolated", "examples")
    document = json.loads(answer.out)
    assert (violations(document), demands(document)) == ([], [])
    told = document["runs"][0]["results"]
    lines = FileLines()
    for one in told:
        path = unquote(one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"])
        place = one["locations"][0]["physicalLocation"]["region"]
        text = lines(path)
        assert place["endLine"] <= len(text)
        assert place["endColumn"] <= len(text[place["endLine"] - 1]) + 1
    assert len(told) > 20
