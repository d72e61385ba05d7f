"""Temporary files: who may remove them, and when."""

from __future__ import annotations

import errno
import os
import time
from pathlib import Path

import pytest

from npulint.core.atomic_files import Folder, is_temporary, name_of_copy, sweep, temporary
from npulint.discover.files import discover

fcntl = pytest.importorskip("fcntl", reason="needs POSIX")
LEFT = ".train.py.0123456789abcdef.npulint"


def names(folder: Path) -> list[str]:
    return sorted(os.listdir(folder))


@pytest.mark.parametrize(
    ("name", "ours"),
    [
        (LEFT, True),
        (name_of_copy("train.py", b"x"), True),
        (name_of_copy("甲" * 300, b"x"), True),
        ("train.py.0123456789abcdef.npulint", False),
        (".train.py.0123456789abcde.npulint", False),
        (".train.py.0123456789abcdeF.npulint", False),
        (".train.py.0123456789abcdef.npulint.py", False),
        (".train.py.0123456789abcdef.npulint\n", False),
        (f".{'a' * 41}.0123456789abcdef.npulint", False),
        (".0123456789abcdef.npulint", False),
        (".train.py.0123456789abcdef.npulint-old", False),
        (".npulint", False),
        (".npulint.toml", False),
    ],
    ids=range(13),
)
def test_the_names_of_temporary_files(name: str, ours: bool) -> None:
    assert is_temporary(name) == ours


def test_what_a_killed_run_left_is_removed(tmp_path: Path) -> None:
    for name in (LEFT, ".other.sh.00000000000000ff.npulint"):
        (tmp_path / name).write_bytes(b"half")
    (tmp_path / "train.py").write_bytes(b"x = 1\n")
    assert sweep(str(tmp_path)) == []
    assert names(tmp_path) == ["train.py"]


def test_what_is_in_use_stays(tmp_path: Path) -> None:
    with Folder(str(tmp_path)) as folder, temporary(folder, "train.py", b"new") as made:
        sweep(str(tmp_path))
        assert names(tmp_path) == [made]
        assert is_temporary(made)
        folder.replace(made, "train.py")
    assert (tmp_path / "train.py").read_bytes() == b"new"
    assert names(tmp_path) == ["train.py"]


def test_what_is_not_moved_is_gone_at_the_end(tmp_path: Path) -> None:
    with Folder(str(tmp_path)) as folder, temporary(folder, "train.py", b"new"):
        pass
    assert names(tmp_path) == []


def test_only_regular_files_of_this_user_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine").write_bytes(b"mine")
    (tmp_path / LEFT).symlink_to("mine")
    (tmp_path / ".a.0000000000000000.npulint").mkdir()
    os.mkfifo(tmp_path / ".b.0000000000000000.npulint")
    foreign = tmp_path / ".c.0000000000000000.npulint"
    foreign.write_bytes(b"")
    before = names(tmp_path)
    monkeypatch.setattr(os, "geteuid", lambda: foreign.stat().st_uid + 1)
    sweep(str(tmp_path))
    assert names(tmp_path) == before
    monkeypatch.undo()
    sweep(str(tmp_path))
    assert names(tmp_path) == [name for name in before if name != foreign.name]


def test_a_folder_that_is_gone_is_no_error(tmp_path: Path) -> None:
    assert sweep(str(tmp_path / "gone")) == []


@pytest.fixture
def lockless(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file system without locks."""

    def refused(*_: object) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", refused)


@pytest.mark.usefixtures("lockless")
def test_without_locks_only_what_is_old_is_removed(tmp_path: Path) -> None:
    (tmp_path / LEFT).write_bytes(b"half")
    sweep(str(tmp_path))
    assert names(tmp_path) == [LEFT]
    os.utime(tmp_path / LEFT, (time.time() - 7200,) * 2)
    sweep(str(tmp_path))
    assert names(tmp_path) == []


@pytest.mark.usefixtures("lockless")
def test_without_locks_files_are_written_all_the_same(tmp_path: Path) -> None:
    with Folder(str(tmp_path)) as folder, temporary(folder, "train.py", b"new") as made:
        folder.create(made, "train.py")
    assert names(tmp_path) == ["train.py"]


def test_a_file_that_is_removed_before_it_is_locked_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another run may take it for a left-over one in that moment."""
    flock, calls = fcntl.flock, []

    def late(descriptor: int, operation: int) -> None:
        calls.append(descriptor)
        if len(calls) == 1:
            sweep(str(tmp_path))
        flock(descriptor, operation)

    monkeypatch.setattr(fcntl, "flock", late)
    with Folder(str(tmp_path)) as folder, temporary(folder, "train.py", b"new") as made:
        assert names(tmp_path) == [made]
        folder.replace(made, "train.py")
    assert (tmp_path / "train.py").read_bytes() == b"new"
    assert len(calls) == 3


@pytest.mark.parametrize(("content", "kept"), [(b"old", False), (b"newer", False), (b"newd", True), (b"mine", True)])
def test_a_copy_stays_while_its_file_is_neither_old_nor_new(tmp_path: Path, content: bytes, kept: bool) -> None:
    """The file was overwritten in place, because it has several names."""
    (tmp_path / "train.py").write_bytes(content)
    copy = name_of_copy("train.py", b"newer")
    (tmp_path / copy).write_bytes(b"old")
    assert sweep(str(tmp_path)) == ([("train.py", copy)] if kept else [])
    assert names(tmp_path) == sorted(["train.py", *([copy] if kept else [])])


def test_a_copy_whose_file_is_not_certain_stays(tmp_path: Path) -> None:
    stem = "a" * 40
    for name in (f"{stem}1", f"{stem}2"):
        (tmp_path / name).write_bytes(b"old")
    copy = name_of_copy(f"{stem}1", b"new")
    (tmp_path / copy).write_bytes(b"old")
    assert sweep(str(tmp_path)) == [(f"{stem}1", copy)]


@pytest.mark.parametrize("named", [False, True])
def test_temporary_files_are_never_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: bool) -> None:
    """Whatever they contain: without the last part of their names they would be a script and an artifact of a run."""
    monkeypatch.chdir(tmp_path)
    script, events = ".run.sh.0123456789abcdef.npulint", ".events.out.tfevents.1.0123456789abcdef.npulint"
    (tmp_path / script).write_text("#!/bin/bash\npython train.py\n")
    (tmp_path / events).write_bytes(b"\x18")
    found = discover([script, events] if named else ["."])
    assert found.files == []
    assert [problem.reason for problem in found.problems] == (["unsupported"] * 2 if named else [])
    paths = [name.removesuffix(".npulint") for name in (script, events)]
    for path in paths:
        (tmp_path / f"{path}.npulint").rename(tmp_path / path)
    found = discover(paths if named else ["."])
    assert [file.kind for file in found.files] == ["artifact", *(["shell"] if named else [])]
