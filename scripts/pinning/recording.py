"""Records projects, each part of one in a process of its own with limits on time and memory."""

from __future__ import annotations

import gzip
import importlib
import multiprocessing
import os
import pkgutil
import resource
import signal
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import msgspec

from npulint.core.digest import blake2b
from scripts.pinning.observed import Record, catalogue, check_records, comparison_records, fact_records
from scripts.pinning.plain import canonical
from scripts.pinning.projects import Project
from scripts.pinning.store import Header, store

Observe = Callable[[Project, Path], Iterator[Record]]
OF_A_PROJECT: dict[str, Observe] = {"check": check_records, "facts": fact_records}
OF_A_PAIR: dict[str, Observe] = {"compare": comparison_records}
"""The parts of the recording of a project, and of a pair; each is a process."""
_NEEDED = tuple(f"npulint.{room}" for room in "model recognizers judge commands graphs runs".split())
_CLOCK = 10  # times the seconds of the processor, after which a process that waits is ended
_LEVEL = 6  # of the compression


class Limits(msgspec.Struct, frozen=True):
    """What a part of a project may take: seconds of the processor, and bytes of addresses."""

    seconds: int = 300
    memory: int = 12 << 30


class Observed(msgspec.Struct, frozen=True):
    """What is said of one part: its number of records by kind, a digest of them, the seconds that it took; or why there
    are none."""

    counts: dict[str, int] = {}
    digest: str = ""
    seconds: float = 0.0
    failure: str = ""


def record(folder: Path, project: Project, root: Path, header: Header, limits: Limits) -> Header:
    """Write the file of a project; `header` has its content and the engine. Returns the complete header."""
    parts = OF_A_PAIR if project.migrated else OF_A_PROJECT
    counts: Counter[str] = Counter()
    failures: dict[str, str] = {}
    digests: list[str] = []
    seconds = 0.0
    with tempfile.TemporaryDirectory(prefix="npulint-pin-") as name:
        files = []
        for part, observe in parts.items():
            file = Path(name, part)
            observed = _apart(file, observe, project, root.resolve(), limits)
            seconds += observed.seconds
            if observed.failure:
                failures[part] = observed.failure
                continue
            counts.update(observed.counts)
            digests.append(observed.digest)
            files.append(file)
        header = msgspec.structs.replace(
            header,
            counts=dict(sorted(counts.items())),
            failures=failures,
            seconds=round(seconds, 2),
            body=blake2b("".join(digests).encode(), digest_size=16).hexdigest(),
        )
        store(folder, header, files)
    return header


def warm_up() -> None:
    """Load once the checks and modules that every process needs, before they are forked."""
    catalogue()
    for package in map(importlib.import_module, _NEEDED):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            importlib.import_module(module.name)


def _apart(file: Path, observe: Observe, project: Project, root: Path, limits: Limits) -> Observed:
    """What a part gives, in a process that may fail."""
    context = multiprocessing.get_context("fork")
    process = context.Process(target=_child, args=(file, observe, project, root, limits))
    process.start()
    process.join(limits.seconds * _CLOCK)
    if process.is_alive():
        process.kill()
        process.join()
        return Observed(failure="out of time by the clock", seconds=float(limits.seconds))
    try:
        return msgspec.json.decode(_summary(file).read_bytes(), type=Observed)
    except (OSError, msgspec.MsgspecError):
        used_up = process.exitcode in (-signal.SIGXCPU, -signal.SIGKILL)
        why = "out of time" if used_up else f"ended with {process.exitcode}"
        return Observed(failure=why, seconds=float(limits.seconds) if used_up else 0.0)


def _summary(file: Path) -> Path:
    return file.with_suffix(".summary")


def _child(file: Path, observe: Observe, project: Project, root: Path, limits: Limits) -> None:
    """Write the compressed records of a part, then its summary."""
    resource.setrlimit(resource.RLIMIT_CPU, (limits.seconds, limits.seconds + 5))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (limits.memory, limits.memory))
    try:
        observed = written(file, observe(project, root))
    except MemoryError:
        observed = Observed(failure="out of memory")
    except Exception as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{Path(frame.filename).name}:{frame.lineno}"
        observed = Observed(failure=f"{type(error).__name__}: {str(error)[:200]} ({place})")
    used = resource.getrusage(resource.RUSAGE_SELF)
    observed = msgspec.structs.replace(observed, seconds=used.ru_utime + used.ru_stime)
    _summary(file).write_bytes(msgspec.json.encode(observed))
    sys.stderr.flush()
    os._exit(0)  # the end of the process frees what cleaning up would visit first


def written(file: Path, records: Iterable[Record]) -> Observed:
    """Write compressed records to a file."""
    counts: Counter[str] = Counter()
    digest = blake2b(digest_size=16)
    with gzip.GzipFile(file, "wb", _LEVEL, mtime=0) as stream:
        for row in records:
            line = canonical(row) + b"\n"
            counts[row["record"]] += 1
            digest.update(line)
            stream.write(line)
    return Observed(dict(counts), digest.hexdigest())
