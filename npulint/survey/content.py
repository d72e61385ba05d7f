"""The content of a project as the survey sees it: a digest that tells whether it changed, and its size."""

from __future__ import annotations

import os
from collections.abc import Iterator

import msgspec

from npulint.core.cache import key
from npulint.discover.files import Discovery, discover
from npulint.discover.safe_open import read_regular
from npulint.judge.settings import Settings
from npulint.survey.model import FORMAT, Job, Plan

_LARGE = 4_000_000  # bytes; of larger files size and time count
_COUNTED = ("python", "shell", "cuda")


class Content(msgspec.Struct, frozen=True):
    """The digest of a project and of all that decides its result; the lines of its code."""

    digest: str
    lines: int


def content_of(settings: Settings, plan: Plan, job: Job, catalogue: str) -> Content:
    """What is in the working directory now, the folder of `job`."""
    discovery = discover(settings.paths, settings.discovery())
    same = msgspec.structs.replace(settings, jobs=1, cache=True)
    decisive = (FORMAT, plan.engine, plan.reports, job.name, job.source, catalogue, same)
    parts: list[bytes | str] = [repr(decisive).encode("utf-8", "backslashreplace")]
    if settings.baseline:
        parts.append(_read(settings.baseline))
    parts += [f"{problem.path}\0{problem.reason}" for problem in discovery.problems]
    lines = 0
    for path, data, counted in _files(discovery):
        parts += [path, data]
        if counted:
            lines += data.count(b"\n") + (not data.endswith(b"\n") and bool(data))
    return Content(key(*parts).hex(), lines)


def _files(discovery: Discovery) -> Iterator[tuple[str, bytes, bool]]:
    """The path and content of each file, and whether its lines count."""
    kinds: dict[str, set[str]] = {}
    for file in discovery.files:
        kinds.setdefault(file.location, set()).add(file.kind)
    for location, own in kinds.items():
        yield location, _read(location), not own.isdisjoint(_COUNTED)


def _read(location: str) -> bytes:
    """The content of a file, or what tells whether it changed."""
    try:
        status = os.stat(location)
        if status.st_size <= _LARGE:
            return read_regular(location, _LARGE)
        return f"{status.st_size} {status.st_mtime_ns}".encode()
    except (OSError, ValueError) as error:
        return type(error).__name__.encode()
