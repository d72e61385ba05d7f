"""Words of users of other linters, spelling help, narrow terminals, long reports, and numbers in documents."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import msgspec
import pytest

from npulint.core.suggest import closest_match
from npulint.judge.findings import RunResult, Summary
from npulint.report.terminal import cells, folded
from npulint.report.text import first_sentence
from npulint.report.view import ReportView, render
from tests.surface_support import call, finding, sample

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize("word", ["rule", "explain"])
def test_a_rule_is_explained(word: str) -> None:
    assert call(word, "NPU1101").out.startswith("# NPU1101 ")


@pytest.mark.parametrize("flag", ["--format", "--output-format"])
def test_the_format_has_two_spellings(flag: str) -> None:
    assert call("check", flag, "json", result=sample()).out.startswith("{")


@pytest.mark.parametrize(
    ("words", "ours"),
    [
        (("linter",), "npulint rules"),
        (("lint",), "npulint check"),
        (("check", "--show-settings"), "npulint config"),
        (("check", "--output-file=x.txt"), "--output FORMAT=FILE"),
        (("check", "--add-noqa"), "--add-ignore"),
        (("check", "-s"), "--quiet"),
    ],
)
def test_other_words_are_translated(words: tuple[str, ...], ours: str) -> None:
    answer = call(*words)
    assert (answer.code, answer.err.endswith(f"; use `{ours}` instead\n")) == (2, True)


@pytest.mark.parametrize(
    ("word", "told"),
    [
        ("NPU99", "there is no check named `NPU99`\n"),
        ("NPU1011", "there is no check named `NPU1011`\n"),
        ("hygiene", "npulint rules --select hygiene\n"),
        ("NPU11", "npulint rules --select NPU11\n"),
        ("task-queue-of", "did you mean `task-queue-off`?\n"),
    ],
)
def test_a_check_that_is_none(word: str, told: str) -> None:
    answer = call("explain", word)
    assert (answer.code, answer.err.endswith(told)) == (2, True)


def test_a_code_is_not_mistaken_for_one_of_another_family() -> None:
    codes = ("NPU1101", "NPU2299", "NPU2301")
    assert closest_match("NPU99", codes) == ""
    assert closest_match("NPU2398", codes) == "NPU2301"
    assert closest_match("npu1110", codes) == "NPU1101"


def test_rules_show_their_status() -> None:
    rows = call("rules").out.splitlines()
    assert {row.split()[3] for row in rows} == {"preview", "stable"}


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("color", [False, True])
def test_a_report_fits_a_narrow_terminal(lang: str, color: bool) -> None:
    text = render("text", sample(), ReportView(lang=lang, width=50, color=color, links=color))
    plain = re.sub(r"\x1b\[[0-9;]*m|\x1b\]8;;.*?\x1b\\", "", text)
    wide = [line for line in plain.splitlines() if cells(line) > 50]
    assert all(" " not in line.strip().removeprefix("--> ").removeprefix("::: ") for line in wide), wide


@pytest.mark.parametrize(
    ("line", "rows"),
    [
        (
            "  failed  loss scale is enabled    a.py:3",
            ["  failed  loss scale is", "          enabled    a.py:3"],
        ),
        ("Found 11 findings in 4 of 7 files and more", ["Found 11 findings in 4 of 7", "    files and more"]),
        ("  --> a/long/path/with no end/and more.py:3", ["  --> a/long/path/with no end/and more.py:3"]),
        ("\x1b[1mbold words that go on and on, on\x1b[0m", ["\x1b[1mbold words that go on and", "    on, on\x1b[0m"]),
    ],
)
def test_folding(line: str, rows: list[str]) -> None:
    assert folded(line, 28) == rows
    assert folded(line, 0) == [line]


def many(number: int) -> RunResult:
    """A result with findings of many checks, three of each."""
    found = [
        finding(code=f"NPU13{check:02}", name=f"check-{check}", span=msgspec.structs.replace(finding().span, line=line))
        for check in range(number)
        for line in (4, 13, 14)
    ]
    return RunResult(found, summary=Summary(files=1, read=1, warnings=len(found)))


def test_a_long_report_is_short_unless_it_shall_be_verbose() -> None:
    short = render("text", many(20), ReportView())
    long = render("text", many(20), ReportView(verbose=True))
    assert "\nFound 60 findings" in short and "Shortened because of the number of checks" in short
    assert short.count("models/train.py:14:") >= 20 and "why:" not in short
    assert len(short.splitlines()) < 20 * 6 + 20 < len(long.splitlines())
    few = render("text", many(5), ReportView())
    assert "why:" in few and "Shortened" not in few


def test_the_first_sentence() -> None:
    assert first_sentence("Write `a.b`. Then run it.") == "Write `a.b`."
    assert first_sentence("改为 `npu`。然后运行。") == "改为 `npu`。"


NUMBERS = {4: ("four", "四"), 5: ("five", "五")}


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_number_of_dependencies_in_documents(lang: str) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needed = [one for one in project["dependencies"] if "python_version" not in one]
    text = (ROOT / "docs" / lang / "getting-started.md").read_text(encoding="utf-8")
    word = NUMBERS[len(needed)][lang == "zh"]
    assert f"{word} small dependencies" in text if lang == "en" else f"{word}个小依赖" in text


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_every_family_of_codes_is_documented(lang: str) -> None:
    text = (ROOT / "docs" / lang / "configuration.md").read_text(encoding="utf-8")
    families = {row.split()[0][3] for row in call("rules").out.splitlines()}
    assert families - {"9"} <= set(re.findall(r"^\| (\d) \|", text, re.MULTILINE))


@pytest.mark.parametrize(("lang", "word"), [("en", "--fix"), ("zh", "--fix")])
def test_documents_say_that_fixes_change_files(lang: str, word: str) -> None:
    text = (ROOT / "docs" / lang / "faq.md").read_text(encoding="utf-8")
    assert "never changes files" not in text and word in text
