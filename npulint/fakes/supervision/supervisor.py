"""The process between npulint and the programs of a trial. It makes the folder of the trial and tells its path, starts
programs as it is told, and says when they have ended. When it is told to, and when its standard input ends because
npulint has ended in whatever way, it ends all processes that the programs started and removes what they left."""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from typing import Any, NoReturn

from npulint.fakes.supervision import kernel_guard, process_tree
from npulint.fakes.supervision.shared_memory import SharedMemory, changes
from npulint.fakes.supervision.terminal import terminal

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
        self._confined = kernel_guard.can_refuse_writing(self._base)

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
        if self._confined and not kernel_guard.refuse_writing(self._base):
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
