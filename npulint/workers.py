"""Evaluates all projects of a run, sequentially or in several processes if there are many files."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache

import msgspec

from npulint import budget
from npulint.cache import open_cache
from npulint.catalogue.check import Catalogue
from npulint.catalogue.load import load_catalogue
from npulint.discover.kinds import SourceFile
from npulint.facts.model import FileFacts, Problem
from npulint.postprocess.record import RawResults
from npulint.postprocess.sharing import Pool
from npulint.progress import Advance, no_progress
from npulint.project_results import Evaluator, decoded
from npulint.settings import Settings

_COLLECT_AFTER = 1000  # files; their garbage takes some 150 MB
_SHARED_FROM = 1000  # files; to look for equal parts in the results of fewer takes longer than it saves
_PARALLEL_FROM = 2000  # files; starting processes costs as much as reading several hundred
_MAX_PROCESSES = 8
_CHUNKS = 32  # per process: small enough for an even load and regular progress

Projects = Mapping[str, list[SourceFile]]


def check_projects(
    projects: Projects, catalogue: Catalogue, settings: Settings, advance: Advance = no_progress
) -> list[RawResults]:
    """The raw results of all projects, in order. `advance` is called with the number of files finished: 1 each time, or
    more from other processes."""
    count = _processes(projects, settings)
    if count > 1:
        return _together(projects, settings, count, advance)
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


def _together(projects: Projects, settings: Settings, count: int, advance: Advance) -> list[RawResults]:
    """The raw results of all projects from `count` processes, which return msgpack bytes instead of pickled objects."""
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

    items = list(projects.items())
    size = max(1, -(-len(items) // (count * _CHUNKS)))
    chunks = [dict(items[start : start + size]) for start in range(0, len(items), size)]
    outcomes: list[RawResults] = []
    known = Pool()
    budget.rest()
    done = 0
    with suppress(BrokenProcessPool), ProcessPoolExecutor(count, initializer=_end_on_interrupt) as pool:
        for answers in pool.map(_chunk, chunks, [settings] * len(chunks)):
            outcomes += map(known.shared, _decoded(answers))
            advance(sum(map(len, chunks[done].values())))
            done += 1
    for chunk in chunks[done:]:  # the system has ended a process
        outcomes += map(known.shared, _apart(chunk, settings))
        advance(sum(map(len, chunk.values())))
    return outcomes


def _apart(projects: Projects, settings: Settings) -> list[RawResults]:
    """The raw results of projects from a process of their own. If the system ends it, for want of memory or because of
    a fault in an extension module, each project gets one, and what ends that one is named."""
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

    try:
        with ProcessPoolExecutor(1, initializer=_end_on_interrupt) as pool:
            return _decoded(pool.submit(_chunk, projects, settings).result())
    except BrokenProcessPool:
        if len(projects) > 1:
            return [outcome for root in projects for outcome in _apart({root: projects[root]}, settings)]
    problems = [Problem(source.path, "process-ended") for sources in projects.values() for source in sources]
    return [RawResults(files=[FileFacts(one.path, "other", problems=[one]) for one in problems])]


def _decoded(answers: list[bytes]) -> list[RawResults]:
    """The raw results that a worker process returned."""
    return [outcome for outcome in map(decoded, answers) if outcome is not None]


def _end_on_interrupt() -> None:
    """Initialise a worker so that Ctrl-C ends it without a traceback: the parent process reports it."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _chunk(projects: Projects, settings: Settings) -> list[bytes]:
    outcomes = _in_turn(projects, _catalogue(settings.checks), settings)
    return [msgspec.msgpack.encode(outcome) for outcome in outcomes]


@cache
def _catalogue(folders: tuple[str, ...]) -> Catalogue:
    """The catalogue of a worker process."""
    return load_catalogue(folders, whole=False)
