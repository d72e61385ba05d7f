"""``npulint compare`` and ``npulint check --reference`` in a fake world: what reaches the run, and what comes of it."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from npulint.core.progress import Progress
from npulint.hosts.cli.commands import COMMANDS
from npulint.hosts.cli.completion.model import verbs
from npulint.hosts.cli.host import Host
from npulint.hosts.cli.main import main
from npulint.hosts.cli.outputs import sources_on_the_web
from npulint.judge.findings import RunResult, Summary
from npulint.judge.settings import Settings
from tests.comparison_samples import compared, comparison
from tests.surface_support import Answer, call, finding, sample


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in (".git", "gpu", "npu"):
        (tmp_path / folder).mkdir()
    (tmp_path / "npu" / "train.py").write_text("")
    monkeypatch.chdir(tmp_path)


class World:
    """Remembers what it was asked to compare, and answers `result`."""

    def __init__(self, result: RunResult) -> None:
        self.result = result
        self.asked: list[tuple[Settings, str]] = []
        self.out, self.err = io.StringIO(), io.StringIO()

    def compare(self, settings: Settings, reference: str, progress: Progress | None) -> RunResult:
        self.asked.append((settings, reference))
        return self.result

    def beside(self, result: RunResult, settings: Settings, progress: Progress | None) -> RunResult:
        self.asked.append((settings, settings.reference))
        return RunResult([*result.findings, *self.result.findings], summary=result.summary, comparison=comparison())

    def call(self, *words: str, stdin: bytes = b"") -> Answer:
        stream = io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8")
        one = RunResult([finding()], summary=Summary(1, 1, warnings=1))
        host = Host(
            {},
            stream,
            self.out,
            self.err,
            lambda settings, progress: one,
            lambda path: (),
            lambda files, target, catalogue: sample(),
            compare=self.compare,
            add_comparison=self.beside,
        )
        code = main(list(words), host)
        return Answer(code, self.out.getvalue(), self.err.getvalue(), self.asked[0][0] if self.asked else None)


def test_both_sides_reach_the_comparison() -> None:
    world = World(compared())
    answer = world.call("compare", "gpu", "npu/train.py", "--select", "NPU62", "--target", "cann=8.0", "--jobs=2")
    assert (answer.code, answer.err) == (0, "")
    ((settings, reference),) = world.asked
    assert (reference, settings.paths) == ("gpu", ("npu/train.py",))
    assert (settings.select, settings.target, settings.jobs) == (("NPU62",), {"cann": "8.0"}, 2)
    assert answer.out.startswith("Pre-tuning checklist (4 consistent, 3 different, 2 undetermined)\n")
    assert answer.out.index("Pre-tuning") < answer.out.index("warning[learning-rate-differs]")
    assert "Readiness of" not in answer.out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        pytest.param([], "REFERENCE MIGRATED is missing; usage: npulint compare REFERENCE MIGRATED", id="no side"),
        pytest.param(["gpu"], "MIGRATED is missing; usage: npulint compare REFERENCE MIGRATED", id="one side"),
        pytest.param(["gpu", "npu", "x"], "unexpected argument `x`", id="three sides"),
        pytest.param(["old", "npu"], "old: does not exist, so there is nothing to compare", id="no reference"),
        pytest.param(["gpu", "new"], "new: does not exist, so there is nothing to compare", id="no migrated project"),
        pytest.param(["gpu", "npu", "--fix"], "unknown option `--fix`", id="nothing is mended here"),
        pytest.param(["gpu", "npu", "--reference=gpu"], "unknown option `--reference=gpu`", id="a reference twice"),
    ],
)
def test_mistakes_are_told_and_end_with_2(words: list[str], told: str) -> None:
    world = World(compared())
    answer = world.call("compare", *words)
    assert (answer.code, answer.out, world.asked) == (2, "", [])
    assert answer.err.startswith(f"error: {told}")


@pytest.mark.parametrize(
    ("severity", "words", "code"),
    [
        ("warning", [], 0),
        ("warning", ["--fail-on=warning"], 1),
        ("error", [], 1),
        ("error", ["--exit-zero"], 0),
        ("note", ["--fail-on=note"], 1),
    ],
)
def test_exit_codes_are_those_of_a_check(severity: str, words: list[str], code: int) -> None:
    world = World(compared(findings=[finding(severity=severity)]))
    assert world.call("compare", "gpu", "npu", *words).code == code


def test_a_difference_without_a_finding_is_not_called_good() -> None:
    answer = World(compared(findings=[])).call("compare", "gpu", "npu")
    assert answer.out.endswith("\n3 items differ from the reference\n")


def test_the_configuration_is_that_of_the_migrated_side() -> None:
    Path("npu/npulint.toml").write_text('ignore = ["x"]\nfix = true\nfail-on = "warning"\nreference = "../other"\n')
    Path("gpu/npulint.toml").write_text('ignore = ["y"]\n')
    world = World(compared())
    assert world.call("compare", "gpu", "npu").code == 1
    ((settings, reference),) = world.asked
    assert (settings.ignore, settings.fix, settings.reference, reference) == (("x",), False, "gpu", "gpu")


def test_what_a_configuration_selects_is_meant_for_checks_of_one_project() -> None:
    Path("npu/npulint.toml").write_text('select = ["NPU1"]\n')
    world = World(compared())
    world.call("compare", "gpu", "npu")
    world.call("compare", "gpu", "npu", "--select", "NPU6201")
    assert [settings.select for settings, _ in world.asked] == [(), ("NPU6201",)]


def test_the_command_has_the_options_of_a_check_that_fit_it() -> None:
    (command,) = [one for one in COMMANDS if one.name == "compare"]
    names = {option.name for option in command.options}
    assert {"select", "format", "output", "lang", "verbose", "fail_on", "baseline", "exclude", "cache"} <= names
    assert not names & {"fix", "diff", "unsafe_fixes", "reference", "stdin_filename", "consequences_since"}
    (verb,) = [one for one in verbs("en") if one.name == "compare"]
    assert verb.words.kind == "file"


def test_help_names_both_words() -> None:
    text = call("compare", "--help").out
    assert text.startswith("usage: npulint compare [OPTIONS] [REFERENCE MIGRATED]\n")
    assert "exit codes" in text


def test_a_check_beside_a_reference_tells_both() -> None:
    world = World(compared())
    answer = world.call("check", "npu", "--reference", "gpu", "--format", "json")
    document = json.loads(answer.out)
    assert [one["name"] for one in document["findings"]][:2] == ["native-dropout", "preprocessing-removed"]
    assert document["comparison"]["pairs"][0]["migrated"] == "npu/train.py"
    assert world.asked[0][1] == "gpu"


def test_a_check_without_a_reference_compares_nothing() -> None:
    world = World(compared())
    assert "comparison" not in json.loads(world.call("check", "npu", "--format", "json").out)
    assert world.asked == []


def test_a_reference_in_the_configuration_is_relative_to_it() -> None:
    Path("npu/npulint.toml").write_text('reference = "gpu"\n')
    Path("npu/gpu").mkdir()
    world = World(compared())
    assert world.call("check", "npu").code == 0
    assert world.asked[0][1] == "npu/gpu"


def test_a_reference_that_is_gone_ends_the_check() -> None:
    Path("npu/npulint.toml").write_text('reference = "gone"\n')
    answer = World(compared()).call("check", "npu")
    assert (answer.code, answer.out) == (2, "")
    assert answer.err == "error: npu/gone: does not exist, so there is nothing to compare\n"


@pytest.mark.parametrize("words", [["-"], ["npu/train.py", "--consequences-since=HEAD"]])
def test_one_file_or_a_change_is_not_compared(words: list[str]) -> None:
    Path("npulint.toml").write_text('reference = "gpu"\n')
    world = World(compared())
    assert world.call("check", *words, stdin=b"x = 1\n").code == 0
    assert world.asked == []
    asked = World(compared()).call("check", *words, "--reference", "gpu", stdin=b"x = 1\n")
    assert asked.code == 2
    assert "--reference and -" in asked.err


@pytest.mark.parametrize(
    ("environ", "address"),
    [
        ({}, ""),
        ({"GITHUB_SERVER_URL": "https://github.com", "GITHUB_REPOSITORY": "a/b"}, ""),
        (
            {"GITHUB_SERVER_URL": "https://github.com", "GITHUB_REPOSITORY": "a/b", "GITHUB_SHA": "c0ffee"},
            "https://github.com/a/b/blob/c0ffee",
        ),
        (
            {"CI_PROJECT_URL": "https://gitlab.example/a/b", "CI_COMMIT_SHA": "c0ffee"},
            "https://gitlab.example/a/b/-/blob/c0ffee",
        ),
    ],
)
def test_where_a_ci_shows_the_sources(environ: dict[str, str], address: str) -> None:
    assert sources_on_the_web(environ) == address


def test_the_address_of_the_sources_ends_with_the_folder_of_the_run(tmp_path: Path) -> None:
    root = {"CI_PROJECT_URL": "https://x.example", "CI_COMMIT_SHA": "c", "CI_PROJECT_DIR": str(tmp_path.parent)}
    assert sources_on_the_web(root) == f"https://x.example/-/blob/c/{tmp_path.name}"
