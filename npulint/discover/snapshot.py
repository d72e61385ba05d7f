"""Files of a git revision, written to an empty folder: only regular files that a comparison may read, their bytes as
git stores them. No filter runs, no link and no submodule is written, and no name leads out of the folder."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator, Mapping, Sequence

from npulint.discover.file_filter import limit_of
from npulint.discover.files import MAX_FILES, DiscoverOptions
from npulint.discover.ignore import Excludes
from npulint.discover.kinds import ARTIFACT, GRAPH, PASSING, may_be_loaded, possible_kinds
from npulint.discover.revision import Blob, Revision
from npulint.facts.model import Problem

_TOTAL = 1 << 30  # bytes of a revision
_AT_ONCE = 1 << 25  # bytes held in memory
_UNREAD = (GRAPH, ARTIFACT)  # programs are compared, not what they leave behind
_UNNAMEABLE = (errno.ENAMETOOLONG, errno.EINVAL)
_FOREIGN = '\\:*?"<>|' if sys.platform == "win32" else ""  # characters that name something else there


class TooLargeRevisionError(Exception):
    """The revision has more files, or more bytes in them, than are written."""


class Snapshot:
    """The files of `revision` that a comparison reads, by path relative to its folder. `shown` is what results call
    this folder, `where` the folder as patterns of `options` see it; `problems` are files that are too large."""

    def __init__(self, revision: Revision, shown: str, where: str, options: DiscoverOptions) -> None:
        self._revision = revision
        self.all = revision.blobs()
        self.problems: list[Problem] = []
        self.written: dict[str, Blob] = {}
        self._large: dict[str, Blob] = {}
        excludes = Excludes((*options.exclude, *options.extend_exclude), options.base)
        for path, blob in self.all.items():
            location = os.path.normpath(os.path.join(where, path))
            if _is_plain(path) and not excludes.within(location) and self._is_read(path, blob, shown, options):
                self.written[path] = blob

    def _is_read(self, path: str, blob: Blob, shown: str, options: DiscoverOptions) -> bool:
        kinds = possible_kinds(path)
        if not kinds or kinds in _UNREAD:
            return may_be_loaded(os.path.basename(path), blob.size)
        limit = limit_of(kinds, options.max_bytes)
        if blob.size > limit and kinds not in PASSING:
            self._large[path] = blob
            self.problems.append(
                Problem(path if shown == "." else f"{shown}/{path}", "too-large", f"{blob.size} > {limit}")
            )
        return blob.size <= limit

    def ids(self) -> dict[str, str]:
        """The ids of the contents that a comparison reads, or would read if they were smaller."""
        return {path: blob.name for path, blob in (*self.written.items(), *self._large.items())}

    def write(self, folder: str) -> None:
        """Write the files below `folder`. Raises `TooLargeRevisionError`, and `MissingObjectsError`."""
        sizes = sum(blob.size for blob in self.written.values())
        if sizes > _TOTAL or len(self.written) > MAX_FILES:
            raise TooLargeRevisionError
        for paths in _portions(self.written):
            contents = self._revision.contents([self.written[path].name for path in paths])
            for path, data in zip(paths, contents, strict=True):
                _write(os.path.join(folder, *path.split("/")), data)


def _is_plain(path: str) -> bool:
    """Whether a path of a tree, which may be forged, names a file below the folder, outside of ``.git``."""
    parts = path.split("/")
    if any(part in ("", ".", "..") or part.lower() == ".git" for part in parts):
        return False
    return not any(sign in path for sign in _FOREIGN)


def _portions(files: Mapping[str, Blob]) -> Iterator[Sequence[str]]:
    """The paths in groups whose contents fit into memory."""
    paths: list[str] = []
    size = 0
    for path, blob in files.items():
        if paths and size + blob.size > _AT_ONCE:
            yield paths
            paths, size = [], 0
        paths.append(path)
        size += blob.size
    if paths:
        yield paths


def _write(location: str, data: bytes) -> None:
    """Write a new file. One whose name cannot exist beside the others (a forged tree, a disk that ignores case, a name
    that is too long) is left out."""
    try:
        os.makedirs(os.path.dirname(location), exist_ok=True)
        with open(location, "xb") as out:
            out.write(data)
    except (FileExistsError, NotADirectoryError, ValueError):
        return
    except OSError as error:
        if error.errno not in _UNNAMEABLE:
            raise
