"""What is read of a git repository without git."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from npulint.discover.repository import Repository, repository_around, web_url

ONE, OTHER = "1" * 40, "2" * 40


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "net"
    (folder / ".git" / "refs" / "heads").mkdir(parents=True)
    (folder / "src").mkdir()
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n", encoding="utf-8")
    (folder / ".git" / "refs" / "heads" / "main").write_text(f"{ONE}\n", encoding="utf-8")
    (folder / ".git" / "config").write_text(
        '[core]\n\tbare = false\n[remote "up"]\n\turl = https://github.com/up/other\n'
        '[remote "origin"]\n\turl = https://user:secret@github.com/lab/net.git\n\tfetch = +refs/heads/*\n',
        encoding="utf-8",
    )
    return folder


def test_commit_and_address_are_read_and_no_password(root: Path) -> None:
    one = repository_around(str(root / "src"))
    assert one == Repository(os.path.realpath(root), ONE, "https://github.com/lab/net")
    assert one.name == "net"
    assert one.file_url(str(root)) == f"https://github.com/lab/net/blob/{ONE}/{{path}}#L{{line}}"
    assert one.file_url(str(root / "src")) == f"https://github.com/lab/net/blob/{ONE}/src/{{path}}#L{{line}}"
    assert one.file_url(str(root.parent)) == ""


def test_packed_references_detached_heads_and_worktrees(root: Path) -> None:
    (root / ".git" / "refs" / "heads" / "main").unlink()
    (root / ".git" / "packed-refs").write_text(f"# pack-refs\n{OTHER} refs/heads/main\n^{ONE}\n", encoding="utf-8")
    assert repository_around(str(root)).commit == OTHER  # type: ignore[union-attr]
    own = root / ".git" / "worktrees" / "more"
    own.mkdir(parents=True)
    (own / "HEAD").write_text(f"{ONE}\n", encoding="utf-8")
    (own / "commondir").write_text("../..\n", encoding="utf-8")
    tree = root / "more"
    tree.mkdir()
    (tree / ".git").write_text(f"gitdir: {own}\n", encoding="utf-8")
    outside = repository_around(str(tree))
    assert outside is not None and (outside.commit, outside.url) == ("", "")
    own.rename(tree / "own")
    (tree / "own" / "commondir").unlink()
    (tree / ".git").write_text("gitdir: own\n", encoding="utf-8")
    inside = repository_around(str(tree))
    assert inside is not None and inside.commit == ONE
    (tree / "own" / "commondir").write_text(f"{root / '.git'}\n", encoding="utf-8")
    assert repository_around(str(tree)) == outside


def test_links_in_the_folder_of_git_are_not_followed(root: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text(f"{ONE}\n", encoding="utf-8")
    (root / ".git" / "HEAD").unlink()
    (root / ".git" / "HEAD").symlink_to(tmp_path / "elsewhere")
    found = repository_around(str(root))
    assert found is not None and found.commit == ""


@pytest.mark.parametrize(
    "head", ["", "ref: ../../../etc/passwd", "ref: refs/heads/../../config", "nonsense", "ref: refs/heads/none"]
)
def test_a_head_that_names_no_commit_is_unknown(root: Path, head: str) -> None:
    (root / ".git" / "HEAD").write_text(head, encoding="utf-8")
    found = repository_around(str(root))
    assert found is not None and found.commit == "" and found.file_url(str(root)) == ""


def test_outside_of_a_repository_nothing_is_known(tmp_path: Path) -> None:
    assert repository_around(str(tmp_path)) is None


@pytest.mark.parametrize(
    ("remote", "url"),
    [
        ("git@github.com:lab/net.git", "https://github.com/lab/net"),
        ("ssh://git@gitlab.lab.cn:2222/group/sub/net.git", "https://gitlab.lab.cn/group/sub/net"),
        ("https://token@gitee.com/lab/net", "https://gitee.com/lab/net"),
        ("https://gitcode.com/lab/net/", "https://gitcode.com/lab/net"),
        ("/srv/git/net.git", ""),
        ("../net", ""),
        ("file:///srv/git/net", ""),
        ("javascript:alert(1)/x", ""),
        ("C:\\git\\net", ""),
        ("", ""),
    ],
)
def test_addresses_of_remotes(remote: str, url: str) -> None:
    assert web_url(remote) == url


@pytest.mark.parametrize(
    ("host", "between"),
    [
        ("github.com", "/blob/"),
        ("gitlab.lab.cn", "/-/blob/"),
        ("gitee.com", "/blob/"),
        ("gitcode.com", "/blob/"),
        ("git.lab", ""),
    ],
)
def test_files_have_the_form_of_their_server(tmp_path: Path, host: str, between: str) -> None:
    one = Repository(os.path.realpath(tmp_path), ONE, f"https://{host}/github/net")
    expected = f"https://{host}/github/net{between}{ONE}/{{path}}#L{{line}}" if between else ""
    assert one.file_url(str(tmp_path)) == expected
