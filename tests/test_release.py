"""Releases: the tag gives the version, two builds are one, hooks have their repository, and workflows are safe."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import yaml

from npulint import __version__
from npulint.hosts.cli.init.origin import PLACEHOLDER, from_origin
from npulint.hosts.cli.init.plan import INSTALLING, plan
from scripts import build_release, precommit_mirror, release
from tests.git_support import git
from tests.project_support import ROOT, Project
from tests.test_integrations_ci import ran, tool

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of what a release changes."""
    named = ("npulint/__init__.py", "CHANGELOG.md", "README.md", "docs/en/ci.md", "docs/zh/ci.md", *release.EXTENSION)
    for name in named:
        place = tmp_path / name
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, place)
    shutil.copytree(ROOT / "npulint" / "hosts" / "integrations", tmp_path / "npulint" / "hosts" / "integrations")
    return tmp_path


@pytest.mark.parametrize("tag", ["0.2.0", "v0.2", "v0.2.0.dev1", "v0.2.0; rm -rf", "v", "v0.2.0\n"])
def test_other_tags_are_refused(tag: str) -> None:
    with pytest.raises(ValueError, match="a tag is v and a version"):
        release.version_of(tag)


def test_the_version_is_written_wherever_it_stands(tree: Path) -> None:
    assert release.problems(tree, "7.8.9") == ["CHANGELOG.md: nothing about 7.8.9"]
    for name, text in release.released(tree, "7.8.9", "2026-02-03").items():
        (tree / name).write_text(text, encoding="utf-8")
    assert release.problems(tree, "7.8.9") == []
    assert '__version__ = "7.8.9"' in (tree / "npulint/__init__.py").read_text(encoding="utf-8")
    assert "## [Unreleased]\n\n## [7.8.9] - 2026-02-03\n" in (tree / "CHANGELOG.md").read_text(encoding="utf-8")
    for name in release.EXTENSION:
        found = json.loads((tree / name).read_text(encoding="utf-8"))
        assert found["version"] == found.get("packages", {}).get("", found)["version"] == "7.8.9"
    for name in ("README.md", "docs/en/ci.md", "npulint/hosts/integrations/gitlab-ci.yml"):
        text = (tree / name).read_text(encoding="utf-8")
        assert "7.8.9" in text and not re.search(rf"npulint(==|@v){re.escape(__version__)}", text)
    (tree / "README.md").write_text((ROOT / "README.md").read_text(encoding="utf-8"), encoding="utf-8")
    assert release.problems(tree, "7.9.0") == ["CHANGELOG.md: nothing about 7.9.0"]


def test_a_forgotten_pin_is_found(tree: Path) -> None:
    for name, text in release.released(tree, "7.8.9", "2026-02-03").items():
        (tree / name).write_text(text, encoding="utf-8")
    place = tree / "npulint" / "__init__.py"
    place.write_text('__version__ = "7.8.8"\n', encoding="utf-8")
    assert release.problems(tree, "7.8.9") == ["npulint/__init__.py: another version"]


def test_the_extension_has_a_version_of_npm() -> None:
    assert release.semantic("0.2.0") == "0.2.0" and release.semantic("0.2.0rc1") == "0.2.0-rc.1"


def test_notes_are_those_of_the_version() -> None:
    text = "# Changelog\n\n## [Unreleased]\n\n- c\n\n## [0.2.0] - 2026-01-01\n\n- b\n\n## [0.1.0] - 2025-01-01\n\n- a\n"
    assert release.notes(text, "0.2.0") == "- b\n"
    assert release.notes(text, "0.1.0") == "- a\n"
    with pytest.raises(ValueError, match=r"nothing about 0\.3\.0"):
        release.notes(text, "0.3.0")


def test_hooks_have_a_repository_of_their_own(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet")
    assert precommit_mirror.update(tmp_path, "v7.8.9")
    assert not precommit_mirror.update(tmp_path, "v7.8.9")
    assert precommit_mirror.update(tmp_path, "v7.9.0")
    shown = subprocess.run(
        ["git", "-C", str(tmp_path), "show", "v7.8.9:pyproject.toml"], capture_output=True, text=True, check=True
    ).stdout
    assert 'dependencies = ["npulint==7.8.9"]' in shown
    assert ran(sys.executable, "-m", "pre_commit", "validate-manifest", str(tmp_path / ".pre-commit-hooks.yaml")) == ""


@pytest.mark.nightly
@pytest.mark.slow
def test_two_builds_of_a_commit_are_the_same_bytes(tmp_path: Path) -> None:
    pytest.importorskip("build")
    first = build_release.build(ROOT, tmp_path / "first")
    second = build_release.build(ROOT, tmp_path / "second")
    assert [path.name for path in first] == [path.name for path in second] and len(first) == 2
    assert [build_release.digest(path) for path in first] == [build_release.digest(path) for path in second]
    wheel = next(path for path in first if path.suffix == ".whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0] for name in names} == {"npulint", f"npulint-{__version__}.dist-info"}
    assert wheel.stat().st_size < 6_000_000


@pytest.mark.nightly
@pytest.mark.slow
def test_the_list_of_components_names_what_the_wheel_needs(tmp_path: Path) -> None:
    pytest.importorskip("cyclonedx_py")
    (wheel,) = [path for path in build_release.build(ROOT, tmp_path / "dist") if path.suffix == ".whl"]
    build_release.components(wheel, tmp_path / "npulint.cdx.json")
    found = {one["name"].lower() for one in json.loads((tmp_path / "npulint.cdx.json").read_text())["components"]}
    assert {"npulint", "msgspec", "pyyaml", "pathspec", "packaging"} <= found and "pip" not in found


@pytest.mark.nightly
@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: str(path.stem))
def test_workflows_are_valid_and_pin_what_they_use(path: Path) -> None:
    assert ran(tool("check-jsonschema"), "--builtin-schema", "vendor.github-workflows", str(path)) == ""
    assert ran(tool("zizmor"), "--offline", "--no-config", "--persona=auditor", str(path)) == ""
    for use in re.findall(r"uses: (.+)", path.read_text(encoding="utf-8")):
        assert re.fullmatch(r"[\w-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", use)


def test_steps_call_scripts_and_folders_that_exist() -> None:
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8"))["jobs"]
    steps = [step for job in jobs.values() for step in job["steps"]]
    scripts = {name for step in steps for name in re.findall(r"scripts/\w+\.py", step.get("run", ""))}
    assert scripts == {f"scripts/{name}.py" for name in ("release", "build_release", "precommit_mirror")}
    folders = [step["working-directory"] for step in steps if "working-directory" in step]
    assert all((ROOT / name).is_dir() for name in (*scripts, *folders) if not name.endswith(".py"))
    assert all((ROOT / name).is_file() for name in scripts)


@pytest.mark.parametrize(
    ("origin", "pinned"),
    [
        (None, f"npulint=={__version__}"),
        (
            {"url": "https://example.org/a/npulint", "vcs_info": {"vcs": "git", "commit_id": COMMIT}},
            f"npulint @ git+https://example.org/a/npulint@{COMMIT}",
        ),
        ({"url": "https://token@example.org/a", "vcs_info": {"vcs": "git", "commit_id": COMMIT}}, PLACEHOLDER),
        ({"url": 'https://example.org/"; x', "vcs_info": {"vcs": "git", "commit_id": COMMIT}}, PLACEHOLDER),
        ({"url": "https://example.org/a", "vcs_info": {"vcs": "git", "commit_id": "main"}}, PLACEHOLDER),
        ({"url": "file:///home/me/npulint", "dir_info": {"editable": True}}, PLACEHOLDER),
        (
            {"url": "https://example.org/npulint-0.1.0-py3-none-any.whl", "archive_info": {}},
            "npulint @ https://example.org/npulint-0.1.0-py3-none-any.whl",
        ),
        ({"url": "file:///home/me/npulint-0.1.0-py3-none-any.whl", "archive_info": {}}, PLACEHOLDER),
        ("broken", PLACEHOLDER),
    ],
)
def test_init_pins_what_others_can_install(origin: object, pinned: str) -> None:
    text = origin if origin is None or isinstance(origin, str) else json.dumps(origin)
    assert from_origin(text) == pinned


@pytest.mark.parametrize("part", INSTALLING)
def test_files_that_install_npulint_hold_the_pin(part: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pin = f"npulint @ git+https://example.org/a/npulint@{COMMIT}"
    monkeypatch.setattr("npulint.hosts.cli.init.origin.requirement", lambda: pin)
    (piece,) = plan(str(tmp_path), [part], "en")
    assert pin in piece.text and f"npulint=={__version__}" not in piece.text
    assert yaml.safe_load(piece.text)


def test_a_copy_from_a_folder_nobody_else_has_leaves_the_address_open(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("npulint.hosts.cli.init.origin.requirement", lambda: PLACEHOLDER)
    answer = project.run("init", "--with", "github")
    text = (project.folder / ".github/workflows/npulint.yml").read_text(encoding="utf-8")
    assert f'pip install "{PLACEHOLDER}"' in text and 'pip install "npulint"' not in text
    assert "installed from a folder" in answer.out


@pytest.mark.parametrize("published", [True, False])
def test_a_copy_from_a_clone_installs_its_repository(tmp_path: Path, published: bool) -> None:
    git = tmp_path / ".git"
    for name, text in {
        "HEAD": f"{COMMIT}\n",
        "config": '[remote "origin"]\n\turl = git@example.org:a/npulint.git\n',
        "refs/remotes/origin/main": f"{COMMIT if published else COMMIT[::-1]}\n",
    }.items():
        (git / name).parent.mkdir(parents=True, exist_ok=True)
        (git / name).write_text(text, encoding="utf-8")
    record = json.dumps({"url": tmp_path.as_uri(), "dir_info": {"editable": True}})
    assert from_origin(record) == "npulint @ git+https://example.org/a/npulint" + (f"@{COMMIT}" if published else "")
