"""``npulint check`` in a fake world: what reaches the run, what is printed, and the exit code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from npulint.facts.model import Problem
from npulint.hosts.cli.reporting import exit_code
from npulint.judge.findings import RunResult, Summary
from npulint.judge.settings import Settings
from tests.project_support import Project
from tests.surface_support import call, finding, sample


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)


ROOT = Path(__file__).parent.parent
ERROR = RunResult([finding(severity="error")], summary=Summary(files=1, read=1))
WARNING = RunResult([finding()], summary=Summary(files=1, read=1))
NOTE = RunResult([finding(severity="note")], summary=Summary(files=1, read=1))
CLEAN = RunResult(summary=Summary(files=1, read=1))


@pytest.mark.parametrize(
    ("result", "words", "code"),
    [
        pytest.param(CLEAN, [], 0, id="nothing found"),
        pytest.param(ERROR, [], 1, id="an error"),
        pytest.param(WARNING, [], 0, id="a warning does not fail by default"),
        pytest.param(WARNING, ["--fail-on", "warning"], 1, id="a warning, asked to fail"),
        pytest.param(NOTE, ["--fail-on=note"], 1, id="a note, asked to fail"),
        pytest.param(NOTE, ["--fail-on=warning"], 0, id="a note below the threshold"),
        pytest.param(ERROR, ["--fail-on", "never"], 0, id="never fails"),
        pytest.param(ERROR, ["--exit-zero"], 0, id="exit zero"),
        pytest.param(NOTE, ["--fail-on=note", "--min-severity=warning"], 0, id="what is not reported does not fail"),
    ],
)
def test_exit_codes(result: RunResult, words: list[str], code: int) -> None:
    assert call("check", *words, result=result).code == code


@pytest.mark.parametrize(
    ("paths", "problem", "code"),
    [
        pytest.param(("a.py",), Problem("a.py", "missing"), 2, id="a named path is missing"),
        pytest.param(("./x/../a.py",), Problem("a.py", "unreadable"), 2, id="a named path, spelled otherwise"),
        pytest.param(("a.py",), Problem("a.py", "not-a-file"), 2, id="a FIFO was named"),
        pytest.param(("a.py",), Problem("a.py", "syntax-error"), 0, id="a named file that does not parse"),
        pytest.param((".",), Problem("a.py", "unreadable"), 0, id="a file that was not named"),
    ],
)
def test_a_named_path_that_cannot_be_read(paths: tuple[str, ...], problem: Problem, code: int) -> None:
    result = RunResult(unreadable=[problem])
    assert exit_code(result, Settings(paths=paths)) == code
    assert exit_code(result, Settings(paths=paths, exit_zero=True)) == code


def test_a_name_that_is_no_utf8_is_known_again() -> None:
    name = os.fsdecode(b"a\xff.py")
    assert exit_code(RunResult(unreadable=[Problem("a\\xff.py", "missing")]), Settings(paths=(name,))) == 2


def test_the_words_reach_the_run() -> None:
    words = "a --select NPU1,topk b --ignore=x --target tensorflow=1.15 --target cann=8.0 --jobs 3 --no-cache c".split()
    settings = call("check", *words).settings
    assert settings is not None
    assert settings.paths == ("a", "b", "c")
    assert (settings.select, settings.ignore) == (("NPU1", "topk"), ("x",))
    assert settings.target == {"tensorflow": "1.15", "cann": "8.0"}
    assert (settings.jobs, settings.cache) == (3, False)


def test_words_after_two_hyphens_are_paths() -> None:
    settings = call("check", "--", "--odd.py").settings
    assert settings is not None
    assert settings.paths == ("--odd.py",)


def test_the_default_is_here_in_plain_text() -> None:
    answer = call("check", result=sample())
    assert answer.settings == Settings()
    assert answer.code == 1
    assert "\nFound 5 findings (1 error, 4 warnings)" in answer.out
    assert "\nerror[variable-in-dataset-map]" in answer.out
    assert "[debug-print]" not in answer.out and "\x1b" not in answer.out
    assert answer.err == ""


def test_notes_are_shown_when_asked_for() -> None:
    assert "note: " in call("check", "--format=concise", "--min-severity=note", result=sample()).out


def test_json_goes_out_whole() -> None:
    document = json.loads(call("check", "--format", "json", result=sample()).out)
    assert len(document["findings"]) == 6


def test_color_is_for_people_only() -> None:
    forced = {"FORCE_COLOR": "1"}
    assert "\x1b[" in call("check", "--format=concise", result=sample(), environ=forced).out
    assert "\x1b[" not in call("check", "--format=json", result=sample(), environ=forced).out
    assert "\x1b[" not in call("check", "--color=never", result=sample(), environ=forced).out


def test_chinese_from_the_environment() -> None:
    answer = call("check", result=sample(), environ={"LANG": "zh_CN.UTF-8"})
    assert answer.settings is not None and answer.settings.lang == "zh"
    assert "共 5 个问题" in answer.out


def test_several_reports_at_once() -> None:
    answer = call(
        "check", "--output", "json=r.json", "--output=concise=r.txt", result=sample(), environ={"FORCE_COLOR": "1"}
    )
    assert answer.out.startswith("\x1b[1mReadiness of models/train.py")
    assert "\n\x1b[1;31merror" in answer.out
    assert len(json.loads(Path("r.json").read_text())["findings"]) == 6
    assert Path("r.txt").read_text().startswith("models/train.py:4:6: error: ")


def test_a_report_that_cannot_be_written_is_an_error() -> None:
    answer = call("check", "--output", "json=no/such/folder/r.json")
    assert answer.code == 2
    assert "no/such/folder/r.json: cannot be written" in answer.err


def test_notices_go_to_the_other_stream() -> None:
    answer = call("check", result=msgspec.structs.replace(CLEAN, notices=["warning: \x1bx"]))
    assert answer.err == "warning: \\x1bx\n"


def test_nothing_to_check_is_said_and_is_no_failure() -> None:
    answer = call("check", "empty", run=lambda settings: RunResult())
    assert answer.code == 0
    assert answer.err == "warning: no files to check in empty\n"
    assert "All good" not in answer.out


def test_standard_input_is_checked_under_its_name() -> None:
    answer = call("check", "-", "--stdin-filename", "sub/x.py", stdin="x = '中'\n".encode())
    assert answer.settings is not None
    assert answer.settings.paths == ("sub/x.py",)
    assert answer.settings.stdin == "x = '中'\n".encode()


def test_standard_input_needs_no_name_and_no_hyphen_with_one() -> None:
    anonymous = call("check", "-").settings
    named = call("check", "--stdin-filename=y.py").settings
    assert anonymous is not None and anonymous.paths == ("stdin.py",)
    assert named is not None and named.stdin == b"" and named.paths == ("y.py",)


def test_standard_input_shows_its_own_source() -> None:
    at_train = RunResult([finding(path="x.py", span=finding().span)], summary=Summary(1, 1))
    source = "\n" * 12 + "name = dropout(x, 0.5, seed=1, name=None)\n"
    answer = call("check", "-", "--stdin-filename=x.py", stdin=source.encode(), result=at_train)
    assert "13 | name = dropout" in answer.out


def test_standard_input_stands_alone() -> None:
    answer = call("check", "-", "a.py")
    assert answer.code == 2 and "standard input" in answer.err


def test_show_files_lists_without_running() -> None:
    Path("b.py").write_text("")
    Path("a.py").write_text("")
    Path("odd\x1b.py").write_text("")
    answer = call("check", "--show-files")
    assert (answer.code, answer.out) == (0, "a.py\nb.py\nodd\\x1b.py\n")
    assert answer.settings is None


def test_the_configuration_is_found_from_the_first_path() -> None:
    Path("sub").mkdir()
    Path("sub/npulint.toml").write_text('fail-on = "warning"\n')
    assert call("check", "sub", result=WARNING).code == 1
    assert call("check", ".", result=WARNING).code == 0


def test_a_named_path_that_is_missing_is_said_on_the_other_stream() -> None:
    answer = call("check", "no\x1b.py", result=RunResult(unreadable=[Problem("no\x1b.py", "missing")]))
    assert (answer.code, answer.err) == (2, "error: no\\x1b.py: does not exist\n")


def test_the_real_pipeline_is_behind_it() -> None:
    Path("a.py").write_text("print 'Python 2'\n")
    Path("b.py").write_text("x = 1\n")
    environ = {**os.environ, "PYTHONPATH": str(ROOT), "NPULINT_CACHE_DIR": os.path.abspath("cache"), "LC_ALL": "C"}
    words = [
        sys.executable,
        "-m",
        "npulint",
        "check",
        "--format=concise",
        "--fail-on=warning",
        "--no-cache",
        "a.py",
        "b.py",
    ]
    done = subprocess.run(words, capture_output=True, text=True, env=environ, check=False)
    assert done.returncode == 1
    assert done.stdout.startswith("a.py:1:1: warning: this is Python 2; it was read as far as possible as Python 3")
    assert "1 file was only partly read: a.py (Python 2)" in done.stdout
    missing = subprocess.run([*words, "nope"], capture_output=True, text=True, env=environ, check=False)
    assert (missing.returncode, missing.stderr) == (2, "error: nope: does not exist\n")


def test_a_missing_path_is_named_once(project: Project) -> None:
    answer = project.run("check", "nosuch", "--isolated")
    assert (answer.code, answer.out, answer.err) == (2, "", "error: nosuch: does not exist\n")
    project.write({"a.py": "x = 1\n"})
    beside = project.run("check", "nosuch", "a.py", "--isolated")
    assert (beside.code, (beside.out + beside.err).count("nosuch")) == (2, 1)
    assert "All checks passed" not in beside.out
    assert "nosuch" in project.run("check", "nosuch", "--isolated", "--format", "json").out
