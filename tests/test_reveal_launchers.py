"""The starts that are read from launchers, compared with what the launchers do when a shell executes them: every
program that is really started has to be one of the starts."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from npulint.model.execution.launchers import launcher_starts
from npulint.model.execution.project_files import ProjectFiles
from npulint.model.execution.starts import Start
from tests.daily import parameters
from tests.tools import needed

RECORDER = """#!/bin/sh
{ printf '%s\\0' "$@"; printf '<folder>\\0%s\\0' "$PWD"; env -0; printf '<end>\\0'; } >> "$RECORD"
"""
# What else a launcher may call: programs that start the one behind their own options.
BEHIND_OPTIONS = """#!/bin/sh
while [ $# -gt 0 ]; do
  case "$1" in
    *.py) exec python "$@" ;;
    -m) exec python "$@" ;;
    python) exec "$@" ;;
    *) shift ;;
  esac
done
"""

TABLE = Path(__file__).parent / "data" / "reveal_launchers.txt"


def launchers() -> dict[str, str]:
    """The launchers by what is special in them: after a line ``== name`` the text."""
    parts = TABLE.read_text(encoding="utf-8").split("== ")[1:]
    named = (part.partition("\n") for part in parts)
    return {name: f"{text.rstrip()}\n" for name, _, text in named}


LAUNCHERS = {**launchers(), "a carriage return": "python train.py 1 \r\npython train.py 2\r\n"}
# The arguments and the environment with which each is executed.
CALLERS: tuple[tuple[tuple[str, ...], dict[str, str]], ...] = (
    ((), {}),
    (("a b", "--lr=9"), {"LR": "5 6", "LR2": "1", "X": "x y", "WHERE": "sub"}),
    (("eval.py",), {"LR": "", "SCRIPT": "sub/other.py", "BS": "*"}),
)
PLACES = ("run.sh", "scripts/run.sh")
SCRIPTS = ("train.py", "eval.py", "sub/other.py", "pkg/__init__.py", "pkg/__main__.py", "pkg/tool.py")
Execution = tuple[list[str], str, dict[str, str]]


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the programs that launchers start; that called python only records how."""
    folder = tmp_path_factory.mktemp("programs")
    texts = dict.fromkeys(("python", "python3"), RECORDER)
    texts |= dict.fromkeys(("torchrun", "accelerate", "mpirun"), BEHIND_OPTIONS)
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
        (folder / name).chmod(0o755)
    return folder


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with scripts in several folders."""
    root = tmp_path / "project"
    for path in SCRIPTS:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("", encoding="utf-8")
    (root / "settings.env").write_text("LR=0.9\n", encoding="utf-8")
    (root / "go.env").write_text("cd sub\n", encoding="utf-8")
    (root / "other.sh").write_text('python train.py "$1"\n', encoding="utf-8")
    (root / "scripts").mkdir()
    return root


def executed(
    root: Path, programs: Path, launcher: str, words: tuple[str, ...], environment: dict[str, str]
) -> list[Execution]:
    """The command lines of Python that a launcher executes: words, folder and environment of each."""
    record = root.parent / "record"
    record.write_bytes(b"")
    environment = {"PATH": f"{programs}:{os.environ['PATH']}", "HOME": "/home/someone", **environment}
    subprocess.run(
        [needed("bash"), launcher, *words],
        cwd=root,
        env={"RECORD": str(record), **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=60,
    )
    return [_execution(part) for part in record.read_text(encoding="utf-8").split("<end>\0")[:-1]]


def _execution(recorded: str) -> Execution:
    words, _, rest = recorded.partition("<folder>\0")
    folder, *variables = rest.split("\0")[:-1]
    pairs = (one.partition("=") for one in variables)
    return words.split("\0")[:-1], folder, {name: text for name, _, text in pairs}


def covers(start: Start, words: list[str], folder: str, environment: dict[str, str], root: Path) -> bool:
    """Whether a start says what really happened, as far as it says anything."""
    is_optimised = "-O" in words[:1] or environment.get("PYTHONOPTIMIZE")
    while words and words[0] in ("-u", "-O", "-W", "ignore"):
        words = words[1:]
    here = os.path.relpath(folder, root)
    if words[0] == "-m":
        base = os.path.normpath(os.path.join(here, words[1].replace(".", "/")))
        paths, named, given = [f"{base}.py", f"{base}/__main__.py"], None, words[2:]
    else:
        paths, named, given = [os.path.normpath(os.path.join(folder, words[0]))], words[0], words[1:]
        paths = [os.path.relpath(path, root) for path in paths]
    if start.script not in paths:
        return False
    if start.unfollowed or is_optimised:
        return bool(start.unfollowed)
    if (start.folder or ".") != here or (start.named not in (None, named) and not start.module):
        return False
    if any(environment.get(name) != text for name, text in start.environment):
        return False
    own = [os.path.normpath(os.path.join(folder, one)) for one in environment.get("PYTHONPATH", "").split(":") if one]
    if [str(root / one) for one in start.search] != own:
        return False
    if start.is_open:
        return True
    return len(start.words) == len(given) and all(
        one is None or one == other for one, other in zip(start.words, given, strict=True)
    )


def is_of_project(words: list[str], folder: str, root: Path) -> bool:
    """Whether a command line starts a program of the project."""
    if not words or "-m" in words[:2]:
        return bool(words)
    scripts = [Path(folder, word) for word in words[:3] if word.endswith(".py")]
    return bool(scripts) and scripts[0].exists() and scripts[0].resolve().is_relative_to(root)


@pytest.mark.parametrize("launcher", parameters(LAUNCHERS, str, per_group=40))
def test_every_program_that_a_launcher_starts_is_one_of_its_starts(
    launcher: str, project: Path, programs: Path
) -> None:
    count = 0
    for place in PLACES:
        (project / place).write_bytes(LAUNCHERS[launcher].encode())
        files = ProjectFiles(str(project))
        starts = [
            start
            for path, kind in files.launchers
            for start in launcher_starts(files.launcher_text(path) or "", path, kind, files)
        ]
        for caller in CALLERS:
            for words, folder, environment in executed(project, programs, place, *caller):
                count += 1
                if is_of_project(words, folder, project):
                    assert any(covers(start, words, folder, environment, project) for start in starts), (words, starts)
        (project / place).unlink()
    assert count, "the launcher starts nothing"
