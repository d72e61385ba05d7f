"""What --fix reports is what it wrote: a fix of a file that was not written stays a finding, in every format."""

from __future__ import annotations

import errno
import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from npulint.commands.check.fix_command import apply_fixes
from npulint.commands.check.pipeline import check_paths
from npulint.fix.write import as_written, write_all
from npulint.judge.catalogue.load import load_catalogue
from npulint.judge.findings import RunResult
from npulint.judge.fix_results import FileChange, Fixed, FixResult
from npulint.judge.settings import FORMATS, Settings
from tests.fix_checks import CODES, FOLDER, MODEL, SAFE, WHOLE, in_folder
from tests.project_support import Answer, Project
from tests.write_failures import refuse

MINE = ("--checks", FOLDER, "--select", ",".join(CODES), "--no-cache")
POSIX = pytest.mark.skipif(os.name != "posix", reason="needs POSIX")


@pytest.fixture
def mine(project: Project) -> Project:
    """Two files with the same findings: one safe error and one unsafe warning each."""
    in_folder()
    return project.write({"a.py": MODEL.encode(), "b.py": MODEL.encode()})


def fixing(project: Project, *words: str) -> Answer:
    return project.run("check", "--fix", *words, *MINE)


def text_of(project: Project, name: str) -> str:
    return (project.folder / name).read_bytes().decode()


Failure = Callable[[pytest.MonkeyPatch, Project, str], str]
"""Makes writing a file fail; returns the expected reason."""


def no_space(monkeypatch: pytest.MonkeyPatch, project: Project, name: str) -> str:
    refuse(monkeypatch, name, errno.ENOSPC)
    return f"the file cannot be written: {os.strerror(errno.ENOSPC)}"


def read_only(monkeypatch: pytest.MonkeyPatch, project: Project, name: str) -> str:
    refuse(monkeypatch, name, errno.EROFS)
    return f"the file cannot be written: {os.strerror(errno.EROFS)}"


def lost_at_last(monkeypatch: pytest.MonkeyPatch, project: Project, name: str) -> str:
    """The disk is full when the data is synced."""
    descriptors: list[int] = []
    opened, synced = os.open, os.fsync

    def watched(path: Any, flags: int, *more: Any, **named: Any) -> int:
        descriptor = opened(path, flags, *more, **named)
        if os.path.basename(os.fspath(path)).startswith(f".{name}."):
            descriptors.append(descriptor)
        elif descriptor in descriptors:
            descriptors.remove(descriptor)
        return descriptor

    def full(descriptor: int) -> None:
        if descriptor in descriptors:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        synced(descriptor)

    monkeypatch.setattr(os, "open", watched)
    monkeypatch.setattr(os, "fsync", full)
    return f"the file cannot be written: {os.strerror(errno.ENOSPC)}"


def changed_meanwhile(monkeypatch: pytest.MonkeyPatch, project: Project, name: str) -> str:
    """Somebody saves the file between reading and writing."""
    edit_later(monkeypatch, project.folder / name, MODEL + "\n")
    return "the file was modified during the check"


def edit_later(monkeypatch: pytest.MonkeyPatch, place: Path, text: str) -> None:
    real = os.fsync

    def later(descriptor: int) -> None:
        real(descriptor)
        place.write_bytes(text.encode())

    monkeypatch.setattr(os, "fsync", later)


FAILURES = (no_space, read_only, lost_at_last, changed_meanwhile)


@POSIX
@pytest.mark.parametrize("failure", FAILURES)
@pytest.mark.parametrize("unsafe", [False, True])
def test_a_file_that_was_not_written_keeps_its_findings(
    mine: Project, monkeypatch: pytest.MonkeyPatch, failure: Failure, unsafe: bool
) -> None:
    (mine.folder / "a.py").unlink()
    before = mine.check(*MINE).document
    reason = failure(monkeypatch, mine, "b.py")
    words = ("--unsafe-fixes",) if unsafe else ()
    answer = fixing(mine, "--format=json", *words)
    monkeypatch.undo()
    assert answer.code == 2
    assert answer.err == f"error: b.py: not fixed: {reason}\n"
    assert answer.findings == before["findings"]
    assert answer.document["summary"]["errors"] == before["summary"]["errors"] == 1
    assert answer.document["fixed"] == []
    refused = [(one["path"], one["line"], one["name"], one["reason"]) for one in answer.document["refused"]]
    expected = [("b.py", 3, "safe-call", reason), ("b.py", 4, "unsafe-call", reason)]
    assert refused == expected[: 1 + unsafe]
    assert text_of(mine, "b.py").rstrip() == MODEL.rstrip()
    assert sorted(os.listdir(mine.folder)) == ["b.py"]


@POSIX
@pytest.mark.parametrize("failure", FAILURES)
def test_the_part_that_was_written_is_fixed_and_the_other_is_not(
    mine: Project, monkeypatch: pytest.MonkeyPatch, failure: Failure
) -> None:
    reason = failure(monkeypatch, mine, "b.py")
    answer = fixing(mine, "--format=json", "--unsafe-fixes")
    monkeypatch.undo()
    assert answer.code == 2
    assert text_of(mine, "a.py") == WHOLE
    assert [(one["path"], one["name"]) for one in answer.findings] == [("b.py", "safe-call"), ("b.py", "unsafe-call")]
    assert {one["path"] for one in answer.document["fixed"]} == {"a.py"}
    assert {(one["path"], one["reason"]) for one in answer.document["refused"]} == {("b.py", reason)}
    assert answer.document["summary"]["fixable"] == {"safe": 1, "unsafe": 1}


def without_time(text: str) -> str:
    return re.sub(r'(?:time|"?seconds"?)[=:] ?"?[\d.]+"?', "", text)


@POSIX
@pytest.mark.parametrize("format_name", FORMATS)
def test_every_format_reports_what_a_check_reports_afterwards(
    mine: Project, monkeypatch: pytest.MonkeyPatch, format_name: str
) -> None:
    """Apart from the fixes themselves, a format says the same of the files as they are."""
    with monkeypatch.context() as failing:
        no_space(failing, mine, "b.py")
        answer = fixing(mine, "--format", format_name, "--unsafe-fixes")
    assert answer.code == 2
    after = mine.run("check", "--format", format_name, "--unsafe-fixes", *MINE)
    assert (text_of(mine, "a.py"), text_of(mine, "b.py")) == (WHOLE, MODEL)
    if format_name in ("checkstyle", "gitlab", "junit"):
        assert without_time(answer.out) == without_time(after.out)
        assert "b.py" in answer.out
        return
    for name in ("safe-call", "unsafe-call"):
        assert name in answer.out
    if format_name in ("text", "concise", "markdown", "github"):
        assert "Fixed 2 findings in 1 file" in answer.out
        assert "2 findings remaining" in answer.out or format_name == "markdown"
        assert "No findings" not in answer.out


@POSIX
def test_the_text_report_counts_what_was_written(mine: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    (mine.folder / "a.py").unlink()
    reason = no_space(monkeypatch, mine, "b.py")
    answer = fixing(mine, "--unsafe-fixes")
    end = f"""
Nothing was fixed
2 could not be fixed:
  b.py:3  safe-call  {reason}
  b.py:4  unsafe-call  {reason}
2 findings remaining (1 error, 1 warning) in 1 of 1 file
"""
    assert end in answer.out
    chinese = fixing(mine, "--lang", "zh")
    assert f"b.py：未修复：无法写入该文件：{os.strerror(errno.ENOSPC)}" in chinese.err


@POSIX
def test_the_page_and_a_further_report_say_the_same(mine: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    reason = no_space(monkeypatch, mine, "b.py")
    outputs = ("--output", "json=out.json", "--output", "sarif=out.sarif", "--output", "jsonl=out.jsonl")
    page = fixing(mine, "--format=html", "--unsafe-fixes", *outputs).out
    assert "Fixed 2 findings in 1 file" in page and page.count(reason) == 2
    document = json.loads((mine.folder / "out.json").read_bytes())
    assert (len(document["fixed"]), len(document["refused"]), len(document["findings"])) == (2, 2, 2)
    (run,) = json.loads((mine.folder / "out.sarif").read_bytes())["runs"]
    assert [result["ruleId"] for result in run["results"]] == ["NPU5190", "NPU5191"]
    assert (len(run["properties"]["fixed"]), len(run["properties"]["refused"])) == (2, 2)
    rows = [json.loads(row) for row in (mine.folder / "out.jsonl").read_text().splitlines()]
    assert [row["kind"] for row in rows].count("refused") == 2


@POSIX
def test_what_somebody_writes_meanwhile_is_what_is_reported(mine: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    (mine.folder / "a.py").unlink()
    text = "import torch\n\n\n\nz = torch.old_safe(3)\n"
    edit_later(monkeypatch, mine.folder / "b.py", text)
    answer = fixing(mine, "--format=json", "--unsafe-fixes")
    assert (answer.code, text_of(mine, "b.py")) == (2, text)
    assert answer.places("safe-call") == ["b.py:5"]
    assert answer.names == ["safe-call"]


def test_a_file_that_was_changed_after_its_check_is_checked_again(mine: Project) -> None:
    """The place of the finding holds other code by then."""
    (mine.folder / "a.py").unlink()
    settings = Settings(paths=(str(mine.folder),), checks=(FOLDER,), select=tuple(CODES), cache=False)
    first = check_paths(settings, load_catalogue((FOLDER,), whole=False))
    text = MODEL.replace("old_safe", "other")
    mine.write({"b.py": (text + "torch.old_safe(7)\n").encode()})
    (change,) = (one for one in apply_fixes(settings, False, first=first).files if one.path.endswith("b.py"))
    assert change.after.decode() == text + "torch.safe(7)\n"


@POSIX
def test_the_baseline_keeps_what_was_not_written(mine: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    baseline = mine.folder / "npulint-baseline.json"
    mine.run("check", "--write-baseline", *MINE)
    whole = baseline.read_bytes()
    for name in ("a.py", "b.py"):
        mine.write({name: f"{MODEL}torch.old_safe(7)\n".encode()})
    no_space(monkeypatch, mine, "b.py")
    answer = fixing(mine, "--prune-baseline")
    assert answer.code == 2
    assert text_of(mine, "a.py").count("old_safe") == 1  # the accepted one
    assert text_of(mine, "b.py").count("old_safe") == 2
    assert baseline.read_bytes() == whole


# Links


@POSIX
@pytest.mark.parametrize("target", ["../outside.py", "b.py", "kept/b.py"])
@pytest.mark.parametrize("extra", [("link.py",), ()], ids=["named", "found"])
def test_no_fix_follows_a_link(mine: Project, tmp_path: Path, target: str, extra: tuple[str, ...]) -> None:
    """A link to a file of the project is another name of it; only that file is checked where both are found."""
    for name in ("a.py", "b.py"):
        (mine.folder / name).unlink()
    mine.write({"npulint.toml": 'extend-exclude = ["kept"]\n'})
    place = mine.folder / target
    place.parent.mkdir(exist_ok=True)
    place.write_bytes(MODEL.encode())
    (mine.folder / "link.py").symlink_to(target)
    named = bool(extra)
    alias = target == "b.py" and not named
    answer = fixing(mine, "--format=json", "--unsafe-fixes", *extra)
    assert (mine.folder / "link.py").is_symlink()
    assert os.readlink(mine.folder / "link.py") == target
    assert place.read_bytes().decode() == (WHOLE if alias else MODEL)
    if alias:
        assert (answer.code, answer.findings) == (0, [])
        return
    if target == "../outside.py" and not named:  # it is not even read
        assert answer.document["unread"] == [{"path": "link.py", "reason": "link-outside"}]
        return
    reason = "it is a symbolic link, and --fix follows none: name the file that it points to"
    assert answer.code == 1
    assert answer.err == f"link.py: not fixed: {reason}\n"
    assert answer.names == ["safe-call", "unsafe-call"]
    assert answer.document["fixed"] == []
    assert {(one["path"], one["reason"]) for one in answer.document["refused"]} == {("link.py", reason)}
    assert mine.run("check", "--diff", *MINE, *extra).out == ""


@POSIX
def test_a_named_folder_may_be_a_link(mine: Project, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "c.py").write_bytes(MODEL.encode())
    (mine.folder / "lib").symlink_to(tmp_path / "elsewhere")
    fixing(mine)
    assert (tmp_path / "elsewhere" / "c.py").read_bytes().decode() == MODEL  # links to folders are not entered
    assert fixing(mine, "lib").code == 0
    assert (tmp_path / "elsewhere" / "c.py").read_bytes().decode() == SAFE


# Files of one fix


def pair(folder: Path, *, readable: bool = True) -> FixResult:
    """A script that names a new list, and another file with a fix of its own."""
    (folder / "train.py").write_bytes(b"old")
    (folder / "other.py").write_bytes(b"old")
    files = [
        FileChange("ops_info.json", b"", b"{}", True, str(folder / "ops_info.json")),
        FileChange("other.py", b"old", b"new", False, str(folder / "other.py")),
        FileChange("train.py", b"old" if readable else b"gone", b"new", False, str(folder / "train.py")),
    ]
    fixed = [
        Fixed("NPU1", "list", "train.py", 1, "safe", ("ops_info.json", "train.py")),
        Fixed("NPU2", "rename", "other.py", 1, "safe", ("other.py",)),
    ]
    return FixResult(files, fixed, [], RunResult())


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_the_files_of_a_fix_are_written_together(tmp_path: Path) -> None:
    assert write_all(pair(tmp_path)) == {}
    assert contents(tmp_path) == {"train.py": b"new", "other.py": b"new", "ops_info.json": b"{}"}


@POSIX
@pytest.mark.parametrize("name", ["train.py", "ops_info.json"])
def test_none_of_the_files_of_a_fix_is_written_when_one_cannot_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    fixes = pair(tmp_path)
    refuse(monkeypatch, name, errno.ENOSPC)
    failed = write_all(fixes)
    assert contents(tmp_path) == {"train.py": b"old", "other.py": b"new"}
    assert {path: one.reason for path, one in failed.items()} == {
        one: "unwritable" if one == name else "not-together" for one in ("train.py", "ops_info.json")
    }
    true = as_written(fixes, failed, RunResult())
    assert [one.name for one in true.fixed] == ["rename"]
    assert [(one.name, one.path) for one in true.refused] == [("list", "train.py")]
    assert [one.path for one in true.files] == ["other.py"]


@POSIX
@pytest.mark.parametrize("stubborn", ["train.py", "ops_info.json"])
def test_a_file_is_restored_when_the_next_of_the_fix_cannot_be_moved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stubborn: str
) -> None:
    fixes = pair(tmp_path)
    replace, link = os.replace, os.link

    def refused(old: str, new: str, **named: Any) -> None:
        if new == stubborn:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        (link if new == "ops_info.json" else replace)(old, new, **named)

    monkeypatch.setattr(os, "replace", refused)
    monkeypatch.setattr(os, "link", refused)
    assert set(write_all(fixes)) == {"train.py", "ops_info.json"}
    assert contents(tmp_path) == {"train.py": b"old", "other.py": b"new"}
    assert not (tmp_path / "ops_info.json").exists()


def test_a_new_list_goes_when_its_script_was_changed_meanwhile(tmp_path: Path) -> None:
    failed = write_all(pair(tmp_path, readable=False))
    assert {path: one.reason for path, one in failed.items()} == {
        "train.py": "changed-meanwhile",
        "ops_info.json": "not-together",
    }
    assert contents(tmp_path) == {"train.py": b"old", "other.py": b"new"}


def test_a_file_of_one_fix_that_is_written_already_is_left_when_the_other_fails(tmp_path: Path) -> None:
    """Another process wrote the same list."""
    fixes = pair(tmp_path, readable=False)
    (tmp_path / "ops_info.json").write_bytes(b"{}")
    write_all(fixes)
    assert contents(tmp_path) == {"train.py": b"old", "other.py": b"new", "ops_info.json": b"{}"}


def test_hundreds_of_files_of_one_fix_need_no_descriptors_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: None)  # 1500 times
    names = [f"file{number}.py" for number in range(1500)]
    for name in names:
        (tmp_path / name).write_bytes(b"old")
    files = [FileChange(name, b"old", b"new", False, str(tmp_path / name)) for name in names]
    assert write_all(FixResult(files, [Fixed("NPU1", "x", names[0], 1, "safe", tuple(names))], [], RunResult())) == {}
    assert set(contents(tmp_path).values()) == {b"new"}


# What killed runs left


def test_the_next_run_removes_what_a_killed_one_left(mine: Project) -> None:
    mine.write({"sub/c.py": b"import torch\n", "none/notes.txt": b""})
    left = (".a.py.0123456789abcdef.npulint", "sub/.c.py.0123456789abcdef.npulint")
    foreign = ("none/.a.py.0123456789abcdef.npulint", ".a.py.npulint", ".a.py.0123456789abcdef.npulint.bak")
    mine.write(dict.fromkeys((*left, *foreign), b"half"))
    mine.run("check", "--diff", *MINE)
    mine.run("check", *MINE)
    assert all((mine.folder / name).exists() for name in left)
    assert fixing(mine).err == ""
    assert [name for name in (*left, *foreign) if (mine.folder / name).exists()] == list(foreign)


def test_a_file_that_a_killed_run_may_have_left_incomplete_is_named(mine: Project) -> None:
    copy = ".a.py.0123456789abcdef.0123456789abcdef.npulint-old"
    mine.write({copy: b"its content"})
    answer = fixing(mine)
    assert answer.err == (
        "a.py may be incomplete: an earlier run was interrupted while writing it. "
        f"{copy} holds its previous content; restore it or delete the copy\n"
    )
    assert (mine.folder / copy).read_bytes() == b"its content"
