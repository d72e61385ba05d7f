"""All projects of a run, one after the other or in several processes where that pays."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache

import msgspec

from npulint.cache import open_cache
from npulint.catalogue.check import Catalogue
from npulint.catalogue.load import load_catalogue
from npulint.discover.kinds import SourceFile
from npulint.postprocess.record import RawResults
from npulint.progress import Advance, no_progress
from npulint.project_runner import Evaluator, decoded
from npulint.settings import Settings

_COLLECT_AFTER = 1500  # files
_PAYS_FROM = 2000  # files; starting processes costs as much as reading some hundreds
_MOST = 8
_CHUNKS = 32  # of the work, per process: small enough to share it evenly, and to tell how far it is

Projects = Mapping[str, list[SourceFile]]


def check_projects(
    projects: Projects, catalogue: Catalogue, settings: Settings, told: Advance = no_progress
) -> list[RawResults]:
    """The outcomes of all projects, in their order. `told` hears of files that are done: one by one, or of many at once
    when they come from other processes."""
    count = _processes(projects, settings)
    if count > 1:
        return _together(projects, settings, count, told)
    return _in_turn(projects, catalogue, settings, told)


def _processes(projects: Projects, settings: Settings) -> int:
    files = sum(len(sources) for sources in projects.values())
    wanted = settings.jobs or (min(_MOST, os.cpu_count() or 1) if files >= _PAYS_FROM else 1)
    return min(wanted, len(projects))


def _in_turn(
    projects: Projects, catalogue: Catalogue, settings: Settings, told: Advance = no_progress
) -> list[RawResults]:
    outcomes = []
    store = open_cache(settings.cache)
    evaluator = Evaluator(catalogue, settings, store)
    waiting = 0
    with collector_at_rest(), store.together():
        for root, sources in projects.items():
            outcomes.append(evaluator.project(root, sources, told=told))
            waiting += len(sources)
            if waiting > _COLLECT_AFTER:
                gc.collect()
                waiting = 0
    return outcomes


@contextmanager
def collector_at_rest() -> Iterator[None]:
    """Inside, nothing is collected: the collector of cyclic garbage would walk over all syntax trees and facts again
    and again (a third of the time), and finds something only between projects."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def _together(projects: Projects, settings: Settings, count: int, told: Advance) -> list[RawResults]:
    """In `count` processes. They send bytes, so that nothing is pickled but names and settings."""
    from concurrent.futures import ProcessPoolExecutor

    items = list(projects.items())
    size = max(1, -(-len(items) // (count * _CHUNKS)))
    chunks = [dict(items[start : start + size]) for start in range(0, len(items), size)]
    outcomes: list[RawResults] = []
    with ProcessPoolExecutor(count, initializer=_obedient) as pool:
        for chunk, answers in zip(chunks, pool.map(_chunk, chunks, [settings] * len(chunks)), strict=True):
            outcomes += [outcome for outcome in map(decoded, answers) if outcome is not None]
            told(sum(map(len, chunk.values())))
    return outcomes


def _obedient() -> None:
    """Ctrl-C reaches all processes of a terminal: the one that asked says so, and the others just end."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _chunk(projects: Projects, settings: Settings) -> list[bytes]:
    outcomes = _in_turn(projects, _catalogue(settings.checks), settings)
    return [msgspec.msgpack.encode(outcome) for outcome in outcomes]


@cache
def _catalogue(folders: tuple[str, ...]) -> Catalogue:
    """The catalogue of a process that works for another."""
    return load_catalogue(folders, whole=False)
