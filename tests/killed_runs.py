"""Runs of npulint in forks of this process that are killed while they write: before the n-th step that changes
something, or after a time. Bytes are written in small pieces, for kills to come in the middle.

This process must have no threads of Python.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import sqlite3
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import msgspec

_CALLS = "open write fsync replace link unlink fchmod fchown ftruncate mkdir".split()
_PIECES = 4  # in which bytes are written, at least
_SMALLEST = 13  # bytes of a piece
_PAGES = 2  # that SQLite keeps in memory; it writes others to the file before the transaction ends
_INSTRUCTIONS = 40  # of SQLite between two steps


class Ended(msgspec.Struct, frozen=True):
    """How a run ended: its exit code, or its signal as a negative number, and what it printed. Of a run that was not
    killed also its steps, and how many seconds they took."""

    code: int
    out: str
    err: str
    steps: int = 0
    seconds: float = 0.0


class Command(msgspec.Struct, frozen=True):
    """A command of npulint, run in a folder. Its steps are counted from its beginning, or from when `writes_in` is
    called, a function ``module:name``. `prepare` is called in the process of the run."""

    words: tuple[str, ...]
    folder: Path
    writes_in: str = ""
    prepare: Callable[[], None] | None = None

    def run(self, steps: int = sys.maxsize, seconds: float | None = None) -> Ended:
        """Run it in a fork, which ends itself before it would take more than `steps`, or is killed `seconds` after it
        has begun to write, even if it has finished by then."""
        outputs = [self.folder.parent / name for name in ("out.txt", "err.txt")]
        told, tell = os.pipe()
        child = os.fork()
        if not child:
            _Fork(self, steps, tell, seconds is not None).run(outputs)
        os.close(tell)
        with open(told, "rb") as stream:
            if stream.read(1) and seconds is not None:
                time.sleep(seconds)
                os.kill(child, signal.SIGKILL)
            account = json.loads(stream.read() or b"{}")
        _, status = os.waitpid(child, 0)
        texts = [path.read_text(encoding="utf-8") for path in outputs]
        return msgspec.convert(
            {"code": os.waitstatus_to_exitcode(status), "out": texts[0], "err": texts[1], **account}, Ended
        )


class _Fork:
    """The process of a run."""

    def __init__(self, command: Command, steps: int, tell: int, waits: bool) -> None:
        self._command = command
        self._steps = _Steps(steps)
        self._tell = tell
        self._waits = waits
        self._write = os.write
        self._begun = 0.0

    def run(self, outputs: Iterable[Path]) -> None:
        """Run the command; never returns."""
        code = os.EX_SOFTWARE
        try:
            os.chdir(self._command.folder)
            for number, path in enumerate(outputs, 1):
                os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), number)
            if self._command.prepare is not None:
                self._command.prepare()
            self._begin_at(self._command.writes_in)
            code = importlib.import_module("npulint.hosts.cli.main").main(list(self._command.words))
            sys.stdout.flush()
            if self._waits:
                signal.pause()
            account = {"steps": self._steps.taken, "seconds": time.monotonic() - self._begun}
            self._write(self._tell, json.dumps(account).encode())
        finally:
            os._exit(code)

    def _begin_at(self, target: str) -> None:
        if not target:
            self._begin()
            return
        name = target.partition(":")[2]
        module = importlib.import_module(target.partition(":")[0])
        function = getattr(module, name)

        def begun(*given: Any) -> Any:
            self._begin()
            return function(*given)

        setattr(module, name, begun)

    def _begin(self) -> None:
        self._begun = time.monotonic()
        self._write(self._tell, b"!")
        self._steps.count()


class _Steps:
    """The steps of this process, which ends before one too many."""

    def __init__(self, allowed: int) -> None:
        self._allowed = allowed
        self.taken = 0

    def count(self) -> None:
        """Count steps from now on."""
        for name in _CALLS:
            setattr(os, name, self._counted(getattr(os, name)))
        sqlite3.connect = self._connection  # type: ignore[assignment]

    def next(self) -> int:
        """Take a step. The result tells SQLite to go on."""
        if self.taken >= self._allowed:
            os.kill(os.getpid(), signal.SIGKILL)
        self.taken += 1
        return 0

    def _counted(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any, **named: Any) -> Any:
            self.next()
            if function.__name__ == "write":
                given = (given[0], given[1][: max(_SMALLEST, len(given[1]) // _PIECES)])
            return function(*given, **named)

        return call

    def _connection(self, location: str, timeout: float) -> sqlite3.Connection:
        """A connection whose steps are rows, moments within statements, and what is before and after a commit."""
        steps = self

        class Counted(sqlite3.Connection):
            def executemany(self, statement: str, rows: Iterable[Any], /) -> sqlite3.Cursor:
                return super().executemany(statement, (row for row in rows if not steps.next()))

            def commit(self) -> None:
                steps.next()
                super().commit()
                steps.next()

        connection = Counted(location, timeout=timeout)
        connection.execute(f"PRAGMA cache_size = {_PAGES}")
        connection.set_progress_handler(self.next, _INSTRUCTIONS)
        return connection
