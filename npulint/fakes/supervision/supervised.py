"""The processes of a trial as npulint sees them: started, asked about and ended through their supervisor."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from npulint.core.errors import NpulintError
from npulint.core.texts import say
from npulint.fakes.supervision.process_tree import end_marked
from npulint.fakes.supervision.supervisor import FOLDER, remove_folder

_MAIN = """
import sys
sys.path.append(sys.argv[1])
from npulint.fakes.supervision.supervisor import Supervisor
Supervisor().run()
"""
_PACKAGES = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
_READ = 1 << 16  # bytes
_LONGEST = 60.0  # seconds until a supervisor that does not answer is taken to be gone


class Program:
    """A program that a supervisor has started, with all that it starts itself."""

    def __init__(self, processes: Supervised, number: int) -> None:
        self._processes = processes
        self.number = number

    def poll(self) -> int | None:
        """Its exit code, negative for a signal, or nothing while it runs."""
        return self._processes.code(self.number)

    def wait(self, seconds: float) -> int | None:
        """Wait until it ends, at most for this time; returns what `poll` returns then."""
        self._processes.until(lambda: self.poll() is not None, seconds)
        return self.poll()


class Supervised:
    """The processes of one trial. `folder` is the one that they may write to, as of `open`."""

    def __init__(self, supervisor: subprocess.Popen[bytes], lang: str) -> None:
        self._supervisor = supervisor
        self._lang = lang
        self._buffer = b""
        self._events: list[dict[str, Any]] = []
        self._codes: dict[int, int] = {}
        self._lost = False
        self.folder = ""

    def open(self) -> None:
        """Wait until the supervisor has made the folder. Raises `NpulintError` if it does not."""
        self.folder = str(self._answer("folder"))

    def start(self, command: list[str], folder: str, variables: dict[str, str]) -> Program:
        """Start a program in a folder, with its output on standard error. Raises `NpulintError` if it cannot be
        started."""
        self._request(command=command, folder=folder, variables=variables)
        answer = self._answer("started", "failed")
        if not isinstance(answer, int):
            raise NpulintError(f"{command[0]}: {answer}")
        return Program(self, answer)

    def end(self) -> None:
        """End all processes of the trial; the folder stays until `close`."""
        self._request(end=True)
        self._answer("gone")

    def close(self) -> None:
        """End all processes of the trial, and remove the folder and what else they left."""
        assert self._supervisor.stdin is not None and self._supervisor.stdout is not None
        with suppress(BrokenPipeError):
            self._supervisor.stdin.close()
        while not self._lost:
            self._read(None)
        self._supervisor.stdout.close()
        self._supervisor.wait()
        if self.folder and os.path.isdir(self.folder):  # the supervisor was ended by another process
            end_marked(FOLDER, self.folder)
            remove_folder(self.folder)

    def code(self, number: int) -> int | None:
        """The exit code of a program, or nothing while it runs. A program whose supervisor is gone has been killed."""
        self._read(0)
        return self._codes.get(number, -signal.SIGKILL if self._lost else None)

    def until(self, done: Callable[[], bool], seconds: float) -> bool:
        """Wait until something holds that events of the supervisor change; returns whether it holds in time."""
        limit = time.monotonic() + seconds
        while not done():
            left = limit - time.monotonic()
            if left <= 0 or self._lost:
                return done()
            self._read(left)
        return True

    def _request(self, **request: Any) -> None:
        assert self._supervisor.stdin is not None
        try:
            self._supervisor.stdin.write(json.dumps(request).encode() + b"\n")
            self._supervisor.stdin.flush()
        except BrokenPipeError:
            self._lost = True

    def _answer(self, *keys: str) -> Any:
        """The value of the next event with one of these keys. Raises `NpulintError` if the supervisor is gone."""
        if self.until(lambda: any(key in event for event in self._events for key in keys), _LONGEST):
            event = next(event for event in self._events if not event.keys().isdisjoint(keys))
            self._events.remove(event)
            return next(event[key] for key in keys if key in event)
        raise NpulintError(say(self._lang, "try.lost"))

    def _read(self, seconds: float | None) -> None:
        """Take in what the supervisor says within this time; without limit for `None`."""
        assert self._supervisor.stdout is not None
        if self._lost or not select.select([self._supervisor.stdout], [], [], seconds)[0]:
            return
        content = os.read(self._supervisor.stdout.fileno(), _READ)
        self._lost = not content
        *lines, self._buffer = (self._buffer + content).split(b"\n")
        for event in map(json.loads, lines):
            if "ended" in event:
                self._codes[event["ended"]] = event["code"]
            else:
                self._events.append(event)


@contextmanager
def supervised(lang: str) -> Iterator[Supervised]:
    """The processes of a trial, which end with the block, and also when this process ends in whatever way. SIGTERM and
    SIGHUP leave the block before they end this process. Raises `NpulintError` if there is no supervisor, and on
    Windows."""
    if os.name != "posix":
        raise NpulintError(say(lang, "try.system"))
    utf8 = ("-X", "utf8") if sys.flags.utf8_mode else ()
    command = [sys.executable, "-I", "-S", *utf8, "-c", _MAIN, _PACKAGES]
    with _leaving_on_signals():
        supervisor = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=os.sep, start_new_session=True
        )
        processes = Supervised(supervisor, lang)
        try:
            processes.open()
            yield processes
        finally:
            processes.close()


class _Ending(BaseException):
    """This process is told to end."""


@contextmanager
def _leaving_on_signals() -> Iterator[None]:
    """Let signals that end this process leave the block first. Signals that it handles or ignores stay as they are."""
    received: list[int] = []

    def leave(number: int, frame: object) -> None:
        if not received:
            received.append(number)
            raise _Ending

    main = threading.current_thread() is threading.main_thread()
    ending = (signal.SIGTERM, signal.SIGHUP)
    numbers = [number for number in ending if main and signal.getsignal(number) == signal.SIG_DFL]
    for number in numbers:
        signal.signal(number, leave)
    try:
        yield
    except _Ending:
        pass
    finally:
        for number in numbers:
            signal.signal(number, signal.SIG_DFL)
        if received:
            os.kill(os.getpid(), received[0])
