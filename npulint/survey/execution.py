"""Has all projects checked: by processes of this machine, or on a cluster."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from queue import Empty, SimpleQueue
from typing import Any

import msgspec

from npulint import __version__
from npulint.core.errors import NpulintError
from npulint.core.processes import Children, Ended, Limits
from npulint.core.progress import Advance, Progress, progress_counter
from npulint.core.texts import say
from npulint.report.terminal import escape_control_chars
from npulint.survey.model import Job, Plan
from npulint.survey.parts import write_part
from npulint.survey.rows import failed

# Checks projects in a process of its own for each thread, and ends the process that takes too much.

_WORN = 600 << 20  # bytes of memory after which a process gives way to a new one
CHILDREN = Children("npulint.survey.check:answer", worn=_WORN)
"""The processes of all threads of this one."""


class VersionError(Exception):
    """A machine of the cluster has another npulint."""


def checked(plan: Plan, job: Job) -> bool:
    """Have a project checked, and its part kept whatever happens; returns whether it was known already. Runs in any
    thread, of this machine or of a cluster. Raises `VersionError`."""
    if plan.version != __version__:
        raise VersionError(f"{__version__} != {plan.version}")
    if job.failure:
        write_part(plan.out, job.identity, failed(job, job.failure, job.detail))
        return False
    try:
        was_checked: bool = CHILDREN.ask(_request(plan, job), Limits(plan.seconds, plan.memory))
    except Ended as ended:
        if ended.failure == "closed":  # the survey is interrupted
            raise InterruptedError from None
        failure = "ended" if ended.failure == "start" else ended.failure
        write_part(plan.out, job.identity, failed(job, failure, ended.detail))
        return False
    return was_checked


def _request(plan: Plan, job: Job) -> tuple[object, object]:
    return msgspec.to_builtins(plan), msgspec.to_builtins(job)


_PAUSE = 2.0  # seconds between two looks at the cluster
_PATIENCE = 30  # looks at a cluster without workers, after which this machine does the rest
_CONNECT = 30  # seconds


def execute(
    plan: Plan, jobs: Sequence[Job], processes: int, scheduler: str = "", progress: Progress | None = None
) -> int:
    """Check all projects, on the cluster of a scheduler if one is named; returns how many were known already.
    `processes` are those of this machine (0: one for each core). Raises `NpulintError` if a cluster cannot be used."""
    advance = progress_counter(len(jobs), progress)
    done_before, rest = 0, list(jobs)
    if scheduler:
        with _cluster(scheduler, plan.lang) as client:
            done_before, rest = _done(plan, rest, client.get_executor(), advance, lambda: bool(_workers(client)))
    if not rest:
        return done_before
    with _local(processes or os.cpu_count() or 1) as executor:
        again, _ = _done(plan, rest, executor, advance, lambda: True)
    return done_before + again


@contextmanager
def _local(threads: int) -> Iterator[Executor]:
    executor = ThreadPoolExecutor(threads)
    try:
        yield executor
    finally:
        executor.shutdown(wait=False, cancel_futures=True)
        CHILDREN.kill()
        executor.shutdown()
        CHILDREN.close()


def _done(
    plan: Plan, jobs: Sequence[Job], executor: Executor, advance: Advance, alive: Callable[[], bool]
) -> tuple[int, list[Job]]:
    """How many projects were known already, and those that the executor has lost. `alive` tells whether it still has
    workers; if it has none for long, all that it did not answer are lost."""
    answered: SimpleQueue[Future[bool]] = SimpleQueue()
    waiting = {executor.submit(checked, plan, job): job for job in jobs}
    for future in list(waiting):
        future.add_done_callback(answered.put)
    done_before, looks = 0, 0
    lost: list[Job] = []
    while waiting and looks < _PATIENCE:
        try:
            future = answered.get(timeout=_PAUSE)
        except Empty:
            looks = 0 if alive() else looks + 1
            continue
        job, answer = waiting.pop(future), _answer(future, plan.lang)
        if answer is None:
            lost.append(job)
        else:
            done_before += answer
            advance(1)
    for future in waiting:
        future.cancel()
    return done_before, [*lost, *waiting.values()]


def _answer(future: Future[bool], lang: str) -> bool | None:
    """None if the worker is lost."""
    try:
        return future.result()
    except VersionError as error:
        raise NpulintError(say(lang, "survey.version", versions=str(error))) from None
    except Exception:  # each kind of executor has its own for a worker that ended
        return None


@contextmanager
def _cluster(address: str, lang: str) -> Iterator[Any]:
    """A client of a dask scheduler that has workers."""
    try:
        distributed = importlib.import_module("distributed")
    except ModuleNotFoundError:
        raise NpulintError(say(lang, "survey.no-dask")) from None
    try:
        client = distributed.Client(address, timeout=_CONNECT)
    except Exception as error:  # by the kind of address: OSError, ValueError, TypeError
        shown = escape_control_chars(f"{address}: {error}")
        raise NpulintError(say(lang, "survey.no-scheduler", detail=shown)) from None
    with client:
        if not _workers(client):
            raise NpulintError(say(lang, "survey.no-workers", address=escape_control_chars(address)))
        yield client


def _workers(client: Any) -> Any:
    try:
        return client.scheduler_info()["workers"]
    except Exception:  # the scheduler is gone
        return ()
