"""The hooks as pre-commit runs them: this working tree is the hook repository, installed by pre-commit itself."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

from npulint.discover.kinds import _EXACT, _SUFFIX, GRAPH
from npulint.hosts.integrations import template
from tests.fix_checks import CHECKS, CODES, MODEL, SAFE
from tests.git_support import commit, environment, git
from tests.project_support import ROOT, Project
from tests.test_change_impact import CHECK, TABLES, TRAIN, WITHOUT
from tests.tools import missing

pytestmark = [pytest.mark.slow, pytest.mark.nightly]  # each installs npulint into an environment of pre-commit

MANIFEST = ROOT / ".pre-commit-hooks.yaml"
HOOKS: list[dict[str, Any]] = yaml.safe_load(MANIFEST.read_text(encoding="utf-8"))
BUILDING = 600  # seconds for pip to build the environment of the hooks
GOOD = "import torch\n\n\ndef f(x):\n    return torch.relu(x)\n"
BAD = """\
import tensorflow as tf
sess = tf.Session()
sess.run(tf.train.GradientDescentOptimizer(1e-3).minimize(tf.zeros([])))
"""


class Answer(msgspec.Struct, frozen=True):
    """What pre-commit printed and returned."""

    code: int
    out: str


class Hooked:
    """A repository of somebody who uses the hooks."""

    def __init__(self, folder: Path, hooks: tuple[Path, str], environ: Mapping[str, str]) -> None:
        self.folder = folder
        self._hooks = hooks
        self._environ = environ
        self.write = Project(folder).write
        git(folder, "init", "-q")
        self.use({"id": "npulint"})

    def use(self, *hooks: Mapping[str, Any]) -> None:
        """The hooks that the repository asks for."""
        place, revision = self._hooks
        repos = [{"repo": place.as_uri(), "rev": revision, "hooks": list(hooks)}]
        (self.folder / ".pre-commit-config.yaml").write_text(yaml.safe_dump({"repos": repos}), encoding="utf-8")

    def stage(self, files: Mapping[str, str | bytes] | None = None) -> None:
        """Write files, and stage all there are."""
        self.write(files or {})
        git(self.folder, "add", "-A", "-f")

    def run(self, *words: str) -> Answer:
        """``pre-commit run``."""
        return precommit(self.folder, self._environ, "run", "--color=never", *words)

    def commit(self) -> subprocess.CompletedProcess[bytes]:
        """A real commit, past the installed hook."""
        precommit(self.folder, self._environ, "install")
        command = [shutil.which("git") or "git", "commit", "-q", "-m", "x"]
        return subprocess.run(command, cwd=self.folder, env=dict(self._environ), capture_output=True, check=False)


def precommit(folder: Path, environ: Mapping[str, str], *words: str) -> Answer:
    done = subprocess.run(
        [sys.executable, "-m", "pre_commit", *words],
        cwd=folder,
        env=dict(environ),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=BUILDING,
        check=False,
    )
    return Answer(done.returncode, done.stdout.decode())


@pytest.fixture(scope="session")
def environ(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Where pre-commit and npulint keep what they remember."""
    if importlib.util.find_spec("pre_commit") is None:
        missing("pre-commit")
    home = tmp_path_factory.mktemp("pre-commit")
    cache = tmp_path_factory.mktemp("npulint")
    return {**environment(), "PRE_COMMIT_HOME": str(home), "NPULINT_CACHE_DIR": str(cache), "LC_ALL": "C.UTF-8"}


@pytest.fixture(scope="session")
def hooks(tmp_path_factory: pytest.TempPathFactory, environ: dict[str, str]) -> tuple[Path, str]:
    """This working tree as a repository with one commit, and the commit."""
    if not (ROOT / ".git").exists():
        missing("a git checkout of npulint")
    folder = tmp_path_factory.mktemp("hooks")
    fetched = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--dest", str(folder / "pip"), "hatchling"]
    if subprocess.run(fetched, capture_output=True, check=False).returncode:
        missing("a package index that pip can reach")
    shutil.rmtree(folder / "pip")
    names = git(ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0")
    for name in filter(None, names):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    return folder, commit(folder)


@pytest.fixture
def hooked(tmp_path: Path, hooks: tuple[Path, str], environ: dict[str, str]) -> Hooked:
    folder = tmp_path / "user"
    folder.mkdir()
    return Hooked(folder, hooks, environ)


def test_the_manifest_is_valid(environ: dict[str, str]) -> None:
    assert precommit(ROOT, environ, "validate-manifest", str(MANIFEST)) == Answer(0, "")


# A graph alone does not start a hook: what it says hangs on the source, and the hook for a project reads it then.
KINDS = sorted(
    [f"a.{suffix}" for suffix, kinds in _SUFFIX.items() if kinds != GRAPH]
    + [*_EXACT, "requirements.txt", "Dockerfile.npu"]
)


@pytest.mark.parametrize("hook", HOOKS, ids=[hook["id"] for hook in HOOKS])
def test_every_kind_of_file_reaches_the_hook(hook: dict[str, Any], environ: dict[str, str]) -> None:
    from identify import identify

    wanted = set(hook["types_or"])
    assert [name for name in KINDS if not wanted & identify.tags_from_filename(name)] == [
        *("a.dockerfile", "a.sbatch", "a.slurm")  # no tag
    ]
    for interpreter in ("python3", "bash", "sh", "ksh", "dash", "zsh"):
        assert wanted & identify.tags_from_interpreter(interpreter), interpreter


def test_a_change_without_findings_is_committed(hooked: Hooked) -> None:
    hooked.stage({"model.py": GOOD})
    done = hooked.commit()
    assert done.returncode == 0, done.stdout + done.stderr
    assert git(hooked.folder, "log", "--format=%s") == "x"


def test_a_finding_stops_the_commit(hooked: Hooked) -> None:
    hooked.stage({"model.py": BAD})
    done = hooked.commit()
    assert done.returncode == 1
    assert "model.py:2:8" in (done.stdout + done.stderr).decode()
    assert git(hooked.folder, "log", "--all", "--format=%s") == ""


@pytest.fixture
def zoo(hooked: Hooked) -> Hooked:
    hooked.write({"requirements.txt": "tensorflow==1.15\n", "tables.py": TABLES, "train.py": TRAIN})
    commit(hooked.folder)
    return hooked


def test_the_consequence_of_a_change_in_another_file_stops_the_commit(zoo: Hooked) -> None:
    zoo.stage({"train.py": WITHOUT})
    answer = zoo.run()
    assert answer.code == 1
    assert f"error[{CHECK}]" in answer.out and "--> tables.py:4" in answer.out
    assert "that depends on a changed one: tables.py" in answer.out
    done = zoo.commit()  # where git tells the hook about the index and the folder in variables
    assert (done.returncode, "--> tables.py:4" in done.stderr.decode()) == (1, True)


def test_an_old_finding_in_another_file_does_not(zoo: Hooked) -> None:
    zoo.write({"train.py": WITHOUT})
    commit(zoo.folder)
    zoo.stage({"train.py": WITHOUT + "print(1)\n"})
    answer = zoo.run("-v")
    assert answer.code == 0
    assert re.search(r"\d findings? in files that were not specified \(npulint check\)", answer.out)


def test_only_what_is_staged_counts(zoo: Hooked) -> None:
    zoo.stage({"train.py": TRAIN + "print(1)\n"})
    zoo.write({"train.py": BAD})
    assert zoo.run().code == 0
    assert (zoo.folder / "train.py").read_text() == BAD


def test_between_two_commits(zoo: Hooked) -> None:
    zoo.write({"train.py": WITHOUT})
    commit(zoo.folder)
    assert zoo.run("--from-ref", "HEAD~1", "--to-ref", "HEAD").code == 1
    assert zoo.run("--all-files").code == 1


def test_deleted_and_renamed_files(zoo: Hooked) -> None:
    (zoo.folder / "train.py").unlink()
    (zoo.folder / "tables.py").rename(zoo.folder / "lookup.py")
    zoo.stage()
    answer = zoo.run("-v")
    assert answer.code == 0
    assert "1 file" in answer.out
    git(zoo.folder, "rm", "-q", "-f", "lookup.py")
    assert zoo.run("--files", "requirements.txt").code == 0


READ: dict[str, str | bytes] = {
    "train.py": GOOD,
    "explore.ipynb": json.dumps({"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}),
    "run.sh": "export RANK_SIZE=8\n",
    "ops_info.json": '{"black-list": {"to-add": ["Conv2D"]}}',
    "Dockerfile": "FROM scratch\n",
    "Makefile": "train:\n\tpython train.py\n",
    "sft.yaml": "stage: sft\nmodel_name_or_path: x\n",
    "requirements-npu.txt": "torch==2.1\n",
    "setup.cfg": "[metadata]\n",
    "pyproject.toml": "[project]\nname = 'x'\n",
    "environment.yml": "name: x\n",
    "op.cu": "__global__ void f() {}\n",
    "bind.cpp": "PYBIND11_MODULE(x, m) { cuda(); }\n",
}
NOT_READ: dict[str, str | bytes] = {
    "notes.txt": "text\n",
    "package.json": '{"a": // no JSON\n1}',
    "config.yaml": "a: [\n",
    "plain.cpp": "int main() { return 0; }\n",
    "venv/lib.py": BAD,
    "sub/node_modules/gen.py": BAD,
    "generated/api.py": BAD,
    "third_party/old.py": BAD,
    ".gitignore": "/generated/\n",
    "npulint.toml": 'extend-exclude = ["third_party/"]\n',
}


def test_what_is_read_of_all_that_is_staged(hooked: Hooked) -> None:
    hooked.use({"id": "npulint", "args": ["--show-files", "--"], "verbose": True})
    hooked.stage({**READ, **NOT_READ})
    script = hooked.folder / "launch"
    script.write_text("#!/usr/bin/env python3\nimport torch\n")
    script.chmod(0o755)
    hooked.stage()
    answer = hooked.run()
    assert answer.code == 0
    listed = answer.out.split("\n\n", 1)[1].split()
    assert listed == sorted([*READ, "launch"])


def test_files_that_are_left_out_stay_quiet_though_named(hooked: Hooked) -> None:
    hooked.stage(NOT_READ)
    answer = hooked.run("-v")
    assert answer.code == 0
    assert "warning" not in answer.out and "error" not in answer.out


@pytest.mark.skipif(os.name == "nt", reason="Windows knows no such names")
def test_odd_names(hooked: Hooked) -> None:
    names = ["-x.py", "--exit-zero", "a b.py", "line\nbreak.py", "中文/模型.py", "quo'te\".py", "$(touch y).py", "*.py"]
    hooked.use({"id": "npulint", "args": ["--"]}, {"id": "npulint-project"})
    hooked.stage(dict.fromkeys(names, "#!/usr/bin/python3\n" + BAD))
    (hooked.folder / "--exit-zero").chmod(0o755)
    hooked.stage()
    changed, whole = hooked.run("npulint"), hooked.run("npulint-project")
    assert (changed.code, whole.code) == (1, 1)
    shown = ["-x.py:3", "--exit-zero:3", "a b.py:3", "line\\nbreak.py:3", "中文/模型.py:3", "$(touch y).py:3"]
    assert [place for place in shown if f"> {place}" not in changed.out] == []
    assert not (hooked.folder / "y").exists()


def test_the_hook_that_needs_no_repository_does_the_same() -> None:
    local: dict[str, Any] = yaml.safe_load(template("pre-commit-config.yaml"))["repos"][0]["hooks"][0]
    published = next(hook for hook in HOOKS if hook["id"] == local["id"])
    shared = set(local) & set(published)
    assert {key: local[key] for key in shared} == {key: published[key] for key in shared}
    assert shared >= {"id", "entry", "args", "language", "types_or", "require_serial"}


def test_the_hook_brings_its_own_end_of_options() -> None:
    assert {hook["id"]: hook.get("args") for hook in HOOKS}["npulint"] == ["--"]


def test_the_hook_that_mends_is_the_other_one_with_one_word_more() -> None:
    hooks = {hook["id"]: hook for hook in HOOKS}
    plain, mending = hooks["npulint"], hooks["npulint-fix"]
    assert mending["entry"] == plain["entry"].replace("npulint check", "npulint check --fix")
    assert mending["require_serial"]
    told = {"id", "name", "description", "entry"}
    assert {k: v for k, v in mending.items() if k not in told} == {k: v for k, v in plain.items() if k not in told}


WARNED = """\
    import tensorflow as tf
    from npu_bridge.npu_init import *
    data = tf.data.Dataset.range(10).batch(4)
    loss = tf.reduce_mean(tf.cast(data.make_one_shot_iterator().get_next(), tf.float32))
    tf.Session().run(tf.train.GradientDescentOptimizer(1e-3).minimize(loss))
    """


def test_warnings_stop_a_commit_only_when_asked(hooked: Hooked) -> None:
    hooked.stage({"train.py": WARNED, "requirements.txt": "tensorflow==1.15\n"})
    relaxed = hooked.run()
    assert (relaxed.code, "warning[" in relaxed.out) == (0, False)  # pre-commit hides what passes
    hooked.use({"id": "npulint", "args": ["--fail-on", "warning", "--"]})
    hooked.stage()
    strict = hooked.run()
    assert (strict.code, "warning[batch-without-drop-remainder]" in strict.out) == (1, True)
    hooked.use({"id": "npulint", "args": ["--exit-zero", "--"], "verbose": True})
    hooked.stage()
    told = hooked.run()
    assert (told.code, "warning[batch-without-drop-remainder]" in told.out) == (0, True)


def test_a_mistake_in_the_configuration_is_told(hooked: Hooked) -> None:
    hooked.stage({"train.py": GOOD, "npulint.toml": "igore = []\n"})
    answer = hooked.run()
    assert answer.code == 1
    assert "exit code: 2" in answer.out and "did you mean `ignore`" in answer.out


def test_the_project_hook_runs_once_without_names(hooked: Hooked) -> None:
    hooked.use({"id": "npulint-project"})
    hooked.write({"old.py": BAD})
    commit(hooked.folder)
    hooked.stage({f"m{number}.py": GOOD for number in range(20)})
    answer = hooked.run()
    assert answer.code == 1
    assert answer.out.count("error[session-without-npu-config]") == 1
    assert "of 21 files" in answer.out


def test_files_are_mended_before_they_are_committed(hooked: Hooked) -> None:
    hooked.use({"id": "npulint-fix", "args": ["--checks", "mine", "--select", ",".join(CODES), "--"]})
    mine: dict[str, str | bytes] = {f"mine/{name}": text for name, text in CHECKS.items()}
    hooked.stage({**mine, "model.py": MODEL.encode(), "other.py": GOOD})
    stopped = hooked.commit()
    said = (stopped.stdout + stopped.stderr).decode()
    assert stopped.returncode == 1
    assert "files were modified by this hook" in said and "Fixed 1 finding in 1 file" in said
    assert (hooked.folder / "model.py").read_bytes().decode() == SAFE
    hooked.stage()
    done = hooked.commit()
    assert done.returncode == 0, done.stdout + done.stderr
    assert git(hooked.folder, "show", "HEAD:model.py") == SAFE.strip()


def test_what_cannot_be_mended_still_stops_the_commit(hooked: Hooked) -> None:
    hooked.use({"id": "npulint-fix"})
    hooked.stage({"model.py": BAD})
    done = hooked.commit()
    assert (done.returncode, "model.py:2:8" in (done.stdout + done.stderr).decode()) == (1, True)
    assert (hooked.folder / "model.py").read_text() == BAD


def checked(out: str) -> Sequence[int]:
    """How many files each process says that it looked at."""
    return [int(max(groups)) for groups in re.findall(r" of (\d+) files?\b| in (\d+) files;|(\d+) files? checked", out)]


def test_two_thousand_files_at_once(hooked: Hooked) -> None:
    """More than one command line holds: pre-commit starts several processes, and each judges the whole project."""
    folder = "a_package_with_a_rather_long_name/and_a_part_of_it_with_another"
    files = {f"{folder}/module_number_{number:04d}.py": GOOD for number in range(2000)}
    hooked.use({"id": "npulint", "args": ["--format", "concise", "--"], "verbose": True})
    hooked.stage({**files, "requirements.txt": "torch==2.1\n", f"{folder}/module_number_1000.py": BAD})
    answer = hooked.run()
    assert answer.code == 1
    assert answer.out.count("[session-without-npu-config]") == 1
    assert len(checked(answer.out)) > 1
    assert sum(checked(answer.out)) == 2001
