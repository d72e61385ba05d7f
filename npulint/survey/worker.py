"""Checks projects in a process of its own for each thread, and ends the process that takes too much."""

from __future__ import annotations

import contextlib
import os
import select
import subprocess
import sys
import threading
import time

import npulint
from npulint import __version__
from npulint.survey.child import encoded
from npulint.survey.model import Job, Plan
from npulint.survey.parts import write_part
from npulint.survey.rows import failed

_TICK = 200  # milliseconds between two looks at the process
_WORN = 600 << 20  # bytes of memory after which a process gives way to a new one
_HOME = os.path.dirname(os.path.dirname(os.path.abspath(npulint.__file__)))
_OWN = threading.local()
_STARTED: set[Child] = set()


class VersionError(Exception):
    """A machine of the cluster has another npulint."""


class _Ended(Exception):
    """The process is gone, for a reason of `ProjectRow.failure`."""

    def __init__(self, failure: str, detail: str = "") -> None:
        super().__init__(failure, detail)
        self.failure, self.detail = failure, detail


def checked(plan: Plan, job: Job) -> bool:
    """Have a project checked, and its part kept whatever happens; returns whether it was known already. Runs in any
    thread, of this machine or of a cluster. Raises `VersionError`."""
    if plan.version != __version__:
        raise VersionError(f"{__version__} != {plan.version}")
    if job.failure:
        write_part(plan.out, job.identity, failed(job, job.failure, job.detail))
        return False
    try:
        return _answered(plan, job)
    except _Ended as ended:
        write_part(plan.out, job.identity, failed(job, ended.failure, ended.detail))
        return False


def _answered(plan: Plan, job: Job) -> bool:
    """The answer of this thread's process. What ends one that has checked others before gets a new one. Raises
    `_Ended`."""
    used: Child | None = getattr(_OWN, "child", None)
    try:
        return _asked(used or Child(), plan, job)
    except _Ended as ended:
        if used is None or ended.failure != "ended":
            raise
    return _asked(Child(), plan, job)


def _asked(child: Child, plan: Plan, job: Job) -> bool:
    """The answer of a process, which this thread keeps while it is fit."""
    _OWN.child = None
    try:
        known = child.ask(plan, job)
    except _Ended:
        if child.closed:  # the survey is interrupted
            raise InterruptedError from None
        child.close()
        raise
    if child.memory() > _WORN:
        child.close()
    else:
        _OWN.child = child
    return known


def close_all() -> None:
    """End all processes that this one has started."""
    for child in list(_STARTED):
        child.close()


class Child:
    """A process that checks projects. It starts in the folder of npulint, not in one whose files it could import."""

    def __init__(self) -> None:
        self.closed = False
        self._process = subprocess.Popen(
            [sys.executable, "-m", "npulint.survey.child", str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=_HOME,
            start_new_session=True,
        )
        _STARTED.add(self)

    def ask(self, plan: Plan, job: Job) -> bool:
        """Whether the part of a project was known already. Raises `_Ended`."""
        process = self._process
        assert process.stdin is not None and process.stdout is not None
        try:
            process.stdin.write(encoded(plan, job))
            process.stdin.flush()
            self._wait(process.stdout.fileno(), plan)
            answer = process.stdout.readline()
        except (OSError, ValueError):  # also if another thread has closed it
            raise _Ended("ended") from None
        if not answer.endswith(b"\n"):
            raise _Ended("ended")
        return b"true" in answer

    def _wait(self, descriptor: int, plan: Plan) -> None:
        """Wait for an answer, or for the end of the process. Raises `_Ended` where a limit is exceeded."""
        end = time.monotonic() + plan.seconds
        waiting = select.poll()  # select() knows no more than 1024 files
        waiting.register(descriptor, select.POLLIN)
        while not waiting.poll(_TICK):
            if time.monotonic() > end:
                raise _Ended("time", f"> {plan.seconds} s")
            if self.memory() > plan.memory:
                raise _Ended("memory", f"> {plan.memory >> 20} MB")

    def memory(self) -> int:
        """The bytes of memory of the process; 0 where that is not known."""
        try:
            with open(f"/proc/{self._process.pid}/statm", "rb") as stream:
                return int(stream.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        except (OSError, ValueError, IndexError):
            return 0

    def close(self) -> None:
        """End the process."""
        self.closed = True
        _STARTED.discard(self)
        self._process.kill()
        for stream in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(OSError):
                if stream is not None:
                    stream.close()
        self._process.wait()
