"""Further reports: into files, after the main one, and into the summary of a step that other commands write to."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from npulint.core.atomic_files import Folder
from npulint.hosts.cli.outputs import SUMMARY_LIMIT, folder_in_repository, save
from npulint.judge.findings import RunResult, Summary
from tests.project_support import Project
from tests.surface_support import call, finding, sample

HEADING = "# Readiness for Ascend NPUs\n"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)


def summary(size: int = 0, end: str = "") -> dict[str, str]:
    Path("summary.md").write_text("x" * size + end, encoding="utf-8")
    return {"GITHUB_STEP_SUMMARY": os.path.abspath("summary.md")}


@pytest.mark.parametrize("name", ["-", "/dev/stdout", "/dev/fd/1"])
def test_a_further_report_follows_the_main_one(name: str) -> None:
    answer = call("check", "--format=concise", f"--output=json={name}", result=sample())
    main, brace, document = answer.out.partition("{\n")
    assert main == call("check", "--format=concise", result=sample()).out
    assert len(json.loads(brace + document)["findings"]) == 6
    assert not Path("-").exists()


def test_standard_output_is_not_opened_anew(project: Project) -> None:
    project.write({"a.py": "import torch\n"})
    answer = project.spawn("check", "--lang=en", "--format=concise", "--output=concise=/dev/stdout", "--no-cache")
    first, second = answer.out[: len(answer.out) // 2], answer.out[len(answer.out) // 2 :]
    assert first == second != ""


def test_on_standard_output_colours_are_as_on_the_main_report() -> None:
    words = ("check", "--format=json", "--output=concise=-")
    assert "\x1b[" in call(*words, result=sample(), environ={"FORCE_COLOR": "1"}).out
    assert "\x1b[" not in call(*words, result=sample()).out


@pytest.mark.parametrize(
    ("before", "start"),
    [("", HEADING), ("# other\n", f"# other\n\n{HEADING}"), ("a", f"a\n\n{HEADING}"), ("a\n\n", f"a\n\n{HEADING}")],
)
def test_the_summary_of_a_step_is_added_to(before: str, start: str) -> None:
    environ = summary(end=before)
    assert call("check", "--output=markdown=summary.md", result=sample(), environ=environ).err == ""
    assert Path("summary.md").read_text().startswith(start)
    call("check", "--output=markdown=./summary.md", result=sample(), environ=environ)
    assert Path("summary.md").read_text().count(HEADING) == 2


def test_the_summary_is_known_by_any_name() -> None:
    environ = summary(end="# other\n")
    Path("link.md").symlink_to("summary.md")
    call("check", "--output=markdown=link.md", result=sample(), environ=environ)
    assert Path("summary.md").read_text().startswith("# other\n")


def test_any_other_file_is_written_anew() -> None:
    environ = summary()
    for _ in range(2):
        call("check", "--output=markdown=other.md", result=sample(), environ=environ)
    assert Path("other.md").read_text().count(HEADING) == 1 and Path("summary.md").read_text() == ""


def test_a_summary_that_is_not_there_yet_is_made() -> None:
    call(
        "check", "--output=markdown=new.md", result=sample(), environ={"GITHUB_STEP_SUMMARY": os.path.abspath("new.md")}
    )
    assert Path("new.md").read_text().startswith(HEADING)


@pytest.mark.parametrize("free", [30_000, 5_000])
def test_the_report_takes_the_room_that_others_left(free: int) -> None:
    many = RunResult([finding(path=f"{n}.py") for n in range(3000)], summary=Summary(1, 1))
    environ = summary(SUMMARY_LIMIT - free)
    answer = call("check", "--output=markdown=summary.md", result=many, environ=environ)
    size = Path("summary.md").stat().st_size
    assert SUMMARY_LIMIT - free // 4 < size <= SUMMARY_LIMIT and answer.err == ""
    assert "more findings do not fit in this summary" in Path("summary.md").read_text()


@pytest.mark.parametrize("free", [100, 0, -5])
def test_a_full_summary_is_left_alone(free: int) -> None:
    environ = summary(SUMMARY_LIMIT - free)
    answer = call("check", "--output=markdown=summary.md", result=sample(), environ=environ)
    assert Path("summary.md").stat().st_size == SUMMARY_LIMIT - free
    assert answer.err == "warning: summary.md: the report does not fit in the summary of this step\n"
    assert answer.code == 1


def test_a_summary_that_cannot_be_written_is_an_error() -> None:
    environ = {"GITHUB_STEP_SUMMARY": os.path.abspath("no/such/summary.md")}
    answer = call("check", "--output=markdown=no/such/summary.md", result=sample(), environ=environ)
    assert answer.code == 2 and "no/such/summary.md: cannot be written" in answer.err


def test_a_failed_write_leaves_nothing_new_and_what_was_there(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int, data: bytes) -> None:
        os.write(descriptor, bytes(data[:3]))
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    Path("old.json").write_text("old")
    monkeypatch.setattr("npulint.core.atomic_files.put", full)
    for name in ("new.json", "old.json"):
        answer = call("check", f"--output=json={name}", result=sample())
        assert answer.code == 2 and f"{name}: cannot be written: No space left" in answer.err
    assert sorted(os.listdir()) == [".git", "old.json"] and Path("old.json").read_text() == "old"


def test_a_report_that_cannot_be_made_leaves_what_was_there() -> None:
    Path("old.md").write_text("old")

    def parts(limit: int) -> Iterator[str]:
        yield "half"
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        save("old.md", parts, {}, "en")
    assert sorted(os.listdir()) == [".git", "old.md"] and Path("old.md").read_text() == "old"


def test_a_file_keeps_its_mode_its_links_and_its_names() -> None:
    Path("real.md").write_text("old" * 10_000)
    os.chmod("real.md", 0o640)
    Path("link.md").symlink_to("real.md")
    os.link("real.md", "second.md")
    for name in ("link.md", "second.md"):
        call("check", f"--output=markdown={name}", result=sample())
        assert Path("real.md").read_text().startswith(HEADING) and Path("real.md").read_text()[-3:] != "old"
    assert Path("link.md").is_symlink() and os.stat("real.md").st_mode & 0o777 == 0o640
    assert os.stat("real.md").st_ino == os.stat("second.md").st_ino


def test_a_file_in_the_place_of_which_none_can_be_put_is_overwritten(monkeypatch: pytest.MonkeyPatch) -> None:
    def mounted(self: Folder, old: str, new: str) -> None:
        raise OSError(errno.EBUSY, os.strerror(errno.EBUSY))

    Path("report.md").write_text("old" * 10_000)
    monkeypatch.setattr(Folder, "replace", mounted)
    call("check", "--output=markdown=report.md", result=sample())
    assert Path("report.md").read_text().startswith(HEADING) and sorted(os.listdir()) == [".git", "report.md"]


def test_a_pipe_gets_the_report_as_it_comes() -> None:
    os.mkfifo("pipe")
    reader = os.open("pipe", os.O_RDONLY | os.O_NONBLOCK)
    call("check", "--output=markdown=pipe", result=sample())
    assert os.read(reader, 1 << 16).decode().startswith(HEADING)
    os.close(reader)


@pytest.mark.parametrize(
    ("folder", "environ", "expected"),
    [
        (".", {}, ""),
        (".", {"GITHUB_WORKSPACE": "."}, ""),
        ("a/b", {"GITHUB_WORKSPACE": "."}, "a/b"),
        ("a/b", {"GITHUB_WORKSPACE": "a/b"}, ""),
        ("a/b", {"GITHUB_WORKSPACE": "a/c"}, ""),
        ("a/b", {"GITHUB_WORKSPACE": "..", "CI_PROJECT_DIR": "a"}, "b"),
        ("a", {"CI_PROJECT_DIR": "a/b"}, ""),
        ("..a", {"CI_PROJECT_DIR": "."}, "..a"),
    ],
)
def test_where_the_working_directory_lies(
    folder: str, environ: Mapping[str, str], expected: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    roots = {key: str(tmp_path / value) for key, value in environ.items() if value != ".."}
    roots |= {key: str(tmp_path / "elsewhere") for key, value in environ.items() if value == ".."}
    Path(folder).mkdir(parents=True, exist_ok=True)
    monkeypatch.chdir(folder)
    assert folder_in_repository(roots) == expected


def test_annotations_name_files_from_the_root_of_the_repository(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    Path("sub").mkdir()
    monkeypatch.chdir("sub")
    environ = {"GITHUB_WORKSPACE": str(tmp_path)}
    assert "file=sub/models/train.py,line=4," in call("check", "--format=github", result=sample(), environ=environ).out
    assert "file=models/train.py,line=4," in call("check", "--format=github", result=sample()).out


def test_what_goes_to_the_other_stream_is_no_command() -> None:
    answer = call("check", result=RunResult(notices=["warning: a\n::error::b", "##[add-mask]c"]))
    assert answer.err.startswith("warning: a\n| ::error::b\n\\x23#[add-mask]c\n")
