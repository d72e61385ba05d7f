"""The processes of a trial: what they may do to others, and that nothing of them is left."""

from __future__ import annotations

import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from npulint.core.errors import NpulintError
from npulint.fakes.supervision.supervised import Program, Supervised, supervised
from npulint.fakes.supervision.supervisor import remove_folder
from npulint.fakes.trial import GUARDS

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="processes are listed and adopted on Linux"),
]

_PATIENCE = 120  # seconds until a process is taken to run for good
_SHARED = Path("/dev/shm")
_REPORT = """
import multiprocessing.util, os, signal, socket, subprocess, sys

def tried(name, work):
    try:
        work()
        print("DONE", name, flush=True)
    except OSError as error:
        print("REFUSED" if "npulint try" in str(error) else "FAILED", name, type(error).__name__, flush=True)
"""
_CHILD = r"""
import os, socket
os.write(1, b"STARTED\n")
try:
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("198.51.100.1", 9))
    os.write(1, b"SENT\n")
except OSError as error:
    os.write(1, b"GUARDED\n" if "npulint try" in str(error) else b"OTHER\n")
"""
_STARTS = [  # of a Python program `child`, each without what its guards need
    "subprocess.run([python, '-c', child], env={})",
    "subprocess.run([python, '-I', '-c', child], env={})",
    "subprocess.run([python, '-S', '-c', child])",
    "subprocess.run([python, '-W', 'ignore', '-BEsuc', child])",
    "subprocess.run([python, '-c', child], env={}, close_fds=False)",
    "subprocess.run([link, '-c', child], env={b'A': b'b'}, start_new_session=True)",
    "subprocess.run('python link.py', shell=True, env={'PATH': os.path.dirname(python)})",
    "in_child(lambda: os.execve(python, ['python', '-I', '-c', child], {}))",
    "spawned()",
    "os.spawnve(os.P_WAIT, python, ['python', '-c', child], {})",
    "in_child(lambda: __import__('posix').execve(python, ['python', '-c', child], {}))",
    "(os.environ.clear(), subprocess.run([python, '-c', child]))",
    "(os.environ.clear(), spawned())",
    "(os.environ.clear(), os.system(python + ' link.py'))",
]
_NOT_PYTHON = {  # what makes a file that is no interpreter, and its name
    "link to a shell": ("os.symlink('/bin/sh', 'python-sh')", "./python-sh"),
    "link that is called Python": ("os.symlink('/bin/sh', 'python3')", "./python3"),
    "copy of a shell": ("shutil.copy('/bin/sh', 'python3.9')", "./python3.9"),
    "link that is called as another program": ("os.symlink('/bin/sh', 'date')", "./date"),
    "shell": ("None", "/bin/sh"),
}


@pytest.fixture(params=["own", "3.7"])
def python(request: pytest.FixtureRequest) -> str:
    """The interpreter of the tests, and one without audit events."""
    if request.param == "own":
        return sys.executable
    for path in filter(None, (os.environ.get("NPULINT_TENSORFLOW1_PYTHON"), shutil.which("python3.7"))):
        asked = subprocess.run(
            [path, "-c", "import sys; print(sys.executable)"], capture_output=True, text=True, check=False
        )
        if asked.returncode == 0:
            return asked.stdout.strip()
    pytest.skip("no Python 3.7 (one can be named by NPULINT_TENSORFLOW1_PYTHON)")


@pytest.fixture
def stranger() -> Iterator[subprocess.Popen[bytes]]:
    """A process that does not belong to a trial, in a group of its own."""
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True) as process:
        yield process
        process.kill()


def told(program: str, capfd: pytest.CaptureFixture[str], python: str = sys.executable) -> list[str]:
    """The lines that a program prints in a trial of its own."""
    with supervised("en") as processes:
        started = _started(processes, _REPORT + textwrap.dedent(program), python)
        assert started.wait(_PATIENCE) == 0, capfd.readouterr().err
    return capfd.readouterr().err.splitlines()


def _started(processes: Supervised, program: str, python: str = sys.executable) -> Program:
    work = Path(processes.folder, "work")
    work.mkdir(exist_ok=True)
    (work / "train.py").write_text(program)
    return processes.start([python, "train.py"], str(work), {**os.environ, "PYTHONPATH": GUARDS})


def test_python_has_its_guards_however_it_is_started(capfd: pytest.CaptureFixture[str], python: str) -> None:
    lines = [f"child = {_CHILD!r}", "python, link = sys.executable, './interpreter'"]
    lines += ["open('link.py', 'w').write(child)", "os.symlink(python, link)"]
    lines += ["def spawned():"]
    lines += ["    multiprocessing.util.spawnv_passfds(os.fsencode(python), [python, '-c', child], ())\n    os.wait()"]
    lines += ["def in_child(work):\n    if not os.fork():\n        work()\n    os.wait()"]
    lines += [f"print('NEXT', flush=True)\n{start}" for start in _STARTS]
    told_lines = told("\n".join(lines), capfd, python)
    ends = [text.split() for text in "\n".join(told_lines).split("NEXT")[1:]]
    assert ends == [["STARTED", "GUARDED"]] * len(_STARTS), told_lines


def test_what_cannot_get_its_guards_is_refused(capfd: pytest.CaptureFixture[str]) -> None:
    commands = ["{} -I -V", "{} '-I' -V", "PYTHONPATH= {} -V"]
    lines = [f"tried('isolated', lambda: os.system({command!r}.format(sys.executable)))" for command in commands]
    assert told("\n".join(lines), capfd) == ["REFUSED isolated PermissionError"] * len(commands)


def test_signals_reach_processes_of_the_trial_only(
    capfd: pytest.CaptureFixture[str], python: str, stranger: subprocess.Popen[bytes]
) -> None:
    lines = told(
        f"""
        tried("other", lambda: os.kill({stranger.pid}, signal.SIGTERM))
        tried("group", lambda: os.killpg({stranger.pid}, signal.SIGTERM))
        tried("supervisor", lambda: os.kill(os.getppid(), signal.SIGTERM))
        tried("all", lambda: os.kill(-1, signal.SIGTERM))
        if hasattr(signal, "pidfd_send_signal"):
            tried("handle", lambda: signal.pidfd_send_signal(os.pidfd_open({stranger.pid}), signal.SIGTERM))
        for name, kill in {{"own": os.kill, "own group": os.killpg}}.items():
            child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
            tried(name, lambda: kill(child.pid, signal.SIGTERM))
            assert child.wait() == -signal.SIGTERM
        """,
        capfd,
        python,
    )
    refused = {line.split(" ", 1)[1] for line in lines if line.startswith("REFUSED")}
    names = {"other", "group", "supervisor", "all"} | ({"handle"} if python == sys.executable else set())
    assert refused == {f"{name} PermissionError" for name in names}, lines
    assert [line for line in lines if line.startswith("DONE")] == ["DONE own", "DONE own group"]
    assert stranger.poll() is None


def test_nothing_is_sent_to_other_machines(capfd: pytest.CaptureFixture[str], python: str) -> None:
    lines = told(
        """
        datagram = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        there, here = ("198.51.100.1", 9), ("127.0.0.1", 9)
        tried("sendmsg", lambda: datagram.sendmsg([b"x"], [], 0, there))
        tried("sendto", lambda: datagram.sendto(b"x", there))
        tried("connect", lambda: datagram.connect(there))
        tried("name", lambda: socket.gethostbyaddr("198.51.100.1"))
        tried("names", lambda: socket.getnameinfo(there, 0))
        tried("like here", lambda: socket.getaddrinfo("127.example.org", 80))
        tried("here", lambda: datagram.sendmsg([b"x"], [], 0, here))
        first, second = socket.socketpair()
        tried("connected", lambda: first.sendmsg([b"x"]))
        """,
        capfd,
        python,
    )
    refused = ["sendmsg", "sendto", "connect", "name", "names", "like here"]
    assert lines == [*(f"REFUSED {name} OSError" for name in refused), "DONE here", "DONE connected"]


def test_only_interpreters_count_as_python(capfd: pytest.CaptureFixture[str], python: str) -> None:
    lines = ["import shutil"]
    for name, (made, path) in _NOT_PYTHON.items():
        lines += [made, f"tried({name!r}, lambda: subprocess.run([{path!r}, '-c', 'echo SHELL']))"]
    lines += ["os.symlink(sys.executable, 'own')", "shutil.copy(os.path.realpath(sys.executable), 'python3.8')"]
    lines += ["tried('link to Python', lambda: subprocess.run(['./own', '-c', '1'], check=True))"]
    lines += ["tried('copy of Python', lambda: subprocess.run(['./python3.8', '-V'], stdout=subprocess.DEVNULL))"]
    wanted = [f"REFUSED {name} PermissionError" for name in _NOT_PYTHON]
    assert told("\n".join(lines), capfd, python) == [*wanted, "DONE link to Python", "DONE copy of Python"]


def test_modes_and_times_of_other_files_stay(tmp_path: Path, capfd: pytest.CaptureFixture[str], python: str) -> None:
    kept = tmp_path / "kept"
    kept.write_text("kept")
    before = kept.stat()
    lines = told(
        f"""
        kept = {str(kept)!r}
        file = open(kept)
        folder = os.open(os.path.dirname(kept), os.O_RDONLY)
        tried("mode", lambda: os.chmod(os.path.relpath(kept), 0o777))
        tried("mode of an open file", lambda: os.fchmod(file.fileno(), 0o777))
        tried("mode in an open folder", lambda: os.chmod("kept", 0o777, dir_fd=folder))
        tried("times of an open file", lambda: os.utime(file.fileno(), (1, 1)))
        open("own", "w").close()
        tried("own", lambda: (os.chmod("own", 0o777), os.fchmod(os.open("own", os.O_RDONLY), 0o700)))
        """,
        capfd,
        python,
    )
    assert [line.split()[0] for line in lines] == ["REFUSED"] * 4 + ["DONE"], lines
    now = kept.stat()
    assert (stat.S_IMODE(now.st_mode), now.st_mtime_ns) == (stat.S_IMODE(before.st_mode), before.st_mtime_ns)


@pytest.mark.skipif(not _SHARED.is_dir(), reason="there is no folder of shared memory")
def test_shared_memory_of_the_trial_goes_and_that_of_others_stays(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    name = f"npulint-test-{os.getpid()}"
    other, later = _SHARED / f"{name}-other", _SHARED / f"{name}-later"
    other.write_text("other")
    program = f"""
        import ctypes, time
        from multiprocessing import get_context, resource_tracker, shared_memory
        tried("removed", lambda: os.remove({str(other)!r}))
        tried("written", lambda: open({str(other)!r}, "w"))
        tried("attached", lambda: shared_memory.SharedMemory({other.name!r}))
        open({str(_SHARED / name)!r} + "-file", "w").close()
        os.makedirs({str(_SHARED / name)!r} + "-folder/inner")
        memory = shared_memory.SharedMemory({name + "-memory"!r}, create=True, size=8)
        resource_tracker.unregister(memory._name, "shared_memory")
        lock = get_context("spawn").Lock()  # a named semaphore, mapped but not open
        by_c = ctypes.CDLL(None).open(b"{_SHARED / name}-c", os.O_CREAT | os.O_RDWR, 0o600)
        assert by_c >= 0
        print("SEMAPHORE", lock._semlock.name, flush=True)
        time.sleep(600)
        """
    try:
        with supervised("en") as processes:
            _started(processes, _REPORT + textwrap.dedent(program))
            lines = _said(capfd, "SEMAPHORE").splitlines()
            later.write_text("later")
            made = {path.name.removeprefix(name) for path in _SHARED.glob(f"{name}*")}
            assert made == {"-other", "-later", "-file", "-folder", "-memory", "-c"}
            semaphore = _SHARED / f"sem.{lines[-1].split()[1].lstrip('/')}"
            assert semaphore.exists()
        assert {path.name.removeprefix(name) for path in _SHARED.glob(f"{name}*")} == {"-other", "-later"}
        assert not semaphore.exists() and other.read_text() == "other"
        assert [line.split()[0] for line in lines[:3]] == ["REFUSED"] * 3, lines
    finally:
        for path in (other, later):
            path.unlink()


@pytest.mark.skipif(not _SHARED.is_dir(), reason="there is no folder of shared memory")
def test_a_trial_may_lie_in_shared_memory(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    with tempfile.TemporaryDirectory(dir=_SHARED) as folder:
        with monkeypatch.context() as patch:
            patch.setenv("TMPDIR", folder)
            lines = told(
                f"""
                tried("own", lambda: open("made", "w").close())
                tried("that of another", lambda: open({folder + "/made"!r}, "w").close())
                """,
                capfd,
            )
        assert [line.split()[0] for line in lines] == ["DONE", "REFUSED"], lines
        assert not os.listdir(folder)


_STRAY = r"""
import os, subprocess, sys, time
stray = '''
import os, sys, time
if not os.fork():
    os.setsid()
    if not os.fork():
        os.write(2, b"STRAY %d\\n" % os.getpid())
        time.sleep(600)
'''
subprocess.run([sys.executable, "-I", "-c", stray], env={}, start_new_session=True)
os.write(2, b"PROGRAM %d\n" % os.getpid())
"""


def test_what_left_the_session_ends_with_the_trial(capfd: pytest.CaptureFixture[str]) -> None:
    with supervised("en") as processes:
        assert _started(processes, _STRAY).wait(_PATIENCE) == 0
        words = _said(capfd, "STRAY").split()
        stray = int(words[words.index("STRAY") + 1])
        assert _runs(stray)
        processes.end()
        assert not _runs(stray)
        folder = processes.folder
        assert os.path.isdir(folder)
    assert not os.path.exists(folder)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGKILL])
def test_nothing_is_left_when_npulint_ends_suddenly(number: signal.Signals) -> None:
    main = f"""
import os, signal, sys, time
from npulint.fakes.supervision.supervised import supervised
for number in (signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, signal.SIG_DFL)
signal.signal(signal.SIGINT, signal.default_int_handler)
with supervised("en") as processes:
    open(os.path.join(processes.folder, "train.py"), "w").write({_STRAY + "time.sleep(600)"!r})
    os.write(2, b"FOLDER %s\\n" % os.fsencode(processes.folder))
    program = processes.start([sys.executable, "train.py"], processes.folder, {{"PYTHONPATH": {GUARDS!r}}})
    time.sleep(600)
"""
    where = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)}
    with subprocess.Popen([sys.executable, "-c", main], env=where, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        said = dict(process.stderr.readline().split() for _ in range(3))
        process.send_signal(number)
        process.stderr.read()  # which ends when nothing has it open any more
        code = process.wait()
    numbers = [int(said[name]) for name in ("PROGRAM", "STRAY")]
    if number == signal.SIGKILL:  # the supervisor learns it a moment later
        _until(lambda: not os.path.exists(said["FOLDER"]))
    assert code == -number
    assert not os.path.exists(said["FOLDER"]) and not any(map(_runs, numbers))


@pytest.mark.parametrize("lacking", ["_PROCESSES = '/absent'", "adopt_orphans = lambda: False"])
def test_the_process_group_ends_where_the_system_shows_no_more(
    lacking: str, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = ["import sys", "sys.path.append(sys.argv[1])", "from npulint.fakes.supervision import process_tree"]
    lines += [f"process_tree.{lacking}", "from npulint.fakes.supervision.supervisor import Supervisor"]
    monkeypatch.setattr("npulint.fakes.supervision.supervised._MAIN", "\n".join([*lines, "Supervisor().run()"]))
    program = "import os, time\nos.fork()\nos.write(2, b'RUNS %d\\n' % os.getpid())\ntime.sleep(600)"
    with supervised("en") as processes:
        _started(processes, program)
        numbers = [int(line.split()[1]) for line in _said(capfd, "RUNS", 2).splitlines()]
        processes.end()
        _until(lambda: not any(map(_runs, numbers)))
    assert not os.path.exists(processes.folder)


def test_the_program_ends_without_its_supervisor() -> None:
    with supervised("en") as processes:
        program = _started(processes, "import time\ntime.sleep(600)")
        processes._supervisor.kill()
        assert program.wait(_PATIENCE) == -signal.SIGKILL
        _until(lambda: not _runs(program.number))
        folder = processes.folder
        with pytest.raises(NpulintError, match="ended from outside"):
            processes.end()
    assert not os.path.exists(folder)


def test_a_program_that_cannot_be_started_is_named() -> None:
    with supervised("en") as processes, pytest.raises(NpulintError, match="/absent/python: No such file"):
        processes.start(["/absent/python"], processes.folder, {})


def test_folders_that_a_program_locked_are_removed(tmp_path: Path) -> None:
    inner = tmp_path / "base" / "locked" / "inner"
    inner.mkdir(parents=True)
    (inner / "file").write_text("x")
    for folder in (inner, inner.parent):
        folder.chmod(0)
    remove_folder(str(tmp_path / "base"))
    assert not (tmp_path / "base").exists()


def _said(capfd: pytest.CaptureFixture[str], word: str, lines: int = 1) -> str:
    """What a program has printed when it has printed lines with this word."""
    texts = [""]

    def said() -> bool:
        texts.append(capfd.readouterr().err)
        return sum(word in line for line in "".join(texts).split("\n")[:-1]) >= lines

    _until(said)
    return "".join(texts)


def _runs(number: int) -> bool:
    """Whether a process runs; one that nobody has asked about yet is a zombie."""
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] not in ("Z", "X")
    except OSError:
        return False


def _until(done: Callable[[], bool]) -> None:
    """Wait until something holds."""
    limit = time.monotonic() + _PATIENCE
    while not done():
        assert time.monotonic() < limit
        time.sleep(0.02)
