"""A process that judges one example after the other, with limits on time and memory, and is replaced when it ends."""

from __future__ import annotations

import faulthandler
import multiprocessing
import os
import re
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from types import TracebackType

import msgspec

from scripts.fuzzing import watch
from scripts.fuzzing.example import Example, Failure, traced
from scripts.fuzzing.judge import judge

Judge = Callable[[Example, Path], "Failure | None"]
_FRAME = re.compile(r'File "[^"]*?/((?:npulint|scripts|tests)/[^"]+)", line (\d+) in (\S+)')
_NOT_OF_NPULINT = re.compile(r"(?:scripts|tests)/|npulint/core/budget\.py")  # the latter is a thread that watches
_ENDED = 78  # the exit code of a process that took too long
_AGE = 400  # examples after which a process is replaced, so that what it remembers stays small
_OF_A_SERVER = 20  # examples that a language server counts for: its threads stay until the process ends


class Limits(msgspec.Struct, frozen=True):
    """What an example may take: `seconds` of the processor (and six times as long by the clock), `resident` bytes in
    memory, `address` bytes of addresses."""

    seconds: int = 10
    resident: int = 1 << 30
    address: int = 3 << 29


class Sandbox:
    """Judges examples in another process. `judging` has to be a function of a module."""

    def __init__(self, limits: Limits | None = None, judging: Judge = judge) -> None:
        self._limits = limits or Limits()
        self._judging = judging
        self._folder = Path(tempfile.mkdtemp(prefix="npulint-fuzz-")).resolve()
        self._process: multiprocessing.process.BaseProcess | None = None
        self._link: Connection | None = None
        self._age = 0

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._end()
        shutil.rmtree(self._folder, ignore_errors=True)

    def judge(self, example: Example) -> Failure | None:
        """What is wrong with the answer to an example, if anything."""
        if self._age >= _AGE:
            self._end()
        link = self._link or self._begin()
        self._age += _OF_A_SERVER if example.messages else 1
        try:
            link.send(example)
            if not link.poll(self._limits.seconds * 6):
                self._interrupt()
            found: Failure | None = link.recv()
        except (EOFError, ConnectionResetError, BrokenPipeError):
            return self._ended()
        if found is not None and (found.sort == "memory" or "MemoryError" in found.place):
            self._end()  # it does not give the memory back
        return found

    def _begin(self) -> Connection:
        context = multiprocessing.get_context("spawn")
        mine, theirs = context.Pipe()
        (self._folder / "trace").write_bytes(b"")
        self._process = context.Process(
            target=serve, args=(theirs, self._judging, str(self._folder), self._limits), daemon=True
        )
        self._process.start()
        theirs.close()
        self._link, self._age = mine, 0
        return mine

    def _interrupt(self) -> None:
        """Make a process that waits for something say where, and end."""
        process = self._process
        if process is not None and process.pid is not None and process.is_alive():
            os.kill(process.pid, signal.SIGXCPU)
            process.join(3)
            process.kill()

    def _ended(self) -> Failure:
        """Why the process is gone."""
        process = self._process
        code = None
        if process is not None:
            process.join(5)
            code = process.exitcode
        trace = (self._folder / "trace").read_text("utf-8", "replace")
        self._end()
        if code in (_ENDED, -signal.SIGXCPU, -signal.SIGKILL):
            return Failure("hang", _place(trace), trace)
        return Failure("died", f"{code} {_place(trace)}", trace)

    def _end(self) -> None:
        process, self._process = self._process, None
        link, self._link = self._link, None
        if link is not None:
            link.close()
        if process is not None:
            process.join(0.5)
            process.kill()
            process.join()


def _place(trace: str) -> str:
    """The innermost function of npulint in a trace, which begins with the innermost one; but not of helpers of this
    tool, whose thread may be first."""
    frames = _FRAME.findall(trace)
    ours = [one for one in frames if not _NOT_OF_NPULINT.match(one[0])] or frames
    return "{}:{} {}".format(*ours[0]) if ours else "?"


def serve(link: Connection, judging: Judge, folder: str, limits: Limits) -> None:
    """The process: answers each example with what is wrong, until the other side is gone."""
    scratch = Path(folder) / "scratch"
    scratch.mkdir(exist_ok=True)
    sys.dont_write_bytecode = True
    resource.setrlimit(resource.RLIMIT_AS, (limits.address, limits.address))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    watch.begin(str(scratch))
    with open(Path(folder) / "trace", "w") as trace:
        signal.signal(signal.SIGXCPU, lambda number, frame: os._exit(_ENDED))
        faulthandler.enable(trace)
        faulthandler.register(signal.SIGXCPU, trace, chain=True)
        while True:
            try:
                example = link.recv()
            except (EOFError, OSError):
                return
            _allow(limits.seconds)
            found = _judged(judging, example, scratch)
            link.send(found or _too_large(limits))


def _judged(judging: Judge, example: Example, scratch: Path) -> Failure | None:
    try:
        return judging(example, scratch)
    except Exception:
        return traced(traceback.format_exc())


def _allow(seconds: int) -> None:
    """Give this process so many more seconds of the processor."""
    _, most = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (int(time.process_time()) + 1 + seconds, most))


def _peak() -> int:
    """The most bytes that this process has had in memory. What `getrusage` says counts the process that started it."""
    try:
        with open("/proc/self/status", encoding="ascii", errors="replace") as status:
            return next(int(line.split()[1]) << 10 for line in status if line.startswith("VmHWM"))
    except (OSError, StopIteration):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


def _too_large(limits: Limits) -> Failure | None:
    peak = _peak()
    if peak <= limits.resident:
        return None
    return Failure("memory", "peak", f"{peak >> 20} MB")
