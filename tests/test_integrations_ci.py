"""What other tools read: workflow, pipeline, hooks, tasks, action and image are valid, safe, and do what they say."""

from __future__ import annotations

import fnmatch
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from npulint import __version__
from npulint.hosts.integrations import template
from npulint.judge.catalogue.sources import PRECOMPILED
from tests.project_support import ROOT, Project
from tests.tools import missing

FILES = ROOT / "npulint" / "hosts" / "integrations"
TEMPLATES = sorted(path.name for path in FILES.iterdir() if path.suffix in (".yml", ".yaml", ".json"))
PROGRAM = (
    "import torch\nimport torch_npu\nmodel = torch.nn.Linear(2, 2).cuda()\nfor x in range(3):\n    model(x.cuda())\n"
)


def tool(name: str) -> str:
    """A program of the development environment, which need not be the one on the search path."""
    found = shutil.which(name, path=os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]))
    if found is None:
        missing(name)
    return str(found)


def ran(*words: str) -> str:
    done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=ROOT)
    return "" if done.returncode == 0 else f"{done.stdout}\n{done.stderr}"


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("schema", "path"),
    [
        ("github-workflows", FILES / "github-workflow.yml"),
        ("github-actions", ROOT / "action.yml"),
        ("gitlab-ci", FILES / "gitlab-ci.yml"),
    ],
)
def test_the_schema_of_its_owner_holds(schema: str, path: Path, tmp_path: Path) -> None:
    check = (tool("check-jsonschema"), "--builtin-schema", f"vendor.{schema}")
    assert ran(*check, str(path)) == ""
    broken = tmp_path / path.name
    broken.write_text(re.sub(r"(?m)^( +)(script|steps):$", r"\1\2: 7\n\1x:", path.read_text(encoding="utf-8")))
    assert ran(*check, str(broken)) != ""


@pytest.mark.parametrize("path", [FILES / "github-workflow.yml", ROOT / "action.yml"], ids=["workflow", "action"])
def test_the_auditor_of_workflows_finds_nothing(path: Path, tmp_path: Path) -> None:
    place = tmp_path / ".github" / "workflows" / "npulint.yml" if path.parent == FILES else tmp_path / "action.yml"
    place.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(path, place)
    audit = (tool("zizmor"), "--offline", "--no-config", "--persona=auditor", str(place))
    assert ran(*audit) == ""
    unsafe = re.sub(r"(?m)^( +)run: .*$", r'\1run: echo "${{ github.head_ref }}"', place.read_text(encoding="utf-8"))
    place.write_text(unsafe)
    assert "template-injection" in ran(*audit)


def test_hooks_are_valid() -> None:
    assert ran(sys.executable, "-m", "pre_commit", "validate-config", str(FILES / "pre-commit-config.yaml")) == ""


@pytest.mark.parametrize("name", TEMPLATES)
def test_templates_install_this_version_and_nothing_unpinned(name: str) -> None:
    text = template(name)
    assert set(re.findall(r"npulint==([\w.]+)", text)) <= {__version__}
    assert not re.search(r"pip install (?!.*npulint==)", text)
    for use in re.findall(r"uses: (.+)", text):
        assert re.fullmatch(r"[\w-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", use)
    assert "{{" not in text.replace("${{ github.ref }}", "").replace(
        "${{ !cancelled() && hashFiles('npulint.sarif') != '' }}", ""
    )


def lines_of(name: str) -> list[str]:
    """The commands of a template that run npulint."""
    document: Any = json.loads(template(name)) if name.endswith(".json") else yaml.safe_load(template(name))
    if name == "github-workflow.yml":
        return [
            step["run"] for step in document["jobs"]["npulint"]["steps"] if step.get("run", "").startswith("npulint")
        ]
    if name == "gitlab-ci.yml":
        return list(document["npulint"]["script"])
    if name == "vscode-tasks.json":
        return [shlex.join([task["command"], *task["args"]]) for task in document["tasks"]]
    hooks = [hook for repo in document["repos"] for hook in repo["hooks"]]
    return [f"{hook['entry']} {shlex.join(hook['args'])} train.py" for hook in hooks]


@pytest.mark.parametrize("name", [name for name in TEMPLATES if name != "github-matcher.json"])
def test_the_commands_of_templates_run(name: str, project: Project, tmp_path: Path) -> None:
    project.write({"train.py": PROGRAM})
    subprocess.run(["git", "init", "-q"], cwd=project.folder, check=True)
    program = tmp_path / "bin" / "npulint"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nPYTHONPATH="{ROOT}" exec "{sys.executable}" -m npulint "$@"\n')
    program.chmod(0o755)
    summary = tmp_path / "summary with blank.md"
    environ = {
        **os.environ,
        "PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}",
        "GITHUB_STEP_SUMMARY": str(summary),
        "LC_ALL": "C.UTF-8",
    }
    lines = lines_of(name)
    assert lines
    for line in lines:
        done = subprocess.run(["bash", "-ec", line], cwd=project.folder, env=environ, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr.decode()
        assert b"cuda-left-over" in done.stdout
    if name == "github-workflow.yml":
        assert summary.exists() and (project.folder / "npulint.sarif").exists()
    if name == "gitlab-ci.yml":
        artifacts = yaml.safe_load(template(name))["npulint"]["artifacts"]
        written = {path.name for path in project.folder.iterdir()} - {"train.py", ".git"}
        assert written == set(artifacts["paths"]) == set(artifacts["reports"].values())


def steps_of(dockerfile: str) -> list[tuple[str, str]]:
    joined = re.sub(r"\\\n\s*", " ", dockerfile)
    return [(line.split(" ", 1)[0], line.split(" ", 1)[1]) for line in joined.split("\n") if line and line[0] != "#"]


DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")


def test_the_dockerfile_is_as_its_linter_and_npulint_want_it(project: Project) -> None:
    assert ran(tool("hadolint"), str(ROOT / "Dockerfile")) == ""
    project.write({"Dockerfile": DOCKERFILE})
    assert project.check().findings == []


def test_the_image_runs_npulint_as_nobody_in_particular() -> None:
    steps = steps_of(DOCKERFILE)
    last = max(place for place, (word, _) in enumerate(steps) if word == "FROM")
    final = dict(steps[last:])
    assert final["ENTRYPOINT"] == '["npulint"]' and final["WORKDIR"] == "/src"
    user, _, group = final["USER"].partition(":")
    assert int(user) > 1000 and int(group) > 1000
    assert "RUN" not in final
    bases = [rest.split()[0] for word, rest in steps if word == "FROM"]
    version = re.match(r"python:(3\.\d+)-slim-", bases[0])
    assert len(set(bases)) == 1 and version is not None
    assert f"/lib/python{version[1]}/site-packages/npulint/checks/{PRECOMPILED}" in DOCKERFILE


def test_the_image_is_built_from_what_it_copies() -> None:
    """Nothing else gets into the context, and all of it is there."""
    rules = [line for line in (ROOT / ".dockerignore").read_text().split("\n") if line and not line.startswith("#")]
    allowed = [rule[1:] for rule in rules if rule.startswith("!")]
    copied: list[str] = []
    for word, rest in steps_of(DOCKERFILE):
        if word == "COPY" and not rest.startswith("--from"):
            copied += rest.split()[:-1]
    assert rules[0] == "*" and sorted(allowed) == sorted(copied)
    assert [name for name in copied if not (ROOT / name).exists()] == []
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    for name in re.findall(r'(?:readme = |license-files = \[|force-include\]\n)"?([\w.]+)', project):
        assert any(fnmatch.fnmatch(name, pattern) for pattern in copied), name
