"""What a survey takes for projects: folders, lists, git addresses; names and commits."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from npulint.core.errors import NpulintError
from npulint.discover.files import DiscoverOptions, discover
from npulint.survey.inputs import exclusion, is_address, is_taken, jobs, listed, without_credentials
from tests.survey_support import TRAIN, fleet


def _names(path: Path, out: str = "out") -> list[str]:
    return [one.name for one in listed(str(path), out, "en")]


def _write(folder: Path, *names: str) -> Path:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(TRAIN.format(size=2) if name.endswith(".py") else "x")
    return folder


def test_each_sub_folder_with_code_is_a_project(tmp_path: Path) -> None:
    _write(fleet(tmp_path, 3), "notes/todo.txt", ".venv/lib/x.py", "loose.py")
    assert _names(tmp_path) == ["project00", "project01", "project02"]


def test_a_repository_is_one_project_whatever_it_contains(tmp_path: Path) -> None:
    _write(tmp_path, "group/one/.git/HEAD", "group/one/a/train.py", "group/one/a/README.md", "group/one/b/.git/HEAD")
    _write(tmp_path, "group/two/.git", "plain/train.py")
    assert _names(tmp_path) == ["group/one", "group/two", "plain"]
    _write(tmp_path, "group/tools/train.py")
    group, *_ = listed(str(tmp_path), "out", "en")
    assert (group.name, len(group.exclude)) == ("group", 2)


@pytest.mark.parametrize("name", ["a b", "[x]", "#1", "!y", "*", "a\\b", "模型"])
def test_nested_projects_are_excluded_whatever_their_name(tmp_path: Path, name: str) -> None:
    _write(tmp_path, f"team/{name}/.git/HEAD", f"team/{name}/train.py", "team/train.py", "team/other/train.py")
    (team,) = (one for one in listed(str(tmp_path), "out", "en") if one.name == "team")
    options = DiscoverOptions(
        extend_exclude=tuple(exclusion(path, team.place) for path in team.exclude), base=team.place
    )
    found = {os.path.relpath(file.path, team.place) for file in discover([team.place], options).files}
    assert found == {"train.py", "other/train.py"}


def test_a_model_zoo_has_the_projects_that_check_tells_apart(tmp_path: Path) -> None:
    _write(tmp_path, ".git/HEAD", "README.md")
    for name in ("cv/resnet", "cv/vgg", "nlp/bert"):
        _write(tmp_path, f"{name}/train.py", f"{name}/README.md")
    _write(tmp_path, "cv/common.py")
    projects = listed(str(tmp_path), "out", "en")
    assert [one.name for one in projects] == ["cv", "cv/resnet", "cv/vgg", "nlp/bert"]
    assert [os.path.relpath(path, tmp_path) for path in projects[0].exclude] == ["cv/resnet", "cv/vgg"]


def test_a_single_project_is_a_survey_of_one(tmp_path: Path) -> None:
    _write(tmp_path / "only", ".git/HEAD", "train.py")
    assert _names(tmp_path / "only") == ["only"]


def test_the_results_are_no_project(tmp_path: Path) -> None:
    _write(fleet(tmp_path, 1), "results/clones/x/.git/HEAD", "results/clones/x/train.py")
    assert _names(tmp_path, str(tmp_path / "results")) == ["project00"]
    _write(tmp_path, "team/train.py", "team/results/reports/x.py", "team/results/README.md")
    (team,) = (one for one in listed(str(tmp_path), str(tmp_path / "team" / "results"), "en") if one.name == "team")
    assert team.exclude == (str(tmp_path / "team" / "results"),)


def test_links_are_not_followed(tmp_path: Path) -> None:
    fleet(tmp_path / "inside", 1)
    fleet(tmp_path / "outside", 2)
    (tmp_path / "inside" / "link").symlink_to(tmp_path / "outside")
    assert _names(tmp_path / "inside") == ["project00"]


def test_a_list_names_folders_patterns_and_addresses(tmp_path: Path) -> None:
    fleet(tmp_path / "fleet", 2)
    path = tmp_path / "list.txt"
    path.write_text("# all\n\nfleet/*\nfleet/project00/\nnowhere\nhttps://u:secret@example.org/owner/net.git\n")
    projects = listed(str(path), "out", "en")
    assert [one.name for one in projects] == ["fleet/project00", "fleet/project01", "nowhere", "owner/net"]
    last = jobs(projects)[-1]
    assert last.source == "https://example.org/owner/net.git" and last.path == ""
    assert last.identity.startswith("owner-net-")


def test_absolute_paths_are_named_without_what_they_share(tmp_path: Path) -> None:
    fleet(tmp_path / "x" / "a", 2)
    fleet(tmp_path / "x" / "b", 1)
    path = tmp_path / "list.txt"
    path.write_text(f"{tmp_path}/x/a/*\n{tmp_path}/x/b/project00\nx/a/../b\n")
    assert _names(path) == ["a/project00", "a/project01", "b/project00", "x/a/../b"]


def test_a_table_has_names(tmp_path: Path) -> None:
    fleet(tmp_path, 2)
    path = tmp_path / "list.csv"
    path.write_text("team,Name,Path,address\nvision,first,project00,\nspeech,,,git@example.org:team/asr.git\nx,,,\n")
    assert [one.name for one in listed(str(path), "out", "en")] == ["first", "team/asr"]


def test_a_table_without_places_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "list.csv"
    path.write_text("team,name\n")
    with pytest.raises(NpulintError, match="neither a column `path` nor `address`"):
        listed(str(path), "out", "en")


def test_a_list_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(NpulintError, match=r"gone\.txt cannot be read"):
        listed(str(tmp_path / "gone.txt"), "out", "en")


def test_every_project_has_a_name_and_files_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "list.csv"
    rows = ["a/Net,net", "b/net,Net", "c,a/b", "d,a-b", "e,..", "f,<b>&\"'", "g,same", "h,same", "i,模型", "j,CON."]
    path.write_text("path,name\n" + "\n".join(rows) + "\n", encoding="utf-8")
    found = jobs(listed(str(path), "out", "en"))
    identities = [one.identity.casefold() for one in found]
    assert len(set(identities)) == len({one.name for one in found}) == len(rows)
    assert all(name.replace("-", "").replace(".", "").replace("_", "").isalnum() for name in identities)
    assert all(name.isascii() and not name.startswith(".") for name in identities)


TAKEN = (
    "https://example.org/a/b.git",
    "http://example.org/a/b",
    "ssh://git@example.org:22/a/b.git",
    "git@example.org:a/b.git",
    "git://example.org/a",
    "file:///srv/git/a.git",
)
REFUSED = (
    "ext::sh -c touch% /tmp/x",
    "fd::17",
    "ftp://example.org/a",
    "ssh://-oProxyCommand=touch/a",
    "ssh://git@-oProxyCommand=touch/a",
    "git@-oProxyCommand=touch:a",
    "git@example.org:-x",
    "https://example.org/a\n--upload-pack=touch",
    "transport::https://example.org/a",
)


@pytest.mark.parametrize("address", TAKEN)
def test_addresses_that_are_cloned(address: str) -> None:
    assert is_address(address) and is_taken(address)


@pytest.mark.parametrize("address", REFUSED)
def test_addresses_that_git_never_sees(address: str) -> None:
    assert is_address(address) and not is_taken(address)


@pytest.mark.parametrize("path", ["a/b", "/a/b", "./a:b", "C:/a", "-x", "--upload-pack=x", "@a"])
def test_folders_are_no_addresses(path: str) -> None:
    assert not is_address(path)


def test_credentials_are_not_shown() -> None:
    assert without_credentials("https://user:to@ken@host/a@b") == "https://host/a@b"
    assert without_credentials("git@host:a/b") == "git@host:a/b"
