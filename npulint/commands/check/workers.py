"""Evaluates all projects of a run, sequentially or in several processes if there are many files."""

from __future__ import annotations

import gc
import os
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache, partial
from typing import TYPE_CHECKING

import msgspec

from npulint.commands.check.project_results import Evaluator, decoded
from npulint.core.cache import open_cache
from npulint.core.progress import Advance, no_progress
from npulint.discover.kinds import SourceFile
from npulint.facts.model import FileFacts, Problem
from npulint.judge.catalogue.check import Catalogue
from npulint.judge.catalogue.load import load_catalogue
from npulint.judge.postprocess.record import RawResults
from npulint.judge.postprocess.sharing import Pool
from npulint.judge.settings import Settings

if TYPE_CHECKING:
    from concurrent.futures import Future

    from npulint.core.processes import ChildPool

_COLLECT_AFTER = 1000  # files; their garbage takes some 150 MB
_SHARED_FROM = 1000  # files; to look for equal parts in the results of fewer takes longer than it saves
_PARALLEL_FROM = 2000  # files; starting processes costs as much as reading several hundred
_MAX_PROCESSES = 8
_ANSWER = "npulint.commands.check.workers:answer"
_CHUNKS = 32  # per process: small enough for an even load and regular progress

Projects = Mapping[str, list[SourceFile]]


def check_projects(
    projects: Projects, catalogue: Catalogue, settings: Settings, advance: Advance = no_progress
) -> list[RawResults]:
    """The raw results of all projects, in order. `advance` is called with the number of files finished: 1 each time, or
    more from other processes."""
    count = _processes(projects, settings)
    if count > 1:
        return _together(projects, catalogue, settings, count, advance)
    return _in_turn(projects, catalogue, settings, advance)


def _processes(projects: Projects, settings: Settings) -> int:
    files = sum(map(_weight, projects.values()))
    number = settings.jobs or (min(_MAX_PROCESSES, os.cpu_count() or 1) if files >= _PARALLEL_FROM else 1)
    return min(number, len(projects))


def _weight(sources: list[SourceFile]) -> int:
    """The number of files that are read whether or not programs load them."""
    return sum(1 for source in sources if source.kind != "data")


def _in_turn(
    projects: Projects, catalogue: Catalogue, settings: Settings, advance: Advance = no_progress
) -> list[RawResults]:
    outcomes = []
    store = open_cache(settings.cache)
    evaluator = Evaluator(catalogue, settings, store, _GARBAGE.add)
    pool = Pool() if len(projects) >= _SHARED_FROM else None
    with collector_at_rest(), store.together():
        for root, sources in projects.items():
            _GARBAGE.collect()
            results = evaluator.project(root, sources, advance=advance)
            outcomes.append(results if pool is None else pool.shared(results))
    return outcomes


class _Garbage:
    """What projects left in this process. It is collected before the next project, so never for the last one: the end
    of the process frees that. Results from the cache leave none."""

    files = 0

    def add(self, files: int) -> None:
        """Count the files of a project that was evaluated."""
        self.files += files

    def collect(self) -> None:
        if self.files > _COLLECT_AFTER:
            gc.collect()
            self.files = 0


_GARBAGE = _Garbage()


@contextmanager
def collector_at_rest() -> Iterator[None]:
    """Context manager that disables garbage collection: it would traverse all syntax trees again and again (a third of
    the time), and only between projects is there garbage."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def _together(
    projects: Projects, catalogue: Catalogue, settings: Settings, count: int, advance: Advance
) -> list[RawResults]:
    """The raw results of all projects from `count` processes, which return msgpack bytes."""
    from npulint.core.processes import ChildPool

    items = list(projects.items())
    size = max(1, -(-len(items) // (count * _CHUNKS)))
    outcomes: list[RawResults] = []
    shared_objects = Pool()
    with ChildPool(_ANSWER, count, settings.paths) as pool:
        waiting = deque(
            (chunk, pool.submit(partial(_request, chunk, settings)))
            for chunk in (dict(items[start : start + size]) for start in range(0, len(items), size))
        )
        while waiting:
            chunk, future = waiting.popleft()
            outcomes += map(shared_objects.shared, _outcomes(chunk, future, pool, catalogue, settings))
            advance(sum(map(len, chunk.values())))
    return outcomes


def _outcomes(
    projects: Projects, future: Future[list[bytes]], pool: ChildPool, catalogue: Catalogue, settings: Settings
) -> list[RawResults]:
    """The raw results that a process returns. If the system ends it, for want of memory or because of a fault in an
    extension module, each project is sent to one alone, and what ends that one is named."""
    from npulint.core.processes import Ended

    try:
        return [outcome for outcome in map(decoded, future.result()) if outcome is not None]
    except Ended as ended:
        if ended.failure == "start":  # the host runs Python, but not as a program that can be started
            return _in_turn(projects, catalogue, settings)
    if len(projects) == 1:
        problems = [Problem(source.path, "process-ended") for sources in projects.values() for source in sources]
        return [RawResults(files=[FileFacts(problem.path, "other", problems=[problem]) for problem in problems])]
    apart = [{root: sources} for root, sources in projects.items()]
    futures = [pool.submit(partial(_request, alone, settings)) for alone in apart]
    return [
        outcome
        for alone, future in zip(apart, futures, strict=True)
        for outcome in _outcomes(alone, future, pool, catalogue, settings)
    ]


def _request(projects: Projects, settings: Settings) -> tuple[object, object]:
    """What a process is asked: the results of these projects."""
    return msgspec.to_builtins(projects), msgspec.to_builtins(settings, builtin_types=(bytes,))


def answer(request: tuple[object, object]) -> list[bytes]:
    """The raw results of the projects of a request as msgpack; called in a process that was started for it."""
    projects = msgspec.convert(request[0], dict[str, list[SourceFile]])
    settings = msgspec.convert(request[1], Settings, builtin_types=(bytes,))
    outcomes = _in_turn(projects, _catalogue(settings.checks), settings)
    return [msgspec.msgpack.encode(outcome) for outcome in outcomes]


@cache
def _catalogue(folders: tuple[str, ...]) -> Catalogue:
    """The catalogue of a worker process."""
    return load_catalogue(folders, whole=False)
