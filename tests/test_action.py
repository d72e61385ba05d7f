"""The GitHub action: its script in a folder like those of the runner, with inputs that nobody should give."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import venv
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.github_runner import Command, run
from tests.project_support import ROOT

pytestmark = pytest.mark.slow

SCRIPT = ROOT / "scripts" / "run_action.py"
PROGRAM = (
    "import torch\nimport torch_npu\nmodel = torch.nn.Linear(2, 2).cuda()\nfor x in range(3):\n    model(x.cuda())\n"
)
TRAP = "open('/dev/stderr', 'w').write('TRAPPED')\nraise SystemExit(9)\n"
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
HOSTILE = '"; touch pwned; $(touch pwned) `touch pwned` && touch pwned\n::error::pwned\n'


class Runner:
    """A runner's folders: a workspace with a project, and what it hands to steps."""

    def __init__(self, folder: Path) -> None:
        self.workspace = folder / "work space"
        self.temp = folder / "temp"
        self.output = folder / "output"
        self.summary = folder / "summary.md"
        for path in (self.workspace, self.temp):
            path.mkdir()

    def write(self, files: Mapping[str, str]) -> None:
        for name, text in files.items():
            path = self.workspace / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    def step(self, number: int, python: str = sys.executable, **inputs: str) -> subprocess.CompletedProcess[str]:
        """Run a step of action.yml as the runner does: its text in bash, its inputs in the environment."""
        step = ACTION["runs"]["steps"][number]
        self.output.write_text("")
        self.summary.touch()
        environment = {
            **{
                key: value for key, value in os.environ.items() if not key.startswith(("GITHUB_", "NPULINT_", "PYTHON"))
            },
            **{key: self.filled(value, {"python": python, **inputs}) for key, value in step["env"].items()},
            "GITHUB_ACTIONS": "true",
            "GITHUB_ACTION_PATH": str(ROOT),
            "GITHUB_OUTPUT": str(self.output),
            "GITHUB_STEP_SUMMARY": str(self.summary),
            "GITHUB_WORKSPACE": str(self.workspace),
            "RUNNER_TEMP": str(self.temp),
            "LC_ALL": "C.UTF-8",
        }
        bash = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step["run"]]
        return subprocess.run(bash, cwd=self.workspace, env=environment, capture_output=True, text=True, check=False)

    @staticmethod
    def filled(value: str, inputs: Mapping[str, str]) -> str:
        name = re.fullmatch(r"\$\{\{ inputs\.([a-z-]+) \}\}", value)
        assert name is not None
        return inputs.get(name[1].replace("-", "_"), str(ACTION["inputs"][name[1]]["default"]))

    def check(self, **inputs: str) -> subprocess.CompletedProcess[str]:
        return self.step(1, **inputs)

    @property
    def outputs(self) -> dict[str, str]:
        lines = self.output.read_text().splitlines()
        return dict(line.split("=", 1) for line in lines)


@pytest.fixture
def runner(tmp_path: Path, cache_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Runner:
    """A runner whose environment holds the npulint that is tested, without installing it anew."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache_folder))
    one = Runner(tmp_path)
    program = one.temp / "npulint-environment" / "bin" / "npulint"
    program.parent.mkdir(parents=True)
    start = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from npulint.__main__ import main; sys.exit(main())"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -c "{start}" "$@"\n')
    program.chmod(0o755)
    return one


def told(done: subprocess.CompletedProcess[str]) -> list[Command]:
    """The annotations of a step; the runner reads both streams."""
    return [one for one in run(f"{done.stdout}\n{done.stderr}")[0] if one.name in ("error", "warning", "notice")]


def test_one_run_gives_annotations_summary_files_and_outputs(runner: Runner) -> None:
    runner.write({"a b/train.py": PROGRAM, "other.py": PROGRAM})
    done = runner.check(paths="a b/train.py\n", sarif="true", fail_on="warning")
    assert done.returncode == 1, done.stderr
    assert {one.properties["file"] for one in told(done)} == {"a b/train.py"}
    document = json.loads(Path(runner.outputs["json"]).read_text())
    assert runner.outputs["exit-code"] == "1"
    counts = ("findings", "errors", "warnings", "notes")
    assert [runner.outputs[name] for name in counts] == [str(document["summary"][name]) for name in counts]
    assert int(runner.outputs["warnings"]) > 0
    assert json.loads(Path(runner.outputs["sarif"]).read_text())["version"] == "2.1.0"
    assert runner.summary.read_text().startswith("# Readiness for Ascend NPUs")
    assert sorted(path.name for path in runner.workspace.rglob("*.py")) == ["other.py", "train.py"]
    assert sorted(path.name for path in runner.workspace.iterdir()) == ["a b", "other.py"]


def test_what_is_not_asked_for_is_not_written(runner: Runner) -> None:
    runner.write({"train.py": "x = 1\n"})
    done = runner.check(step_summary="false")
    assert done.returncode == 0 and told(done) == []
    assert runner.outputs["sarif"] == "" and runner.outputs["exit-code"] == runner.outputs["findings"] == "0"
    assert runner.summary.read_text() == ""


def test_two_runs_in_a_job_keep_apart(runner: Runner) -> None:
    runner.write({"a.py": PROGRAM, "b.py": "x = 1\n"})
    first = (runner.check(paths="a.py"), runner.outputs)[1]
    second = (runner.check(paths="b.py"), runner.outputs)[1]
    assert first["json"] != second["json"] and Path(first["json"]).exists()
    assert runner.summary.read_text().count("# Readiness for Ascend NPUs") == 2


def test_options_reach_npulint(runner: Runner) -> None:
    runner.write({"a b.py": PROGRAM, "known.json": '{"version": 1, "findings": []}\n'})
    done = runner.check(
        paths="\n a b.py \n\n", lang="zh", format="concise", fail_on="never", args="--min-severity note --ignore 'a, b'"
    )
    assert done.returncode == 0 and "个问题" in done.stdout and told(done) == []
    assert "`ignore`" in done.stderr
    assert runner.check(baseline="missing.json", format="concise").returncode in (1, 2)


@pytest.mark.parametrize("name", ["paths", "args", "format", "fail_on", "baseline", "lang", "sarif", "step_summary"])
def test_no_input_becomes_a_command(runner: Runner, name: str) -> None:
    runner.write({"a.py": "x = 1\n"})
    done = runner.check(**{name: HOSTILE})
    assert list(runner.workspace.rglob("pwned")) == []
    assert [one for one in told(done) if one.data == "pwned"] == []
    assert done.returncode == 2


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({"sarif": "yes"}, "sarif is true or false, not yes"),
        ({"step_summary": "1"}, "step-summary is true or false, not 1"),
        ({"args": "'open"}, "args: No closing quotation"),
        ({"args": "-- a"}, "args: files and folders are named in `paths`"),
    ],
)
def test_wrong_inputs_are_told(runner: Runner, inputs: dict[str, str], message: str) -> None:
    done = runner.check(**inputs)
    assert done.returncode == 2
    assert [(one.name, one.data) for one in told(done)] == [("error", message)]


def test_a_wrong_option_fails_and_leaves_no_counts(runner: Runner) -> None:
    done = runner.check(args="--no-such-option", sarif="true")
    assert done.returncode == 2 and runner.outputs == {"exit-code": "2", "sarif": "", "json": ""}


def test_a_path_may_begin_with_a_dash(runner: Runner) -> None:
    runner.write({"--fail-on=never": "", "-x.py": PROGRAM})
    assert {one.properties["file"] for one in told(runner.check(paths="-x.py\n"))} == {"-x.py"}


def test_without_the_runner_it_says_what_is_missing() -> None:
    done = subprocess.run(
        [sys.executable, "-I", str(SCRIPT), "check"], env={}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2 and told(done)[0].data == "RUNNER_TEMP is not set as the runner of GitHub sets it"


def test_an_old_python_can_read_the_script() -> None:
    ast.parse(SCRIPT.read_text(encoding="utf-8"), feature_version=(3, 7))


@pytest.fixture
def installing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Runner:
    """A runner without network: pip takes what it needs from this interpreter's environment."""
    one = Runner(tmp_path)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_NO_DEPS", "1")
    return one


def test_files_of_the_project_are_never_imported(installing: Runner, tmp_path: Path) -> None:
    installing.write({f"{name}.py": TRAP for name in ("venv", "pip", "ensurepip", "json", "npulint", "sitecustomize")})
    package = tmp_path / "demo"
    package.mkdir()
    (package / "pyproject.toml").write_text("[project]\nname = 'demo'\nversion = '1'\n")
    done = installing.step(0, version=str(tmp_path / "missing.whl"))
    assert "TRAPPED" not in done.stderr and done.returncode == 2
    assert told(done)[-1].data == f"pip could not install {tmp_path / 'missing.whl'}"
    python = installing.temp / "npulint-environment" / "bin" / "python"
    assert subprocess.run([python, "-c", "import pip"], check=False, cwd=tmp_path).returncode == 0


@pytest.mark.parametrize(
    "version",
    [
        HOSTILE,
        pytest.param("--index-url=x", marks=pytest.mark.nightly),
        pytest.param("-e .", marks=pytest.mark.nightly),
    ],
)
def test_no_version_becomes_a_command_or_an_option(installing: Runner, version: str) -> None:
    done = installing.step(0, version=version)
    assert done.returncode == 2 and list(installing.workspace.rglob("pwned")) == []
    assert [one for one in told(done) if one.data == "pwned"] == []
    assert "--index-url=x" not in done.stderr or "nvalid requirement" in done.stderr


@pytest.mark.nightly
def test_it_installs_itself_and_runs(runner: Runner) -> None:
    """The whole way, as far as this machine reaches an index for the build."""
    shutil.rmtree(runner.temp / "npulint-environment")
    probe = runner.temp / "probe"
    venv.create(probe, with_pip=True)
    reach = [
        str(probe / "bin" / "pip"),
        "download",
        "--quiet",
        "--no-deps",
        "--dest",
        str(runner.temp / "x"),
        "hatchling",
    ]
    if subprocess.run(reach, capture_output=True, check=False).returncode:
        from tests.tools import missing

        missing("an index for pip")
    runner.write({"train.py": PROGRAM, "venv.py": TRAP, "pip.py": TRAP})
    done = runner.step(0)
    assert done.returncode == 0, done.stderr
    done = runner.check(sarif="true", fail_on="warning")
    assert done.returncode == 1 and "TRAPPED" not in done.stderr
    assert Path(runner.outputs["sarif"]).exists() and int(runner.outputs["warnings"]) > 0


def test_every_input_is_used_and_only_through_the_environment() -> None:
    steps = ACTION["runs"]["steps"]
    used = {re.sub(r"^\$\{\{ inputs\.|\ \}\}$", "", value) for step in steps for value in step["env"].values()}
    assert used == set(ACTION["inputs"])
    assert not [step for step in steps if "${{" in step["run"]]
    read = set(re.findall(r'"NPULINT_([A-Z_]+)"', SCRIPT.read_text(encoding="utf-8")))
    read |= {"FORMAT", "FAIL_ON", "BASELINE", "LANGUAGE"} & set(
        re.findall(r'"([A-Z_]+)"', SCRIPT.read_text(encoding="utf-8"))
    )
    assert {f"NPULINT_{name}" for name in read} == {key for step in steps for key in step["env"]} - {"NPULINT_PYTHON"}
    told = set(re.findall(r"steps\.check\.outputs\.([a-z-]+)", (ROOT / "action.yml").read_text(encoding="utf-8")))
    assert told == set(ACTION["outputs"]) == {"exit-code", "findings", "errors", "warnings", "notes", "sarif", "json"}
