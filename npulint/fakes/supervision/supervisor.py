"""The process between npulint and the programs of a trial. It makes the folder of the trial and tells its path, starts
programs as it is told, and says when they have ended. When it is told to, and when its standard input ends because
npulint has ended in whatever way, it ends all processes that the programs started and removes what they left."""

from __future__ import annotations

import ctypes
import json
import os
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, NoReturn

from npulint.fakes.supervision import process_tree
from npulint.fakes.supervision.shared_memory import SharedMemory, changes

# Lets the Linux kernel refuse writing outside of a folder, in this process and all that it starts: what libraries in
# C write Python does not see. It needs Landlock as of Linux 5.19; as of 6.12 the kernel refuses signals to other
# processes, too. Elsewhere nothing is refused here.

_CREATE, _ADD, _RESTRICT = 444, 445, 446  # system calls, the same on all architectures
_VERSION = 1  # flag: ask for the version of the interface
_BENEATH = 1  # kind of a rule
_NO_NEW_PRIVILEGES = 38
_WRITING = 1 << 1
_CHANGING = sum(1 << bit for bit in range(4, 14))  # remove, make, and move between folders
_TRUNCATING = 1 << 14  # as of the third version
_SIGNALS = 1 << 1  # as of the sixth version
_ELSEWHERE = ("/dev", "/proc")


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scopes", ctypes.c_uint64))


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("rights", ctypes.c_uint64), ("folder", ctypes.c_int32))


def refuse_writing(folder: str) -> bool:
    """Allow writing in `folder` and to devices only, and signals to what is started from here. Returns whether the
    kernel does so."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        return _restricted(ctypes.CDLL(None, use_errno=True).syscall, folder)
    except (AttributeError, OSError):
        return False


def can_refuse_writing(folder: str) -> bool:
    """Whether the kernel can do that, tried in a process of its own."""
    if not sys.platform.startswith("linux"):
        return False
    number = os.fork()
    if not number:
        os._exit(not refuse_writing(folder))
    return os.waitpid(number, 0)[1] == 0


def _restricted(call: Callable[..., int], folder: str) -> bool:
    version = call(_CREATE, None, ctypes.c_size_t(0), _VERSION)
    if version < 2:  # without moving between folders
        return False
    rights = _WRITING | _CHANGING | (_TRUNCATING if version >= 3 else 0)
    ruleset = _Ruleset(rights, 0, _SIGNALS if version >= 6 else 0)
    size = ctypes.sizeof(ruleset) if version >= 6 else ctypes.sizeof(ctypes.c_uint64)
    rules = call(_CREATE, ctypes.byref(ruleset), ctypes.c_size_t(size), 0)
    if rules < 0:
        return False
    try:
        if not all(_allowed(call, rules, path, rights) for path in (folder, *_ELSEWHERE)):
            return False
        ctypes.CDLL(None).prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
        return call(_RESTRICT, rules, 0) == 0
    finally:
        os.close(rules)


def _allowed(call: Callable[..., int], rules: int, path: str, rights: int) -> bool:
    """Add a folder below which everything may be written."""
    folder = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        return call(_ADD, rules, _BENEATH, ctypes.byref(_Beneath(rights, folder)), 0) == 0
    finally:
        os.close(folder)


# A terminal at which nobody types, as standard input of a program.

_SIZE = (24, 80)
_END = b"\x04"  # what a terminal takes for the end of input; each one ends one read
_READS = 64


@contextmanager
def terminal() -> Iterator[int]:
    """A terminal of 24 lines and 80 columns: programs ask for its size (``stty size``). Reading from it meets the end
    of the input. Without terminals (Windows) the null device."""
    try:
        import fcntl
        import pty
        import termios

        ours, theirs = pty.openpty()
    except (ImportError, OSError):
        yield subprocess.DEVNULL
        return
    try:
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", *_SIZE, 0, 0))
        os.write(ours, _END * _READS)
        yield theirs
    finally:
        os.close(theirs)
        os.close(ours)


FOLDER, ROOT, CONFINED = "NPULINT_TRIAL_FOLDER", "NPULINT_TRIAL_ROOT", "NPULINT_TRIAL_CONFINED"
"""Variables of a program: the folder that it may write to, the number of the supervisor, and ``1`` if the kernel
refuses writing elsewhere."""
_READ = 1 << 16  # bytes
_PREFIX = "npulint-try-"


class Supervisor:
    """Serves one trial: requests are lines of JSON on standard input, events such lines on standard output."""

    def __init__(self) -> None:
        self._woken = _waking_pipe()
        self._adopts = process_tree.adopt_orphans()
        self._programs: dict[int, subprocess.Popen[bytes]] = {}
        self._terminals = ExitStack()
        self._base = os.path.realpath(tempfile.mkdtemp(prefix=_PREFIX))
        self._changes = changes()
        self._shared = SharedMemory(self._base)
        self._confined = can_refuse_writing(self._base)

    def run(self) -> None:
        """Serve until standard input ends or a signal asks for the end; leaves nothing behind."""
        try:
            for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
                signal.signal(number, _leave)
            _say(folder=self._base)
            self._serve()
        finally:
            for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
                signal.signal(number, signal.SIG_IGN)
            self._end()
            self._shared.remove()
            remove_folder(self._base)

    def _serve(self) -> None:
        buffer = b""
        sources = [source for source in (0, self._woken, self._changes) if source is not None]
        while True:
            ready = select.select(sources, [], [])[0]
            if self._changes in ready and os.read(self._changes, _READ):
                self._shared.look(_numbers)
            if self._woken in ready and os.read(self._woken, _READ):
                self._reap()
            if 0 in ready:
                content = os.read(0, _READ)
                if not content:
                    return
                *lines, buffer = (buffer + content).split(b"\n")
                for line in lines:
                    self._answer(json.loads(line))

    def _answer(self, request: dict[str, Any]) -> None:
        if "command" in request:
            self._start(request["command"], request["folder"], request["variables"])
        else:
            self._end()
            _say(gone=True)

    def _start(self, command: list[str], folder: str, variables: dict[str, str]) -> None:
        own = {FOLDER: self._base, ROOT: str(os.getpid()), CONFINED: "1" if self._confined else ""}
        try:
            program = subprocess.Popen(
                command,
                cwd=folder,
                env={**variables, **own},
                stdin=self._terminals.enter_context(terminal()),
                stdout=2,
                start_new_session=True,
                preexec_fn=self._prepare,
            )
        except (OSError, subprocess.SubprocessError) as error:
            _say(failed=getattr(error, "strerror", None) or str(error))
            return
        self._programs[program.pid] = program
        _say(started=program.pid)

    def _prepare(self) -> None:
        """Called in the process of a program, before it starts."""
        process_tree.end_with_parent()
        if self._confined and not refuse_writing(self._base):
            raise PermissionError("the kernel does not refuse writing elsewhere")

    def _reap(self) -> None:
        """Ask about all children that have ended, also those that were adopted."""
        while True:
            try:
                number, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if not number:
                return
            program = self._programs.get(number)
            if program is not None:
                program.returncode = os.waitstatus_to_exitcode(status)
                _say(ended=number, code=program.returncode)

    def _end(self) -> None:
        """End everything that the programs started."""
        try:
            process_tree.end_below(os.getpid(), lambda stopped: self._shared.look(lambda: stopped), self._reap)
            if not (self._adopts and process_tree.lists_processes()):
                self._end_groups()
        finally:
            self._terminals.close()

    def _end_groups(self) -> None:
        """End what can be found where the system does not show what belongs to the programs."""
        running = [program for program in self._programs.values() if program.returncode is None]
        process_tree.end_groups([program.pid for program in running])
        process_tree.end_marked(FOLDER, self._base)
        for program in running:
            program.wait()


def remove_folder(path: str) -> None:
    """Remove a folder with all that is in it, also in folders that a program has made unreadable."""
    shutil.rmtree(path, ignore_errors=True)
    if not os.path.isdir(path):
        return
    _unlock(path)
    for folder, names, _ in os.walk(path):
        for inner in (os.path.join(folder, name) for name in names):
            _unlock(inner)
    shutil.rmtree(path, ignore_errors=True)


def _unlock(folder: str) -> None:
    if os.path.islink(folder):
        return
    try:
        os.chmod(folder, 0o700)
    except OSError:
        return


def _waking_pipe() -> int:
    """The end of a pipe that can be read from when a child has ended."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    return reading


def _leave(number: int, frame: object) -> NoReturn:
    sys.exit(128 + number)


def _numbers() -> list[int]:
    """The processes that the programs started, and these."""
    return [process.number for process in process_tree.below(os.getpid())]


def _say(**event: Any) -> None:
    try:
        os.write(1, json.dumps(event).encode() + b"\n")
    except BrokenPipeError:
        return  # npulint has ended: so does standard input
