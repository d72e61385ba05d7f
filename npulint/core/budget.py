"""Limits on the time and memory that a file or project may take, enforced by a thread.

What runs out is stopped between two instructions of Python; what is written in C is not stopped, and is bounded by the
limits on sizes. Time is that of the processor, where the system tells it by thread (Linux), else elapsed time. Memory
is what the process has more than at the beginning, where the system tells it (Linux)."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

import msgspec

if TYPE_CHECKING:
    from types import FrameType

_T = TypeVar("_T")

REASONS = ("out-of-time", "out-of-memory")
"""Why work is stopped."""
_TICK = 0.2  # seconds between two looks
_IDLE = 5  # seconds without anything to watch, after which the thread ends
_TURNS = 1000  # of a loop, in any of which the interpreter raises what is to be raised
_MEGABYTE = 1 << 20


class Limit(msgspec.Struct, frozen=True):
    """How much one piece of work may take: seconds, and bytes of memory."""

    seconds: float
    memory: int


class Budget(msgspec.Struct, frozen=True):
    """What a project may take: `time` in seconds and `memory` in MB; 0 is a generous limit that grows with its size."""

    time: int = 0
    memory: int = 0

    def of_file(self, size: int) -> Limit:
        """The limit for reading a file of `size` bytes."""
        return self._limit(5 + 30 * size / _MEGABYTE, 500 + 100 * size / _MEGABYTE)

    def of_project(self, files: int, size: int) -> Limit:
        """The limit for judging `files` files with `size` bytes together."""
        return self._limit(8 + files / 5 + 30 * size / _MEGABYTE, 600 + 2 * files + 100 * size / _MEGABYTE)

    def _limit(self, seconds: float, megabytes: float) -> Limit:
        return Limit(float(self.time or seconds), int((self.memory or megabytes) * _MEGABYTE))


GENEROUS = Budget()
"""The limits that grow with the size."""


class BudgetError(Exception):
    """A limit was exceeded; `reason` is one of `REASONS`, `detail` the limit."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(reason, detail)
        self.reason = reason
        self.detail = detail


class _Stop(BaseException):
    """Raised in the watched thread; not an `Exception`, so that no handler of errors takes it for one."""


class _Watched:
    """Work under way in a thread: its limit, who is shown its stack, and what there was at its beginning."""

    def __init__(self, limit: Limit, observe: Callable[[FrameType | None], None] | None = None) -> None:
        self.limit = limit
        self._observe = observe
        self.thread = threading.get_ident()
        self.begun = _own_time()
        self.memory = -1  # at the first look: asking for it takes longer than a small file
        self.reason = ""

    def look(self, memory: int) -> None:
        """Stop the work if it is over a limit; again at every look, since an exception may be lost in a destructor."""
        if self.memory < 0:
            self.memory = memory
        if not self.reason:
            seconds, more = _time_of(self.thread) - self.begun, memory - self.memory
            if self._observe is not None and (2 * seconds > self.limit.seconds or 2 * more > self.limit.memory):
                self._show(self._observe)
            if seconds > self.limit.seconds:
                self.reason = "out-of-time"
            elif more > self.limit.memory:
                self.reason = "out-of-memory"
        if self.reason:
            _raise_in(self.thread, _Stop)

    def _show(self, observe: Callable[[FrameType | None], None]) -> None:
        """Show the stack of the work, which goes on meanwhile: what its variables are may not hold together."""
        with suppress(Exception):
            observe(sys._current_frames().get(self.thread))

    def error(self) -> BudgetError:
        limit = self.limit
        detail = f"> {limit.seconds:.0f} s" if self.reason == "out-of-time" else f"> {limit.memory // _MEGABYTE} MB"
        return BudgetError(self.reason, detail)


class Watchdog:
    """The thread that looks at all work under way, started when there is some."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forget everything, as in a new process, which has no copy of the thread."""
        self._lock = threading.Lock()
        self._work: list[_Watched] = []
        self._thread: threading.Thread | None = None

    def begin(self, limit: Limit, observe: Callable[[FrameType | None], None] | None = None) -> _Watched:
        watched = _Watched(limit, observe)
        with self._lock:
            self._work.append(watched)
            if self._thread is None:
                self._thread = threading.Thread(target=self._watch, name="npulint budget", daemon=True)
                self._thread.start()
        return watched

    def end(self, watched: _Watched) -> None:
        with self._lock:
            if watched in self._work:
                self._work.remove(watched)

    def of_thread(self, thread: int) -> list[_Watched]:
        """The work under way in a thread, outermost first."""
        with self._lock:
            return [watched for watched in self._work if watched.thread == thread]

    def _watch(self) -> None:
        last = time.monotonic()
        while True:
            time.sleep(_TICK)
            with self._lock:
                now = time.monotonic()
                last = now if self._work else last
                if not self._work and now - last > _IDLE:
                    self._thread = None
                    return
                memory = _memory() if self._work else 0
                for watched in self._work:
                    watched.look(memory)


_WATCHDOG = Watchdog()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_WATCHDOG.reset)


def within(limit: Limit, work: Callable[[], _T], observe: Callable[[FrameType | None], None] | None = None) -> _T:
    """The result of `work`. Raises `BudgetError` if it takes more than the limit. `observe` is called by another thread
    with the innermost frame of the work, again and again once half of the limit is used."""
    watched = _WATCHDOG.begin(limit, observe)
    try:
        try:
            return work()
        finally:
            _end(watched)
    except _Stop:
        if not watched.reason:  # a limit around this one
            raise
        raise watched.error() from None


def reserve(memory: int) -> None:
    """Announce that the work of this thread is about to take so many bytes where nothing can stop it. Raises
    `BudgetError` if that is more than a limit that it has."""
    for watched in _WATCHDOG.of_thread(threading.get_ident()):
        if memory > watched.limit.memory:
            watched.reason = "out-of-memory"
            raise watched.error()


_BY_THREAD = hasattr(time, "pthread_getcpuclockid")


def _end(watched: _Watched) -> None:
    """End the watch, whatever is raised meanwhile. What is still to be raised is raised here: taken back, it would
    leave the interpreter busy (CPython 3.11 with a trace function)."""
    while True:
        try:
            _WATCHDOG.end(watched)
            break
        except _Stop:
            continue
    for _ in range(_TURNS if watched.reason else 0):
        pass


def _own_time() -> float:
    return time.thread_time() if _BY_THREAD else time.monotonic()


def _time_of(thread: int) -> float:
    """The seconds that a thread has used the processor, else those of the system's clock: as `_own_time` there."""
    return time.clock_gettime(time.pthread_getcpuclockid(thread)) if _BY_THREAD else time.monotonic()


def _memory() -> int:
    """The bytes of memory of this process; 0 where that is not known."""
    try:
        with open("/proc/self/statm", "rb") as stream:
            return int(stream.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0


def _raise_in(thread: int, error: type[BaseException]) -> None:
    """Have a thread raise an exception at its next instruction."""
    import ctypes  # only here: it takes longer than a small file

    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(error))
