"""``npulint init``: what it writes is valid for whoever reads it, and nothing that exists is touched."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from npulint import __version__
from npulint.hosts.cli.commands import PARTS
from npulint.hosts.cli.init.create import create
from npulint.hosts.cli.init.origin import PLACEHOLDER, requirement
from npulint.hosts.cli.init.origin import pinned as installing
from npulint.hosts.integrations import template
from tests.git_support import git
from tests.project_support import ROOT, Answer, Project
from tests.tools import missing

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ALL = ("--with", ",".join(PARTS))
WRITTEN = {
    "config": "npulint.toml",
    "pre-commit": ".pre-commit-config.yaml",
    "github": ".github/workflows/npulint.yml",
    "gitlab": ".gitlab-ci.yml",
    "vscode": ".vscode/tasks.json",
    "skill": ".agents/skills/npulint/SKILL.md",
}


def files(folder: Path) -> dict[str, bytes]:
    """Everything below a folder but git's own."""
    found = [p for p in folder.rglob("*") if p.is_file() and ".git" not in p.relative_to(folder).parts]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


def pinned(name: str) -> str:
    """A template that installs what the tests run."""
    return template(name).replace(f"npulint=={__version__}", requirement())


def test_all_parts_are_written(project: Project) -> None:
    answer = project.run("init", *ALL)
    assert (answer.code, answer.err) == (0, "")
    assert set(files(project.folder)) == set(WRITTEN.values())
    assert answer.out.splitlines()[: len(PARTS)] == [f"{WRITTEN[part]} created" for part in PARTS]
    assert answer.out.endswith("\nNext: pre-commit install, npulint check\n")


def test_an_empty_folder_gets_the_configuration_alone(project: Project) -> None:
    answer = project.run("init")
    assert set(files(project.folder)) == {"npulint.toml"}
    assert "More: npulint init --with pre-commit,github,gitlab,vscode,skill\n" in answer.out
    assert answer.out.endswith("\nNext: npulint check\n")


SIGNS = {
    ".github": {"config", "github"},
    ".vscode": {"config", "vscode"},
    ".agents": {"config", "skill"},
    ".gitlab": {"config", "gitlab"},
}


@pytest.mark.parametrize("sign", SIGNS)
def test_what_the_folder_shows_a_use_for_is_written(project: Project, sign: str) -> None:
    (project.folder / "part" / sign).mkdir(parents=True)
    assert project.run("init", "part").out.endswith("\nNext: npulint check part\n")
    assert set(files(project.folder / "part")) == {WRITTEN[part] for part in SIGNS[sign]}


def test_a_second_run_changes_nothing(project: Project) -> None:
    project.run("init", *ALL)
    before = files(project.folder)
    answer = project.run("init", *ALL)
    assert (answer.code, files(project.folder)) == (0, before)
    assert answer.out.count("not changed") == len(PARTS) and "add this to it" not in answer.out


EXISTING = {
    "pre-commit": "repos:\n  - repo: local\n    hooks: []\n",
    "gitlab": "stages: [test]\n",
    "vscode": '{"version": "2.0.0", "tasks": []}',
    "skill": "---\nname: other\n---\n",
    "github": "name: other\n",
    "config": 'fail-on = "note"\n',
}


@pytest.mark.parametrize("part", PARTS)
def test_what_exists_stays_and_is_told_what_to_add(project: Project, part: str) -> None:
    project.write({WRITTEN[part]: EXISTING[part]})
    answer = project.run("init", "--with", part)
    assert answer.code == 0
    assert files(project.folder) == {WRITTEN[part]: EXISTING[part].encode()}
    assert ("add this to it:" in answer.out) is (part in ("pre-commit", "gitlab", "vscode"))


@pytest.mark.parametrize("name", ["github-workflow.yml", "gitlab-ci.yml", "pre-commit-config.yaml"])
def test_files_with_an_address_to_fill_in_say_so(name: str) -> None:
    advice = "# write the address of npulint's repository here,"
    open_text = installing(template(name), PLACEHOLDER)
    assert yaml.safe_load(open_text) == yaml.safe_load(template(name).replace(f"npulint=={__version__}", PLACEHOLDER))
    lines = open_text.split("\n")
    place = next(number for number, line in enumerate(lines) if line.strip() == advice)
    assert f'"{PLACEHOLDER}"' in lines[place + 2]
    assert len(lines[place]) - len(lines[place].lstrip()) == len(lines[place + 2]) - len(lines[place + 2].lstrip())
    release = installing(template(name), f"npulint=={__version__}")
    assert release == template(name)
    assert advice not in installing(template(name), "npulint @ git+https://example.org/a/b@0123456")


def test_the_hook_shows_warnings_that_do_not_stop_a_commit() -> None:
    hook: Any = yaml.safe_load(template("pre-commit-config.yaml"))["repos"][0]["hooks"][0]
    assert hook["verbose"] is True


def snippet(answer: Answer) -> str:
    """What stands between the remark and the next command."""
    return answer.out.partition("add this to it:\n\n")[2].partition("\n\nMore:")[0] + "\n"


def test_the_snippets_fit_into_the_files(project: Project) -> None:
    project.write({WRITTEN[part]: EXISTING[part] for part in ("pre-commit", "gitlab", "vscode")})
    hook = snippet(project.run("init", "--with", "pre-commit"))
    merged: Any = yaml.safe_load(EXISTING["pre-commit"] + hook)
    assert merged["repos"][1] == yaml.safe_load(pinned("pre-commit-config.yaml"))["repos"][0]
    job = snippet(project.run("init", "--with", "gitlab"))
    assert yaml.safe_load(EXISTING["gitlab"] + job)["npulint"] == yaml.safe_load(pinned("gitlab-ci.yml"))["npulint"]
    task = snippet(project.run("init", "--with", "vscode"))
    assert json.loads(task) == json.loads(template("vscode-tasks.json"))["tasks"][0]


def test_pyproject_counts_as_configuration(project: Project) -> None:
    project.write({"pyproject.toml": "[tool.npulint]\nignore = []\n"})
    assert "pyproject.toml already configures npulint" in project.run("init").out
    assert set(files(project.folder)) == {"pyproject.toml"}
    project.write({"pyproject.toml": "[tool.other]\n"})
    assert "npulint.toml created" in project.run("init").out


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("example", ["denoiser", "classifier"])
def test_the_configuration_is_accepted_and_changes_no_finding(project: Project, lang: str, example: str) -> None:
    shutil.copytree(ROOT / "examples" / example, project.folder, dirs_exist_ok=True)
    (project.folder / "npulint.toml").unlink(missing_ok=True)
    before = project.check(".")
    assert project.run("init", "--lang", lang).code == 0
    after = project.check(".")
    assert after.findings == before.findings and after.err == ""
    text = (project.folder / "npulint.toml").read_text(encoding="utf-8")
    assert ("检查" in text) is (lang == "zh")
    assert [line for line in text.splitlines() if len(line) > 120] == []


def test_every_line_that_is_only_suggested_is_valid(project: Project) -> None:
    project.run("init")
    text = (project.folder / "npulint.toml").read_text(encoding="utf-8")
    lines = [line.removeprefix("# ") if line.startswith("# ") and " = " in line else line for line in text.splitlines()]
    project.write({"npulint.toml": "\n".join(lines)})
    answer = project.check(".")
    assert (answer.code, answer.document["target"]["soc"]) == (0, "910B (specified)")
    assert set(tomllib.loads("\n".join(lines))) == {"fail-on", "ignore", "extend-exclude", "target"}


NPU = "import torch_npu\n"
PINS: dict[str, tuple[dict[str, str | bytes], dict[str, str]]] = {
    "a release of TensorFlow": ({"requirements.txt": "numpy\ntensorflow-gpu==1.15.0\n"}, {"tensorflow": "1.15.0"}),
    "one that has no adapter": ({"requirements.txt": "tensorflow==1.12\n"}, {}),
    "several that differ": (
        {"requirements.txt": "tensorflow==1.15\n", "Dockerfile": "RUN pip install tensorflow==2.6.5"},
        {},
    ),
    "no exact release": ({"requirements.txt": "tensorflow>=1.15\ntorch>=2.1\n"}, {}),
    "a release of PyTorch": ({"requirements.txt": "torch==2.1.0\n"}, {"torch": "2.1.0"}),
    "that of the GPU environment": ({"requirements.txt": "torch==1.8.1\n"}, {}),
    "the same on the NPU": ({"requirements.txt": "torch==1.8.1\n", "train.py": NPU}, {"torch": "1.8.1"}),
    "the adapter before the framework": (
        {"requirements.txt": "torch==2.1.0\ntorch_npu==2.1.0.post3\n"},
        {"torch": "2.1.0"},
    ),
    "nothing": ({"train.py": "import torch\n"}, {}),
}


@pytest.mark.parametrize(("sources", "target"), PINS.values(), ids=PINS)
def test_what_the_project_pins_is_its_target(
    project: Project, sources: dict[str, str | bytes], target: dict[str, str]
) -> None:
    project.write({f"deep/{name}": text for name, text in sources.items()})
    assert project.run("init", "deep").code == 0
    text = (project.folder / "deep/npulint.toml").read_text(encoding="utf-8")
    assert tomllib.loads(text)["target"] == target
    assert ("# as in requirements.txt:" in text) is bool(target)


def test_a_shelf_of_projects_is_not_made_one(project: Project) -> None:
    for name in ("a", "b"):
        project.write({f"{name}/requirements.txt": "torch==2.1.0\n", f"{name}/train.py": "import torch\n"})
    answer = project.run("init")
    assert "merge the 2 projects below" in answer.out and "npulint.toml" not in files(project.folder)
    assert project.run("init", "--with", "config").code == 0
    assert "npulint.toml" in files(project.folder)


def test_a_dry_run_is_a_patch(project: Project) -> None:
    git(project.folder, "init", "-q")
    project.write({".gitlab-ci.yml": "stages: [test]\n"})
    patch = project.run("init", *ALL, "--dry-run")
    assert "add this to it" in patch.err
    assert set(files(project.folder)) == {".gitlab-ci.yml"}
    git(project.folder, "apply", given=patch.out.encode())
    applied = files(project.folder)
    for name in set(applied) - {".gitlab-ci.yml"}:
        (project.folder / name).unlink()
    project.run("init", *ALL)
    assert files(project.folder) == applied
    assert len(applied) == len(PARTS)


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("--with", "githbu"), "did you mean `github`?"),
        (("--with", ""), "--with: is empty"),
        (("nowhere",), "nowhere is not a folder"),
        (("a", "b"), "unexpected argument `b`"),
    ],
)
def test_mistakes(project: Project, words: tuple[str, ...], text: str) -> None:
    answer = project.run("init", *words)
    assert (answer.code, answer.out) == (2, "")
    assert text in answer.err
    assert files(project.folder) == {}


@pytest.mark.skipif(os.name == "nt", reason="needs links")
def test_links_are_neither_followed_nor_replaced(project: Project, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (project.folder / ".vscode").symlink_to(outside)
    (project.folder / ".gitlab-ci.yml").symlink_to(outside / "gone.yml")
    answer = project.run("init", "--with", "vscode,gitlab,config")
    assert answer.code == 2
    assert ".vscode/tasks.json: cannot be written" in answer.err
    assert list(outside.iterdir()) == []
    assert (project.folder / ".gitlab-ci.yml").is_symlink()
    assert (project.folder / "npulint.toml").is_file()  # the rest is written


def test_a_folder_that_is_a_file_is_told(project: Project) -> None:
    project.write({".github": "x"})
    answer = project.run("init", "--with", "github,config")
    assert answer.code == 2
    assert "npulint.yml: cannot be written" in answer.err
    assert set(files(project.folder)) == {".github", "npulint.toml"}


def test_a_failed_write_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(UnicodeEncodeError):
        create(str(tmp_path), "a.txt", "\udc80")
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_run_left_is_removed(tmp_path: Path) -> None:
    (tmp_path / ".a.txt.0123456789abcdef.npulint").write_bytes(b"half")
    create(str(tmp_path), "a.txt", "whole")
    assert set(files(tmp_path)) == {"a.txt"}


def test_a_file_that_appears_in_between_is_not_overwritten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.link

    def late(*given: Any, **named: Any) -> None:
        (tmp_path / "a.txt").write_text("mine")
        real(*given, **named)

    monkeypatch.setattr(os, "link", late)
    with pytest.raises(FileExistsError):
        create(str(tmp_path), "a.txt", "theirs")
    monkeypatch.undo()
    assert (tmp_path / "a.txt").read_text() == "mine"
    assert set(files(tmp_path)) == {"a.txt"}


def test_one_file_that_cannot_be_written_does_not_keep_the_others_away(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(folder: str, path: str, text: str) -> None:
        if path == ".gitlab-ci.yml":
            raise PermissionError(13, "Permission denied", path)
        create(folder, path, text)

    monkeypatch.setattr("npulint.hosts.cli.init.create", refused)
    answer = project.run("init", *ALL)
    assert answer.code == 2
    assert answer.err == "error: ./.gitlab-ci.yml: cannot be written: Permission denied\n"
    assert len(files(project.folder)) == len(PARTS) - 1


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="this user writes everywhere")
def test_a_folder_that_cannot_be_written_is_told(project: Project) -> None:
    project.folder.chmod(0o555)
    try:
        answer = project.run("init", *ALL)
    finally:
        project.folder.chmod(0o755)
    assert answer.code == 2
    assert answer.err.count("cannot be written") == len(PARTS)


def test_a_name_with_control_characters_is_harmless(project: Project) -> None:
    project.write({"x\x1b[2J\n/requirements.txt": "torch==2.1.0\n"})
    answer = project.run("init", ".")
    text = (project.folder / "npulint.toml").read_text(encoding="utf-8")
    assert tomllib.loads(text)["target"] == {"torch": "2.1.0"}
    assert "\x1b" not in text + answer.out + answer.err


def test_pre_commit_accepts_its_configuration(project: Project) -> None:
    if subprocess.run([sys.executable, "-m", "pre_commit", "--version"], capture_output=True, check=False).returncode:
        missing("pre-commit")
    project.run("init", *ALL)
    command = [sys.executable, "-m", "pre_commit", "validate-config", ".pre-commit-config.yaml"]
    done = subprocess.run(command, cwd=project.folder, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


@pytest.mark.nightly
@pytest.mark.parametrize(("part", "schema"), [("github", "vendor.github-workflows"), ("gitlab", "vendor.gitlab-ci")])
def test_the_services_accept_their_jobs(project: Project, part: str, schema: str) -> None:
    if subprocess.run(
        [sys.executable, "-m", "check_jsonschema", "--version"], capture_output=True, check=False
    ).returncode:
        missing("check-jsonschema")
    project.run("init", *ALL)
    known = ["--data-transform", "gitlab-ci"] if part == "gitlab" else []
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, *known, WRITTEN[part]]
    done = subprocess.run(command, cwd=project.folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
