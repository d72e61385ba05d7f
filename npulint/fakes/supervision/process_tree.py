"""The processes below one process, and their end."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
import time
from collections.abc import Callable, Iterable
from typing import NamedTuple

_PROCESSES = "/proc"
_SUBREAPER, _DEATH_SIGNAL = 36, 1  # options of prctl
_PATIENCE = 30  # seconds for processes that the system cannot end at once
_PAUSE = 0.005  # seconds


class Process(NamedTuple):
    """A process that runs: its number, that of its parent, and when it was started, by which it is told from a later
    one of the same number."""

    number: int
    parent: int
    started: int


def adopt_orphans() -> bool:
    """Become the parent of all processes below this one whose own parent ends (Linux). Returns whether that holds."""
    return _prctl(_SUBREAPER, 1)


def end_with_parent() -> bool:
    """Let the system end this process when its parent ends (Linux). Returns whether that holds."""
    return _prctl(_DEATH_SIGNAL, signal.SIGKILL)


def _prctl(option: int, value: int) -> bool:
    if not sys.platform.startswith("linux"):
        return False
    try:
        return int(ctypes.CDLL(None).prctl(option, value, 0, 0, 0)) == 0
    except (AttributeError, OSError):
        return False


def below(root: int) -> list[Process]:
    """The processes below a process, without those that have ended; none where the system lists no processes."""
    everything = list(_running())
    children: dict[int, list[Process]] = {}
    for process in everything:
        children.setdefault(process.parent, []).append(process)
    queue, descendants = [root], []
    while queue:
        nearest = children.get(queue.pop(), [])
        descendants += nearest
        queue += [process.number for process in nearest]
    return descendants


def _running() -> Iterable[Process]:
    for name in filter(str.isdigit, os.listdir(_PROCESSES) if os.path.isdir(_PROCESSES) else ()):
        process = _process(int(name))
        if process is not None:
            yield process


def _process(number: int) -> Process | None:
    try:
        with open(f"{_PROCESSES}/{number}/stat", "rb") as file:
            state, parent, *others = file.read().rpartition(b")")[2].split()
    except (OSError, ValueError):
        return None
    return None if _has_ended(number, state) else Process(number, int(parent), int(others[17]))


def _has_ended(number: int, state: bytes) -> bool:
    """Whether a process in this state runs no more: a first thread that has ended may have left others."""
    if state not in (b"Z", b"X"):
        return False
    try:
        return len(os.listdir(f"{_PROCESSES}/{number}/task")) < 2
    except OSError:
        return True


def lists_processes() -> bool:
    """Whether the system lists processes with their parents, as Linux does."""
    return os.path.isfile(f"{_PROCESSES}/self/stat")


def end_below(root: int, before: Callable[[list[int]], object], reap: Callable[[], object]) -> None:
    """End all processes below a process that adopts orphans. They are stopped first, so that none starts another while
    the list is made; `before` sees the numbers of the stopped ones. `reap` is called until all have gone, but not for
    long where the system cannot end one."""
    stopped: set[Process] = set()
    while started := set(below(root)) - stopped:
        for process in started:
            _send(process, signal.SIGSTOP)
        stopped |= started
    before(sorted(process.number for process in stopped))
    until = time.monotonic() + _PATIENCE
    while left := below(root):
        for process in left:
            _send(process, signal.SIGKILL)
        reap()
        if time.monotonic() > until:
            return
        time.sleep(_PAUSE)
    reap()


def _send(process: Process, number: signal.Signals) -> None:
    """Send a signal to this process and to no later one of its number."""
    try:
        handle = os.pidfd_open(process.number)
    except ProcessLookupError:
        return
    except (AttributeError, OSError):  # the system has no such handles
        _send_by_number(process.number, number)
        return
    try:
        now = _process(process.number)
        if now is not None and now.started == process.started:
            signal.pidfd_send_signal(handle, number)
    except OSError:
        return  # it has ended, or became that of another user
    finally:
        os.close(handle)


def _send_by_number(process: int, number: signal.Signals) -> None:
    with contextlib.suppress(OSError):
        os.kill(process, number)


def end_groups(leaders: Iterable[int]) -> None:
    """End the process groups of these leaders: all that can be done where the system lists no processes."""
    for leader in leaders:
        try:
            os.killpg(leader, signal.SIGKILL)
        except OSError:
            continue


def end_marked(variable: str, value: str) -> None:
    """End all processes that were started with a variable of this value, where the system lists processes: for those
    whose supervisor is gone."""
    mark = f"{variable}={value}".encode()
    for process in _running():
        try:
            with open(f"{_PROCESSES}/{process.number}/environ", "rb") as file:
                ours = mark in file.read().split(b"\0")
        except OSError:
            continue  # it has ended, or belongs to someone else
        if ours:
            _send(process, signal.SIGKILL)
