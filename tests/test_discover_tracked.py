"""Files that git tracks although .gitignore names them are found; the index is read safely, or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from npulint.discover import DiscoverOptions, discover
from npulint.discover.tracked import tracked_paths
from tests.git_support import commit, git

pytestmark = pytest.mark.slow

CONFIG = "DATA:\n  data_root: x\nTRAIN:\n  dist_backend: 'nccl'\n"
UNSUMMED = bytes(20)  # instead of the checksum
FILES = {
    ".gitignore": "config/\n*.sh\nlib/\nbuild/\n",
    "train.py": "x = 1\n",
    "config/a/one.yaml": CONFIG,
    "config/notes.txt": "none\n",
    "run.sh": "python train.py\n",
    "lib/net.py": "x = 1\n",
    "build/lib/net.py": "x = 1\n",
}
TRACKED = {"config/a/one.yaml", "run.sh", "lib/net.py"}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository whose ignored files are committed, and some more that are not."""
    folder = tmp_path / "project"
    put(folder, FILES)
    git(folder, "init", "-q")
    git(folder, "add", "-f", ".")
    commit(folder)
    put(folder, {"config/own.yaml": CONFIG, "lib/own.py": "x = 1\n", "own.sh": "python train.py\n"})
    monkeypatch.chdir(folder)
    return folder


def put(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def found(options: DiscoverOptions | None = None) -> set[str]:
    every = options or DiscoverOptions(configurations=True)
    return {file.path for file in discover(["."], every).files} - {"train.py", ".gitignore"}


def versioned(folder: Path, version: int) -> None:
    git(folder, "update-index", "--force-write-index", "--index-version", str(version))
    if version == 3:
        git(folder, "update-index", "--skip-worktree", "train.py")


@pytest.mark.parametrize("version", [2, 3, 4])
def test_ignored_files_that_are_tracked_are_found_with_each_version(project: Path, version: int) -> None:
    versioned(project, version)
    assert (project / ".git/index").read_bytes()[7] == version
    assert tracked_paths(str(project / ".git/index")) == set(FILES)
    assert found() == TRACKED


def test_what_is_no_longer_tracked_is_ignored(project: Path) -> None:
    git(project, "rm", "-q", "--cached", "run.sh")
    assert found() == TRACKED - {"run.sh"}


def test_configured_exclusions_come_first(project: Path) -> None:
    assert found(DiscoverOptions(configurations=True, extend_exclude=("lib",))) == TRACKED - {"lib/net.py"}


def test_a_named_file_is_not_refused_if_it_is_tracked(project: Path) -> None:
    options = DiscoverOptions(force_exclude=True)
    assert [one.path for one in discover(["run.sh", "own.sh"], options).files] == ["run.sh"]


def test_names_of_objects_may_be_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, FILES)
    git(tmp_path, "init", "-q", "--object-format=sha256")
    git(tmp_path, "add", "-f", ".")
    monkeypatch.chdir(tmp_path)
    assert found() == TRACKED


def test_a_split_index_tells_nothing(project: Path) -> None:
    git(project, "update-index", "--split-index")
    assert found() == set()


def test_an_unknown_extension_that_must_be_understood_tells_nothing(project: Path) -> None:
    index = project / ".git/index"
    data = index.read_bytes()
    assert tracked_paths(str(index))
    index.write_bytes(data[:-20] + b"new!" + bytes(4) + UNSUMMED)
    assert found() == set()
    index.write_bytes(data[:-20] + b"NEW!" + bytes(4) + UNSUMMED)
    assert found() == TRACKED


def test_a_work_tree_has_its_own_index(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git(project, "worktree", "add", "-q", "../other")
    monkeypatch.chdir(project.parent / "other")
    put(Path(), {"lib/own.py": "x = 1\n"})
    assert found() == TRACKED


def test_a_submodule_has_its_index_in_the_repository_around(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outer = project.parent / "outer"
    put(outer, {"a.py": "x = 1\n"})
    commit(outer)
    git(outer, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "../project", "part")
    monkeypatch.chdir(outer / "part")
    put(Path(), {"lib/own.py": "x = 1\n"})
    assert found() == TRACKED


def test_a_file_that_names_a_foreign_repository_is_not_believed(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copy = project.parent / "copy"
    put(copy, FILES)
    (copy / ".git").write_text(f"gitdir: {project / '.git'}\n")
    monkeypatch.chdir(copy)
    assert found() == set()


@pytest.mark.parametrize("version", [2, 4])
def test_a_damaged_index_tells_nothing_wrong(project: Path, version: int) -> None:
    versioned(project, version)
    index = project / ".git/index"
    data = index.read_bytes()
    damaged = project / "damaged"
    for end in range(0, len(data), 3):
        damaged.write_bytes(data[:end])
        assert tracked_paths(str(damaged)) == frozenset()
        damaged.write_bytes(data[:end] + b"\xff" + data[end + 1 : -20] + UNSUMMED)
        tracked_paths(str(damaged))  # raises nothing


@pytest.mark.parametrize("data", [b"", b"DIRC", b"DIRC" + b"\0\0\0\2" + b"\xff" * 4, b"DIRC" + b"\xff" * 5000])
def test_other_files_tell_nothing(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "index").write_bytes(data)
    assert tracked_paths(str(tmp_path / "index")) == frozenset()
