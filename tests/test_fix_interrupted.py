"""Runs of --fix that run into a full disk or each other: nothing is lost, nothing stays behind, and reports are true.
Those that are killed are in `test_killed_writers`."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys

import pytest

from npulint.core.atomic_files import is_temporary
from tests.fix_checks import CODES, FOLDER, MODEL, WHOLE, in_folder
from tests.project_support import ROOT, Answer, Project

pytestmark = [pytest.mark.slow, pytest.mark.skipif(os.name != "posix", reason="needs POSIX")]
MINE = ("--checks", FOLDER, "--select", ",".join(CODES), "--no-cache", "--unsafe-fixes")
FILES = tuple(f"{folder}file{number}.py" for folder in ("", "sub/") for number in range(3))
LINKED = "linked.py"
MEANWHILE = {  # another run was faster: between the check and the fix, or between the fix and writing it
    "the place no longer exists in the file",
    "the file was modified during the check",
}
FULL = """
import resource, signal, sys
from npulint.hosts.cli.main import main
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
sys.dont_write_bytecode = True  # Python would keep the compiled modules cut off, for everyone
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]),) * 2)
sys.exit(main(sys.argv[2:]))
"""
UNPRIVILEGED = """
import os, sys
from npulint.hosts.cli.main import main
main([*sys.argv[2:], "--diff"])  # imports what the other user may not read
import npulint.hosts.cli.fix, npulint.fix.write, npulint.report.json, npulint.report.fix_summary
os.setgid(65534)
os.setuid(65534)
os.chdir(sys.argv[1])
sys.exit(main(sys.argv[2:]))
"""


@pytest.fixture
def mine(project: Project) -> Project:
    return fill(project)


def fill(project: Project) -> Project:
    in_folder()
    project.write(dict.fromkeys((*FILES, LINKED), MODEL.encode()))
    (project.folder / "other.txt").unlink(missing_ok=True)
    os.link(project.folder / LINKED, project.folder / "other.txt")
    return project


def spawned(project: Project, code: str, *words: str) -> Answer:
    done = subprocess.run(
        [sys.executable, "-c", code, *words],
        cwd=project.folder, env=environ(), capture_output=True, check=False
    )  # fmt: skip
    return Answer(done.returncode, done.stdout.decode(), done.stderr.decode())


def texts(project: Project) -> dict[str, str]:
    return {name: (project.folder / name).read_bytes().decode() for name in (*FILES, LINKED)}


def environ() -> dict[str, str]:
    """The variables of a process: those of the test, which name the cache."""
    return {**os.environ, "LC_ALL": "C", "PYTHONPATH": str(ROOT)}


def litter(project: Project) -> list[str]:
    return [name for _, _, names in os.walk(project.folder) for name in names if is_temporary(name)]


@pytest.mark.parametrize("room", [0, 20, len(MODEL.encode()), len(WHOLE.encode()) - 1])
def test_a_full_disk(mine: Project, room: int) -> None:
    """A limit on the size of files stands for it. The report goes through a pipe, which has none."""
    answer = spawned(mine, FULL, str(room), "check", "--fix", "--format=json", *MINE)
    assert answer.code == 2
    assert set(texts(mine).values()) == {MODEL}
    assert litter(mine) == []
    assert answer.findings == mine.check(*MINE).findings
    assert (answer.document["fixed"], len(answer.document["refused"])) == ([], 2 * len(texts(mine)))
    assert len(answer.err.splitlines()) == len(texts(mine))


def test_a_disk_with_room_for_some(mine: Project) -> None:
    mine.write({name: f"{MODEL}{'# long' * 99}\n".encode() for name in FILES[::2]})
    answer = spawned(mine, FULL, str(len(WHOLE.encode())), "check", "--fix", "--format=json", *MINE)
    assert answer.code == 2
    written = {name for name, text in texts(mine).items() if text == WHOLE}
    assert written == {*FILES[1::2], LINKED}
    assert {one["path"] for one in answer.document["fixed"]} == written
    assert {one["path"] for one in answer.document["refused"]} == set(FILES[::2])
    assert answer.findings == mine.check(*MINE).findings
    assert litter(mine) == []


def test_a_read_only_folder(mine: Project) -> None:
    """Of another user, because root may write everywhere."""
    if os.geteuid():
        pytest.skip("only root may become another user")
    for folder in (mine.folder, *mine.folder.parents):
        if str(folder) != folder.root and folder.stat().st_mode & 0o005 != 0o005:
            folder.chmod(folder.stat().st_mode | 0o005)
    for name in texts(mine):
        (mine.folder / name).chmod(0o666)
    (mine.folder / "sub").chmod(0o777)
    answer = spawned(mine, UNPRIVILEGED, str(mine.folder), "check", "--fix", "--format=json", *MINE)
    if "ModuleNotFoundError" in answer.err or "FileNotFoundError" in answer.err:
        pytest.skip("nobody else may read this checkout")
    assert answer.code == 2
    written = {name for name, text in texts(mine).items() if text == WHOLE}
    assert written == {name for name in FILES if name.startswith("sub/")}
    document = json.loads(answer.out[answer.out.index("{\n") :])
    assert {one["path"] for one in document["fixed"]} == written
    assert document["findings"] == mine.check(*MINE).findings
    assert {one["reason"] for one in document["refused"]} == {"the file cannot be written: Permission denied"}


def test_two_runs_at_once(mine: Project) -> None:
    """Each file is written by one of them; the other finds it done, or says that it was changed meanwhile."""
    names = [f"many/file{number}.py" for number in range(40)]
    mine.write(dict.fromkeys(names, MODEL.encode()))
    command = [sys.executable, "-m", "npulint", "check", "--fix", "--format=json", *MINE, "many"]
    running = [
        subprocess.Popen(command, cwd=mine.folder, env=environ(), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(3)
    ]
    answers = []
    for process in running:
        out, err = process.communicate()
        answers.append(Answer(process.returncode, out.decode(), err.decode()))
    assert {(mine.folder / name).read_bytes().decode() for name in names} == {WHOLE}
    assert litter(mine) == []
    assert {one["path"] for answer in answers for one in answer.document["fixed"]} == set(names)
    for answer in answers:
        refused = {one["path"] for one in answer.document["refused"]}
        assert {one["reason"] for one in answer.document["refused"]} <= MEANWHILE
        assert answer.code == (2 if refused else 0)
        assert answer.findings == []
        assert len(answer.err.splitlines()) == len(refused)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
@pytest.mark.parametrize("words", [(), ("--fix",), ("--fix", "-")])
def test_standard_output_on_a_full_disk(mine: Project, words: tuple[str, ...]) -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "npulint", "check", *words, *MINE],
            input=MODEL.encode(), stdout=full, stderr=subprocess.PIPE, cwd=mine.folder, env=environ(), check=False
        )  # fmt: skip
    assert (done.returncode, done.stderr.decode()) == (
        2,
        f"error: <stdout>: cannot be written: {os.strerror(errno.ENOSPC)}\n",
    )
    assert set(texts(mine).values()) == {WHOLE if words == ("--fix",) else MODEL}
