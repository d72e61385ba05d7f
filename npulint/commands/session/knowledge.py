"""Facts of files, read again when the file changes; broken files keep their last good facts."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import TypeAlias

import msgspec

from npulint.commands.check.project_results import facts_of
from npulint.core.cache import Cache
from npulint.discover.kinds import SourceFile
from npulint.facts.model import FileFacts
from npulint.read.files import LoadedFile, load

_MAX_FILES = 6000  # files whose facts are kept
_EARLIER = 8  # earlier texts in editors whose facts are kept: those that undoing brings back
_UNSURE = (-1,)
_GONE = ()

Version: TypeAlias = bytes | tuple[int, ...]
"""The version of a file: its text in an editor, or its file status."""


class _Held(msgspec.Struct, frozen=True):
    mark: Version
    facts: FileFacts
    good: FileFacts | None
    broken: bool


class FactsSnapshot(msgspec.Struct, frozen=True):
    """The facts of some files at one time. `facts` are the same objects as long as the file is unchanged; for `broken`
    files, which map (path, kind) to the current facts with their problem, they are the last good ones. Equal `marks`
    mean equal files."""

    facts: list[FileFacts]
    broken: dict[tuple[str, str], FileFacts]
    marks: list[Version]


class FactStore:
    """Caches the facts of files by content; keeps those of the most recent files."""

    def __init__(self, cache: Cache) -> None:
        self._cache = cache
        self._held: OrderedDict[tuple[str, str], _Held] = OrderedDict()
        self._earlier: OrderedDict[tuple[tuple[str, str], Version], FileFacts] = OrderedDict()

    def forget(self, location: str) -> None:
        """Read this file, or all files below this folder, again next time. Last good facts are kept."""
        inside = os.path.join(location, "")
        for key, held in self._held.items():
            if key[0] == location or key[0].startswith(inside):
                self._held[key] = msgspec.structs.replace(held, mark=_UNSURE)

    def marks(self, files: Sequence[SourceFile], buffers: Mapping[str, bytes]) -> list[Version]:
        """The versions of files as they are now; `buffers` are editor texts by absolute path."""
        places = (os.path.abspath(file.location) for file in files)
        return [buffers[place] if place in buffers else _on_disk(place) for place in places]

    def of(self, files: Sequence[SourceFile], buffers: Mapping[str, bytes]) -> FactsSnapshot:
        """The facts of files as they are now; `buffers` are as for `marks`."""
        keys = [_key(file) for file in files]
        marks = self.marks(files, buffers)
        missing = [
            (file, mark)
            for key, mark, file in zip(keys, marks, files, strict=True)
            if key not in self._held or self._held[key].mark != mark
        ]
        loaded = [load(file, buffers.get(_key(file)[0])) for file, _ in missing]
        self.take(loaded, [mark for _, mark in missing])
        held = [self._held[key] for key in keys]
        for key in keys:
            self._held.move_to_end(key)
        while len(self._held) > max(_MAX_FILES, len(keys)):
            self._held.popitem(last=False)
        broken_files = {(file.facts.path, file.facts.kind): file.facts for file in held if file.broken and file.good}
        return FactsSnapshot([file.good or file.facts for file in held], broken_files, marks)

    def take(self, loaded: Sequence[LoadedFile], marks: Sequence[Version]) -> None:
        """Read the facts of files that were loaded in these versions."""
        files = [self._earlier.get((_key(item.file), mark)) for item, mark in zip(loaded, marks, strict=True)]
        unknown = [item for item, facts in zip(loaded, files, strict=True) if facts is None]
        read = iter(facts_of(unknown, self._cache))
        for item, mark, facts in zip(loaded, marks, files, strict=True):
            key = _key(item.file)
            fresh = next(read) if facts is None else facts
            before = self._held.get(key)
            if before is not None and before.facts == fresh:
                fresh = before.facts
            broken = item.problem is None and any(problem.fatal for problem in fresh.problems)
            good = fresh if not broken else before.good if before else None
            self._held[key] = _Held(mark, fresh, good, broken)
            if isinstance(mark, bytes):
                self._earlier[key, mark] = fresh
                self._earlier.move_to_end((key, mark))
        while len(self._earlier) > _EARLIER:
            self._earlier.popitem(last=False)


def _key(file: SourceFile) -> tuple[str, str]:
    return os.path.abspath(file.location), file.kind


def _on_disk(place: str) -> Version:
    try:
        status = os.stat(place)
    except (OSError, ValueError):
        return _GONE
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
