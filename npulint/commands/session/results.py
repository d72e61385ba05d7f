"""Raw results of whole projects from the cache of earlier runs, so that opening a file evaluates nothing again."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

import msgspec

from npulint.commands.check.project_results import decoded, loaded_files
from npulint.core.cache import Cache
from npulint.discover.kinds import SourceFile
from npulint.judge.catalogue.check import Catalogue
from npulint.judge.postprocess.record import RawResults
from npulint.judge.result_cache import fingerprint, ran_out
from npulint.judge.settings import Settings
from npulint.read.files import LoadedFile


class ProjectVersion(msgspec.Struct, frozen=True):
    """The loaded files of a project and the cache key of its results."""

    loaded: list[LoadedFile]
    key: bytes


class ResultStore:
    """The raw results of projects by the content of their files, as runs store them."""

    def __init__(self, cache: Cache) -> None:
        self._cache = cache

    @property
    def enabled(self) -> bool:
        """Whether results are stored at all."""
        return self._cache.enabled

    def version(
        self,
        root: str,
        files: Sequence[SourceFile],
        buffers: Mapping[str, bytes],
        catalogue: Catalogue,
        settings: Settings,
    ) -> ProjectVersion:
        """The present version of a project; `buffers` are editor texts by absolute path."""
        places = ((file.path, os.path.abspath(file.location)) for file in files)
        loaded = loaded_files(files, {path: buffers[place] for path, place in places if place in buffers})
        return ProjectVersion(loaded, fingerprint(loaded, root, catalogue.digest, settings))

    def get(self, version: ProjectVersion) -> RawResults | None:
        """The stored results; None if there are none."""
        return decoded(self._cache.get_many([version.key]).get(version.key, b""))

    def put(self, version: ProjectVersion, results: RawResults) -> None:
        """Store results, unless they would differ with more time or memory."""
        if not ran_out(results.files):
            self._cache.put_many({version.key: msgspec.msgpack.encode(results)})
