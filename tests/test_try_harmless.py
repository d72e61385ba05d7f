"""A trial leaves everything outside of its copy as it is, has limits, and ends with all that it started."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from npulint.fakes.supervision.supervisor import can_refuse_writing
from npulint.hosts.cli.main import main
from tests.live_support import installed

pytestmark = pytest.mark.slow

_LOOP = """
import torch
import torch_npu
net = torch.nn.Linear(4, 2).npu()
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for step in range(10):
    optimizer.zero_grad()
    net(torch.ones(8, 4).npu()).sum().backward()
    optimizer.step()
"""
_WRITERS = {  # each writes to `there`, a folder outside, as programs do; errors are what programs do not expect
    "checkpoints": "torch.save(net.state_dict(), there + '/model.pt')\nnet.load_state_dict(torch.load('kept.pt'))",
    "files": "open(there + '/log.txt', 'w').write('x')",
    "appended": "open(there + '/kept', 'a').write('x')",
    "folders": "import pathlib\npathlib.Path(there, 'runs', 'one').mkdir(parents=True)",
    "moved": "import shutil\nshutil.move(there + '/kept', 'taken')",
    "removed tree": "import shutil\nshutil.rmtree(there)",
    "removed": "os.unlink(there + '/kept')",
    "shell": "os.system('touch ' + there + '/new')",
    "processes": "import subprocess\nsubprocess.run(['cp', there + '/kept', there + '/new'], check=True)",
    "shell that copies": "assert os.system('cp kept.pt ' + there + '/new') == 0",
    "shell with a pipe": "import subprocess\nsubprocess.run('date | tee ' + there + '/new', shell=True, check=True)",
    "Python in a process": "import subprocess, sys\n"
    "subprocess.run([sys.executable, '-c', 'open(%r, \"w\")' % (there + '/new')], check=True)",
    "Python without its guards": "import subprocess, sys\n"
    "subprocess.run([sys.executable, '-S', '-c', 'open(%r, \"w\")' % (there + '/new')], check=True)",
    "arrays": "import numpy\nnumpy.save(there + '/x.npy', numpy.ones(2))",
    "arrays as they are": "import numpy\nnumpy.ones(2).tofile(there + '/x.bin')",
    "mapped arrays": "import numpy\nnumpy.memmap(there + '/x.bin', mode='w+', shape=(4,))",
    "data bases": "import sqlite3\nsqlite3.connect(there + '/x.db').execute('create table x(y)')",
    "C": "import ctypes\nassert ctypes.CDLL(None).creat((there + '/new').encode(), 0o644) >= 0",
    "HDF5": "import h5py\nh5py.File(there + '/x.h5', 'w').close()",
    "links": "os.symlink(there, 'link')\nopen('link/new', 'w')",
    "renamed over": "open('own', 'w').close()\nos.replace('own', there + '/kept')",
    "the project": "open(home_of_project + '/train.py', 'w')",
    "the home folder": "open(os.path.realpath(os.path.expanduser('~/kept')), 'w')",
}
_BY_C = ("data bases", "C", "HDF5", "Python without its guards")


def tree(folder: Path) -> str:
    """A digest of all names, kinds and contents below a folder."""
    found = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        found.update(f"{path.relative_to(folder)} {path.is_dir()} {path.lstat().st_mtime_ns}".encode())
        if path.is_file():
            found.update(path.read_bytes())
    return found.hexdigest()


@pytest.fixture(autouse=True)
def _there() -> None:
    installed("torch")


@pytest.fixture
def on_disk() -> Iterator[Path]:
    """A folder that is not in shared memory, which what C writes may change."""
    with tempfile.TemporaryDirectory(dir="/var/tmp" if os.path.isdir("/var/tmp") else None) as folder:
        yield Path(folder)


def test_nothing_outside_of_the_copy_is_changed(
    on_disk: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    project, outside, home = (on_disk / name for name in ("project", "outside", "home"))
    for folder in (project / ".git", outside / "sub", home / ".cache" / "tool", home / ".config"):
        folder.mkdir(parents=True)
    for path in (outside / "kept", outside / "sub" / "kept", home / "kept", home / ".cache" / "tool" / "kept"):
        path.write_text("kept")
    lines = [f"there = {str(outside)!r}", f"home_of_project = {str(project)!r}", "import os", _LOOP]
    lines.append("torch.save(net.state_dict(), 'kept.pt')")
    kernel = can_refuse_writing(str(on_disk))
    for name, work in _WRITERS.items():
        if kernel or name not in _BY_C:
            body = textwrap.indent(work, "    ")
            lines.append(f"try:\n{body}\n    print('DONE', {name!r})\nexcept Exception as error:\n")
            lines.append(f"    print('REFUSED', {name!r}, type(error).__name__)\n")
    lines.append("for folder in ('~/.cache/tool/made', '~/.config/made', 'made', '../made'):\n")
    lines.append("    os.makedirs(os.path.expanduser(folder))\nopen(os.path.expanduser('~/.cache/tool/kept'), 'w')\n")
    lines.append("print('ALL OWN')\nraise SystemExit(0)\n")
    program = "\n".join(lines).replace("range(10)", "range(2)")
    (project / "train.py").write_text(program)
    monkeypatch.chdir(project)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CACHE_HOME", str(on_disk / "cache"))
    before = [tree(folder) for folder in (project, outside, home)]
    code = main(["try", "--isolated", "--no-cache", "train.py"])
    told = capfd.readouterr().err
    assert code == 0 and "ALL OWN" in told, told
    done = {line.split(maxsplit=1)[1] for line in told.split("\n") if line.startswith("DONE")}
    assert done <= {"checkpoints"}, told
    assert [tree(folder) for folder in (project, outside, home)] == before
    assert not (on_disk / "made").exists()


def test_the_program_has_a_limit_of_memory(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "train.py").write_text(_LOOP.replace("range(10)", "range(1)") + "block = bytearray(6 << 30)\n")
    monkeypatch.chdir(tmp_path)
    assert main(["try", "--isolated", "--memory-limit", "4", "train.py"]) == 0
    assert "MemoryError" in capfd.readouterr().out


def test_an_interrupt_ends_what_a_program_started(tmp_path: Path) -> None:
    # one write: lines of print from two processes mix where Python does not buffer
    child = r"import os, time; os.write(1, b'CHILD %d\n' % os.getpid()); time.sleep(600)"
    (tmp_path / "train.py").write_text(
        "import multiprocessing, subprocess, sys, time\n"
        f"subprocess.Popen([sys.executable, '-c', {child!r}], start_new_session=True)\n"
        f"subprocess.Popen([sys.executable, '-c', {child!r}])\ntime.sleep(600)\n"
    )
    command = [sys.executable, "-m", "npulint", "try", "train.py"]
    where = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)}
    with subprocess.Popen(command, cwd=tmp_path, env=where, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        told = (line for line in process.stderr if line.startswith("CHILD"))
        children = [int(next(told).split()[1]) for _ in range(2)]
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130
    for number in children:
        assert _ended(number)


def _ended(number: int) -> bool:
    """Whether a process ends within a moment; one that nobody has asked about yet is a zombie."""
    for _ in range(50):
        try:
            state = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return True
        if state == "Z":
            return True
        time.sleep(0.1)
    return False
