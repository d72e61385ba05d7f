"""Nothing in the working folder or in a checked one is run, whatever its files are called and whoever starts processes.

An interpreter of the tests' own has an audit hook in each of its processes: it records what is executed below the
folder. The files leave marks as well."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.git_support import ALONE, commit

ROOT = Path(__file__).parent.parent
DRIVER = ROOT / "tests" / "hostile_folder.py"
PACKAGES = ("concurrent", "encodings", "importlib", "msgspec", "multiprocessing", "npulint", "yaml")
MODULES = (
    *("json", "torch", "torch_npu", "sitecustomize", "usercustomize", "subprocess", "ctypes", "sqlite3", "select"),
    *("queue", "site", "threading", "tomli", "tomllib", "pyarrow", "pkgutil", "runpy"),
)
TRAIN = """\
import torch
model = torch.nn.Linear(2, 2).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x in data:
    model(x).sum().backward()
    optimizer.step()
"""
AUDIT = """\
import os, sys
FOLDER, LOG = {folder!r}, {log!r}
def hook(event, arguments):
    if event == "exec":
        path = getattr(arguments[0], "co_filename", "")
    elif event == "import":
        path = arguments[1]
    else:
        return
    if isinstance(path, str) and not path.startswith("<") and os.path.realpath(path).startswith(FOLDER + os.sep):
        descriptor = os.open(LOG, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.write(descriptor, (event + " " + path + "\\n").encode())
        os.close(descriptor)
sys.addaudithook(hook)
"""


class Trap(msgspec.Struct):
    """A hostile folder, an interpreter that records what is run there, and one that has no packages besides."""

    folder: Path
    python: str
    bare: str
    log: Path
    mark: Path

    def sprung(self) -> list[str]:
        """What was run."""
        return [line for path in (self.log, self.mark) if path.exists() for line in path.read_text().splitlines()]

    def run(self, *words: str, given: str = "") -> str:
        """Run Python in the folder, with this standard input; what it printed."""
        done = subprocess.run(
            [self.python, *words],
            cwd=self.folder,
            env={**os.environ, **ALONE, "LC_ALL": "C"},
            input=given,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


def _interpreter(place: Path, audit: str, *further: str) -> str:
    """An environment whose processes all have the audit hook and these folders on their path."""
    venv.EnvBuilder(symlinks=True).create(place)
    packages = next(place.glob("lib/python*/site-packages"))
    (packages / "recording.py").write_text(audit)
    (packages / "recording.pth").write_text("\n".join(["import recording", *further]) + "\n")
    return str(place / "bin" / "python")


@pytest.fixture
def trap(tmp_path: Path) -> Trap:
    """A folder with two projects and with files that leave a mark when they are run."""
    folder, log, mark = tmp_path / "folder", tmp_path / "log", tmp_path / "mark"
    hostile = f"with open({str(mark)!r}, 'a') as stream:\n    stream.write(__name__ + '\\n')\n"
    for place in (folder, folder / "a", folder / "b"):
        place.mkdir()
        for name in MODULES:
            (place / f"{name}.py").write_text(hostile)
        for name in PACKAGES:
            (place / name).mkdir()
            (place / name / "__init__.py").write_text(hostile)
    for name in ("a", "b"):
        (folder / name / "setup.py").write_text(hostile)
        (folder / name / "train.py").write_text(TRAIN)
    commit(folder)
    audit = AUDIT.format(folder=os.path.realpath(folder), log=str(log))
    packages = [entry for entry in sys.path if Path(entry).name == "site-packages"]
    python = _interpreter(tmp_path / "python", audit, *packages, str(ROOT))
    return Trap(folder, python, _interpreter(tmp_path / "bare", audit), log, mark)


STARTING = ("check --no-cache --exit-zero --jobs 2 .", "large .", "many", "survey . --out {out} --no-reports")
OTHERS = (
    "check --no-cache --exit-zero a/train.py --consequences-since HEAD",
    "compare a b --no-cache --jobs 2 --exit-zero",
    "port a --no-cache --diff",
    "effort . --no-cache",
    "reveal a",
    "versions torch==2.1.0",
    "doctor",
    "doctor --python {bare}",
    "doctor --python {bare} --deep",
    "doctor --deep",
    "flake8 a/train.py",
    "pylint a/train.py",
)


def _words(commands: tuple[str, ...], trap: Trap) -> list[str]:
    joined = " + ".join(commands).format(bare=trap.bare, out=trap.folder.parent / "survey")
    return joined.split()


def test_the_trap_works(trap: Trap) -> None:
    trap.run("-c", "import json")
    assert f"exec {trap.folder}/json.py" in trap.sprung() and "json" in trap.sprung()
    trap.log.unlink()
    trap.mark.unlink()
    trap.run(str(DRIVER), "spawn", "multiprocessing")
    assert "multiprocessing" in trap.sprung()


@pytest.mark.slow
@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_no_process_of_a_command_runs_a_file_of_the_folder(trap: Trap, method: str) -> None:
    said = trap.run(str(DRIVER), method, *_words(STARTING, trap))
    assert sum(line.startswith("done ") for line in said.splitlines()) == len(STARTING) + 1  # one runs another
    assert trap.sprung() == []


@pytest.mark.daily
@pytest.mark.slow
def test_no_command_runs_a_file_of_the_folder(trap: Trap) -> None:
    said = trap.run(str(DRIVER), "spawn", *_words(OTHERS, trap))
    assert sum(line.startswith("done ") for line in said.splitlines()) == len(OTHERS)
    assert trap.sprung() == []


@pytest.mark.slow
def test_the_server_runs_no_file_of_the_folder(trap: Trap) -> None:
    address = (trap.folder / "a" / "train.py").as_uri()
    document = {"uri": address, "languageId": "python", "version": 1, "text": TRAIN}
    said = trap.run(
        *("-I", "-m", "npulint", "server"),
        given=_messages(
            {"id": 1, "method": "initialize", "params": {"capabilities": {}, "rootUri": trap.folder.as_uri()}},
            {"method": "initialized", "params": {}},
            {"method": "textDocument/didOpen", "params": {"textDocument": document}},
            {"id": 2, "method": "textDocument/codeAction", "params": _everything(address)},
            {"id": 3, "method": "shutdown"},
            {"method": "exit"},
        ),
    )
    assert '"id":3' in said.replace(" ", "")
    assert trap.sprung() == []


def _everything(address: str) -> dict[str, Any]:
    span = {"start": {"line": 0, "character": 0}, "end": {"line": 9, "character": 0}}
    return {"textDocument": {"uri": address}, "range": span, "context": {"diagnostics": []}}


def _messages(*messages: dict[str, Any]) -> str:
    texts = [json.dumps({"jsonrpc": "2.0", **message}) for message in messages]
    return "".join(f"Content-Length: {len(text)}\r\n\r\n{text}" for text in texts)


@pytest.mark.slow
def test_npulint_as_a_module_forgets_the_working_folder(trap: Trap) -> None:
    """Names that ``python -m`` itself needs, and npulint's own, are found in the folder before npulint is."""
    for name in ("importlib", "npulint", "pkgutil.py", "runpy.py"):
        (trap.folder / name).rename(trap.folder / f"not_{name}")
    trap.run("-m", "npulint", "check", "--no-cache", "--exit-zero", "--jobs", "2", ".")
    assert trap.sprung() == []
