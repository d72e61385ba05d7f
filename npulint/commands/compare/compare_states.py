"""Two states of one project as the inputs of a comparison: two revisions of git, or a revision and the working tree."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import msgspec

from npulint.commands.compare.compare_inputs import SideSources, discovered
from npulint.core.errors import ConfigError
from npulint.core.texts import say
from npulint.discover.files import DiscoverOptions, discover
from npulint.discover.kinds import SourceFile
from npulint.discover.paths import local, shown
from npulint.discover.projects import marked_root
from npulint.discover.revision import (
    MissingObjectsError,
    Revision,
    Snapshot,
    TooLargeRevisionError,
    UnknownRevisionError,
)
from npulint.discover.safe_open import read_regular
from npulint.judge.findings import ComparedChange

_SHORT = 9  # digits of a commit
_SHA1 = 40  # digits
_LIMIT = 20_000_000  # bytes of a file that is shown or compared
_DISTRUST = "dubious ownership"


class Range(msgspec.Struct, frozen=True):
    """Two states. An empty `head` is the working tree; `branched`: the reference is where the branch of the head began,
    not the base itself."""

    base: str
    head: str
    branched: bool = False

    @classmethod
    def parsed(cls, text: str) -> Range:
        """``BASE..HEAD``, ``BASE...HEAD`` or ``BASE``; as in git, what is missing beside the dots is HEAD."""
        dots = "..." if "..." in text else ".."
        base, separator, head = text.partition(dots)
        return cls(base or "HEAD", head or "HEAD", dots == "...") if separator else cls(text, "")


class ComparedStates(msgspec.Struct, frozen=True, eq=False):
    """Both states. `changed` are the paths of changed files, as both sides spell them; `content` is what their files
    hold, by path."""

    left: SideSources
    right: SideSources
    change: ComparedChange
    changed: frozenset[str]
    content: Mapping[str, bytes]


class Contents(Mapping[str, bytes]):
    """The contents of files by path, read when they are asked for."""

    def __init__(self, locations: Mapping[str, str]) -> None:
        self._locations = locations

    def __getitem__(self, path: str) -> bytes:
        try:
            return read_regular(self._locations[path], _LIMIT)
        except (OSError, ValueError):
            return b""

    def __contains__(self, path: object) -> bool:
        return path in self._locations

    def __iter__(self) -> Iterator[str]:
        return iter(self._locations)

    def __len__(self) -> int:
        return len(self._locations)


@contextmanager
def states(text: str, path: str, options: DiscoverOptions, lang: str) -> Iterator[ComparedStates]:
    """Context manager: the states that `text` names of the project (or entry script) at `path`. The files of revisions
    lie in a temporary folder as long as it is open. Raises `ConfigError` when git cannot read a revision."""
    import tempfile

    with tempfile.TemporaryDirectory(prefix="npulint-") as folder:
        try:
            compared_states = _States(Range.parsed(text), path, options).read(folder)
        except (UnknownRevisionError, MissingObjectsError) as error:
            key = "git.distrusted" if _DISTRUST in str(error) else _KEYS[type(error)]
            raise ConfigError([say(lang, key, word=text)]) from error
        except TooLargeRevisionError as error:
            raise ConfigError([say(lang, "git.too-large", word=text)]) from error
        yield compared_states


_KEYS = {UnknownRevisionError: "git.unknown", MissingObjectsError: "incomplete.revision"}


class _States:
    """Reads the states of the project at `path`."""

    def __init__(self, span: Range, path: str, options: DiscoverOptions) -> None:
        self._span, self._path, self._options = span, path, options
        self._where = path if os.path.isdir(path) else _project_of(path)
        self._root = shown(local(self._where)).rstrip("/") or "/"

    def read(self, folder: str) -> ComparedStates:
        base = Revision(self._span.base, self._where)
        head = Revision(self._span.head, self._where) if self._span.head else None
        if head is not None and self._span.branched:
            base = base.branched_from(head)
        prefix = f"{base.commit[:_SHORT]}:{self._root if self._root in ('.', '/') else f'./{self._root}'}"
        left = Snapshot(base, prefix, self._where, self._options)
        if head is None:
            now = discovered(self._path, self._options)
            ids = self._ids(now, {blob.name for blob in left.written.values()})
            self._drop_ignored(left, ids)
        else:
            right = Snapshot(head, self._root, self._where, self._options)
            ids = right.ids()
            now = self._side(right, self._root, os.path.join(folder, "head"))
        before = self._side(left, prefix, os.path.join(folder, "base"))
        old = left.ids()
        changed = {path for path in old.keys() | ids.keys() if old.get(path) != ids.get(path)}
        change = ComparedChange(
            self._span.base, base.commit, self._span.head, "" if head is None else head.commit, len(changed)
        )
        paths = frozenset(_below(root, path) for path in changed for root in (prefix, self._root))
        return ComparedStates(before, now, change, paths, Contents(_locations(before, now if head else None)))

    def _side(self, snapshot: Snapshot, root: str, folder: str) -> SideSources:
        """The files of a snapshot, written below `folder`, under the paths that results call them."""
        os.mkdir(folder)
        snapshot.write(folder)
        discovery = discover(
            [folder], DiscoverOptions(respect_gitignore=False, max_bytes=self._options.max_bytes, configurations=True)
        )
        files = [_renamed(file, folder, root) for file in discovery.files]
        entry = _below(root, os.path.relpath(self._path, self._where).replace(os.sep, "/"))
        named = entry if os.path.isfile(self._path) and any(file.path == entry for file in files) else ""
        return SideSources(root, files, snapshot.problems if root == self._root else (), named)

    def _ids(self, now: SideSources, tree_ids: set[str]) -> dict[str, str]:
        """The ids that git would give the present files, by path relative to the folder."""
        digest = "sha256" if any(len(name) > _SHA1 for name in tree_ids) else "sha1"
        ids = {}
        for file in now.sources:
            path = os.path.relpath(file.location, self._where).replace(os.sep, "/")
            try:
                data = read_regular(file.location, _LIMIT)
            except (OSError, ValueError):
                continue
            ids[path] = hashlib.new(digest, b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
        return ids

    def _drop_ignored(self, left: Snapshot, present: Mapping[str, str]) -> None:
        """Leave out files of the revision that still exist but are not read there, because a pattern excludes them."""
        for path in [path for path in left.written if path not in present]:
            if os.path.lexists(os.path.join(self._where, *path.split("/"))):
                del left.written[path]


def _project_of(script: str) -> str:
    """The folder of the project of a script."""
    folder = os.path.dirname(local(script)) or "."
    return marked_root(folder.replace(os.sep, "/")) or folder


def _below(root: str, path: str) -> str:
    return path if root == "." else f"{root.rstrip('/')}/{path}"


def _renamed(file: SourceFile, folder: str, root: str) -> SourceFile:
    path = shown(os.path.relpath(file.location, folder))
    return msgspec.structs.replace(file, path=_below(root, path), base=root)


def _locations(*sides: SideSources | None) -> dict[str, str]:
    """The locations of the files of the sides that lie in a temporary folder, by path."""
    return {file.path: file.location for side in sides if side is not None for file in side.sources}
