"""Whole reports against recorded ones, in both languages. After a wanted change run this file as a script
(``python -m tests.test_report_formats``) and read the difference."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from npulint import __version__
from npulint.facts.model import Problem, Span
from npulint.judge.findings import ChecklistItem, Evidence, Finding, Fix, ProgramSummary, Related, RunResult, Summary
from npulint.judge.priorities import first_steps
from npulint.judge.settings import FORMATS, PEOPLE_FORMATS
from npulint.report.json import encodable
from npulint.report.terminal import cells
from npulint.report.view import ReportView, render
from tests.surface_support import finding, sample, source

GOLDEN = Path(__file__).parent / "golden"
ON_NPU = ChecklistItem("device", "on the NPU", "passed")
CASES = [(name, lang) for name in FORMATS for lang in ("en", "zh")]


def shown(format_name: str, lang: str) -> str:
    lowest = "warning" if format_name in PEOPLE_FORMATS else "note"
    text = render(format_name, sample(), ReportView(lang=lang, shown_from=lowest, lines=source))
    text = text.replace(f'"{__version__}"', '"VERSION"')
    return without_assets(text) if format_name == "html" else text


def without_assets(text: str) -> str:
    """A page without its style and script, and without what depends on their text or on the version."""
    text = re.sub("<(style|script)>.*?</\\1>", "<\\1></\\1>", text, flags=re.S)
    text = re.sub("sha256-[^']*", "sha256-DIGEST", text)
    return text.replace(f"npulint {__version__}", "npulint VERSION").replace(f">{__version__}<", ">VERSION<")


@pytest.mark.parametrize(("format_name", "lang"), CASES)
def test_report_is_as_recorded(format_name: str, lang: str) -> None:
    assert shown(format_name, lang) == (GOLDEN / f"report.{format_name}.{lang}").read_text(encoding="utf-8")


@pytest.mark.parametrize("format_name", PEOPLE_FORMATS)
def test_reports_for_people_hold_no_control_characters(format_name: str) -> None:
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]", shown(format_name, "en"))


def test_colour_changes_nothing_but_colour() -> None:
    plain = ReportView(shown_from="warning", lines=source)
    colored = render("text", sample(), msgspec.structs.replace(plain, color=True))
    assert "\x1b[" in colored
    assert re.sub("\x1b\\[[0-9;]*m", "", colored) == render("text", sample(), plain)


def test_a_terminal_has_its_advice_wrapped() -> None:
    long = finding(why="word " * 40, fix=Fix("模型" * 40))
    text = render("text", RunResult([long], summary=Summary(files=1, read=1)), ReportView(width=60))
    assert max(map(cells, text.split("\n")[2:-3])) <= 60
    assert "\n          word" in text


def concise(result: RunResult, **view: Any) -> str:
    return render("concise", result, ReportView(**view))


def test_each_concise_line_can_be_matched() -> None:
    pattern = re.compile(r"^(.+?):(\d+):(\d+): (error|warning|note): (.+) \[([a-z0-9-]+)\] \((NPU\d{4})\)$")
    rows = shown("concise", "zh").split("\n")
    assert len([row for row in rows if pattern.match(row)]) == 5


@pytest.mark.parametrize(
    ("result", "line"),
    [
        pytest.param(
            RunResult(
                programs=[ProgramSummary("a", 1, "torch", "migrated", roles=("train",), checklist=(ON_NPU,))],
                summary=Summary(files=3, read=3),
            ),
            "1 training program: nothing found that stops or slows it on the NPU or makes its results wrong\n"
            "No findings in 3 files\n",
            id="nothing found",
        ),
        pytest.param(
            RunResult(summary=Summary(files=1, read=1)),
            "1 file checked: no program uses TensorFlow or PyTorch, nothing to migrate\n",
            id="nothing to migrate",
        ),
        pytest.param(
            RunResult(unreadable=[Problem("b.py", "json")], summary=Summary(files=3, read=2, skipped=1)),
            "2 files checked; nothing found; 1 file was not read\n"
            "No findings in the 2 files that were read\n1 file was not read: b.py (invalid JSON)\n",
            id="not clean when a file was not read",
        ),
        pytest.param(RunResult(), "Nothing was checked: no file was read\n", id="nothing read is not clean"),
        pytest.param(
            RunResult([finding(severity="note")], summary=Summary(files=1, read=1, suppressed=1, hidden=3)),
            "1 file checked; findings: 1 is about speed\n"
            "No errors or warnings in 1 file; 1 finding below warning not shown (--min-severity note); "
            "3 hidden by thresholds; 1 suppressed by a comment\n",
            id="what is not shown is told",
        ),
        pytest.param(
            RunResult(unreadable=[Problem(f"{i}.py", "too-large") for i in range(7)], summary=Summary(7, 0, 7)),
            "Nothing was checked: no file was read\n7 files were not read: "
            + ", ".join(f"{i}.py (too large)" for i in range(5))
            + ", 2 more\n",
            id="many files that were not read",
        ),
        pytest.param(
            RunResult(unreadable=[Problem("a.py", "new-reason")], summary=Summary(1, 0, 1)),
            "Nothing was checked: no file was read\n1 file was not read: a.py (cannot be read)\n",
            id="a reason without words",
        ),
    ],
)
def test_last_lines(result: RunResult, line: str) -> None:
    assert concise(result, shown_from="warning") == line


def test_statistics_count_by_check_and_category() -> None:
    text = concise(sample(), shown_from="warning", statistics=True)
    assert text.endswith(
        "\nCounts\n"
        "  2  native-dropout (NPU1301)\n"
        "  1  plain-config-proto (NPU1103)\n"
        "  1  syntax-error (NPU0101)\n"
        "  1  variable-in-dataset-map (NPU1101)\n"
        "  3  functional\n"
        "  2  performance\n"
        "  0.25 s\n"
    )
    document = json.loads(render("json", sample(), ReportView(statistics=True)))
    assert document["summary"]["categories"] == {"functional": 3, "hygiene": 1, "performance": 2}
    assert document["summary"]["checks"]["native-dropout"] == 2


def step(code: str, **changes: Any) -> Finding:
    return finding(code=code, **changes)


@pytest.mark.parametrize(
    ("findings", "codes"),
    [
        pytest.param([], [], id="nothing to do"),
        pytest.param([step("A"), step("B", severity="error")], ["B", "A"], id="errors first"),
        pytest.param(
            [step("A"), step("B", category="precision"), step("C", category="functional")],
            ["C", "B", "A"],
            id="then what keeps it from running",
        ),
        pytest.param([step("A", confidence="low"), step("B")], ["B", "A"], id="then the surest"),
        pytest.param([step("A"), step("B"), step("B")], ["B", "A"], id="then the most frequent"),
        pytest.param(
            [step("A", topic="parse", category="functional"), step("B", category="hygiene")],
            ["B", "A"],
            id="broken files last of their severity",
        ),
        pytest.param([step(c) for c in "DCBA"], ["A", "B", "C"], id="three at most, in code order"),
    ],
)
def test_what_to_do_first(findings: list[Finding], codes: list[str]) -> None:
    assert [one.first.code for one in first_steps(findings)] == codes


def test_what_to_do_first_is_there_whenever_something_is_left_to_do() -> None:
    single = RunResult([finding()], summary=Summary(files=1, read=1))
    item = ChecklistItem("device", "training runs on the NPU", "unknown")
    undecided = RunResult(programs=[ProgramSummary("t.py", 1, "torch", "x", checklist=(item,))])
    assert "What to do first" in render("text", single, ReportView())
    assert "Check the 1 item of t.py" in render("text", undecided, ReportView()).partition("What to do first")[2]
    assert "What to do first" not in render("text", RunResult(summary=Summary(files=1, read=1)), ReportView())


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_an_item_that_a_step_fails_is_not_done_twice(lang: str) -> None:
    place = Evidence("models/train.py", finding().span, "native-dropout", "NPU1301")
    item = ChecklistItem("operators", "no slow operator", "failed", place, failures=(place,))
    result = RunResult([finding()], [ProgramSummary("t.py", 1, "torch", "x", checklist=(item,))])
    assert render("text", result, ReportView(lang=lang)).count("no slow operator") == 1  # in the checklist


def test_a_change_with_few_findings_needs_no_advice_where_to_begin() -> None:
    three, four = ([finding()] * number for number in (3, 4))
    view = ReportView(change=True)
    assert "What to do first" not in render("text", RunResult(three), view)
    assert "native-dropout: 4 places, begin at models/train.py:13" in render("text", RunResult(four), view)


def test_what_was_said_of_a_check_is_not_said_again() -> None:
    twice = [finding(), finding(fix=Fix("Another fix."))]
    text = render("text", RunResult(twice, summary=Summary(files=1, read=1)), ReportView())
    assert text.count("= why:") == 1
    assert text.count("= fix:") == 2


def test_many_related_places_and_programs_are_cut_short() -> None:
    places = tuple(Related(f"{i}.py", finding().span, "there") for i in range(5))
    programs = [ProgramSummary("train.py", 1, "mindspore", "unknown", (), ("train",))]
    programs += [ProgramSummary(f"{i}.py", 1, "torch", "partial", (), ("library",)) for i in range(10)]
    result = RunResult([finding(related=places)], programs, summary=Summary(files=1, read=1))
    text = render("text", result, ReportView())
    assert "... and 2 more places" in text
    assert "... and 3 more programs" in text
    assert text.index("  train.py  mindspore, trains\n") < text.index("  0.py      PyTorch, partly migrated, library\n")


def test_places_that_are_not_shown_are_those_that_the_message_counts() -> None:
    covered = tuple(Related("a.py", Span(line, 1, line, 9), "there") for line in range(2, 7))
    explained = (Related("a.py", Span(20, 1, 20, 9), "imported"), Related("a.py", Span(21, 1, 21, 9), "imported"))
    one = finding(message="6 places in 1 file", related=(*covered, *explained), places=6)
    result = RunResult([one], summary=Summary(files=1, read=1))
    assert "... and 2 more places" in render("text", result, ReportView())  # 1 + 3 shown
    assert "more place" not in render("text", result, ReportView(verbose=True))
    assert "... and 2 more places" in render("sarif", result, ReportView())
    few = finding(message="2 places in 1 file", related=(covered[0], *explained, *explained), places=2)
    assert "more place" not in render("text", RunResult([few], summary=Summary(files=1, read=1)), ReportView())


def test_a_program_with_nothing_open_says_so_briefly() -> None:
    program = ProgramSummary("a", 1, "torch", "migrated", checklist=(ChecklistItem("device", "on the NPU", "passed"),))
    text = render("text", RunResult(programs=[program], summary=Summary(files=1, read=1)), ReportView())
    assert "  a  PyTorch, migrated, 1 ready\n" in text


def test_json_has_exactly_the_keys_of_version_1() -> None:
    document = json.loads(shown("json", "en"))
    keys = "version tool target summary programs findings unread verdict first_steps".split()
    assert list(document) == keys
    assert document["version"] == 1
    assert list(document["programs"][0]) == "entry files framework state file_role started_by checklist".split()
    assert (
        list(document["findings"][0])
        == (
            "code name topic category severity confidence path line column end_line end_column message why fix related "
            "program fingerprint url"
        ).split()
    )
    assert list(document["findings"][0]["fix"]) == ["text", "applicability"]
    assert list(document["findings"][0]["related"][0]) == ["path", "line", "message"]
    assert document["unread"] == [{"path": "old/a\x1b[31m\n.py", "reason": "python2"}]


def test_json_counts_what_it_shows() -> None:
    document = json.loads(render("json", sample(), ReportView(shown_from="error")))
    assert document["summary"]["findings"] == len(document["findings"]) == 1
    assert (document["summary"]["errors"], document["summary"]["warnings"], document["summary"]["notes"]) == (1, 0, 0)


def test_json_survives_texts_that_are_no_unicode() -> None:
    result = RunResult([finding(message="a\udcff", path="\ud800")])
    document = json.loads(render("json", result, ReportView()))
    assert document["findings"][0]["message"] == "a\\udcff"
    assert encodable({"\udc80": ["x", 1, None]}) == {"\\udc80": ["x", 1, None]}


def test_json_tells_no_time() -> None:
    later = msgspec.structs.replace(sample(), summary=msgspec.structs.replace(sample().summary, seconds=9.0))
    assert render("json", later, ReportView()) == render("json", sample(), ReportView())


if __name__ == "__main__":
    for format_name, lang in CASES:
        GOLDEN.joinpath(f"report.{format_name}.{lang}").write_text(shown(format_name, lang), encoding="utf-8")


def test_verbose_lists_every_related_place() -> None:
    places = tuple(Related("a.py", Span(n, 1, n, 2), f"place {n}") for n in range(2, 9))
    result = RunResult(findings=[finding(related=places)], summary=Summary(1, 1))
    for render_one in ("text", "concise"):
        brief = render(render_one, result, ReportView())
        full = render(render_one, result, ReportView(verbose=True))
        assert [full.count(f"a.py:{n}:1") for n in range(2, 9)] == [1] * 7
        assert sum(brief.count(f"a.py:{n}:1") for n in range(2, 9)) < 7
