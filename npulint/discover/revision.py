"""Files of a git revision. Only objects are read: nothing is checked out, no hook or filter runs, nothing is fetched.

A repository may bring its own ``.git/config`` (an unpacked archive). What could start a program there is overridden:
hooks, the file system monitor, the pager, and transports, by which git would fetch missing objects. The environment
forbids transports too, because it is stronger than any configuration, also with releases that know no
``GIT_NO_LAZY_FETCH`` (before 2.45). The oldest release that works is 2.30 (``rev-parse --end-of-options``)."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from npulint.discover.file_filter import limit_of
from npulint.discover.files import MAX_FILES, DiscoverOptions
from npulint.discover.ignore import Excludes
from npulint.discover.kinds import ARTIFACT, GRAPH, PASSING, may_be_loaded, possible_kinds
from npulint.facts.model import Problem

AUTO = "auto"
"""The revision that pre-commit compares with: the last commit, if there is one."""

_SETTINGS = {
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    "core.pager": "cat",
    "core.sshCommand": "false",
    "protocol.allow": "never",
}
_SAFE = ("--no-pager", *(word for key, value in _SETTINGS.items() for word in ("-c", f"{key}={value}")))
_QUIET = {
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
}
_PLAIN_FILES = (b"100644", b"100755")
_SECONDS = 60


class UnknownRevisionError(Exception):
    """git does not know the revision, or the folder is in no repository that it trusts."""


class MissingObjectsError(Exception):
    """The repository does not have all files of the revision: it is a partial clone, or damaged."""


class Blob(NamedTuple):
    """A regular file of a revision: the id of its content, and its bytes."""

    name: str
    size: int


class Revision:
    """A commit of the repository of `folder` (default: the working directory). Raises `UnknownRevisionError`; its
    methods raise `MissingObjectsError`. `commit` is its id."""

    def __init__(self, name: str, folder: str = ".") -> None:
        reference = "HEAD" if name == AUTO else name
        words = ["rev-parse", "--verify", "--quiet", "--end-of-options", f"{reference}^{{commit}}"]
        self._folder = folder
        self.commit = _git(words, UnknownRevisionError, folder=folder).decode("ascii", "replace").strip()

    def branched_from(self, other: Revision) -> Revision:
        """The last commit that both have in common. Raises `UnknownRevisionError` if there is none."""
        words = ["merge-base", self.commit, other.commit]
        return Revision(_git(words, UnknownRevisionError, folder=self._folder).decode("ascii").split()[0], self._folder)

    def files(self, folders: Sequence[str]) -> dict[str, str]:
        """Object ids of the regular files below `folders`, by path relative to the working directory."""
        words = ["--literal-pathspecs", "ls-tree", "-r", "-z", self.commit, "--", *map(_below, folders)]
        listed = _git(words, MissingObjectsError, folder=self._folder)
        ids = {}
        for row in listed.split(b"\0"):
            head, tab, path = row.partition(b"\t")
            if tab and head.split()[0] in _PLAIN_FILES:
                ids[os.fsdecode(path).replace("/", os.sep)] = head.split()[2].decode("ascii")
        return ids

    def blobs(self) -> dict[str, Blob]:
        """The regular files below the folder, by path relative to it, with slashes. Links and submodules are none."""
        listed = _git(["ls-tree", "-r", "-l", "-z", self.commit], MissingObjectsError, folder=self._folder)
        blobs = {}
        for row in listed.split(b"\0"):
            head, tab, path = row.partition(b"\t")
            words = head.split()
            if tab and words[0] in _PLAIN_FILES and words[3].isdigit():  # "-" where the object is missing
                blobs[os.fsdecode(path)] = Blob(words[2].decode("ascii"), int(words[3]))
        return blobs

    def contents(self, objects: Sequence[str]) -> list[bytes]:
        """The contents of `objects`, in their order."""
        if not objects:
            return []
        names = "".join(f"{name}\n" for name in objects).encode("ascii")
        answer = _git(["cat-file", "--batch"], MissingObjectsError, names, self._folder)
        contents, start = [], 0
        for name in objects:
            end = answer.find(b"\n", start)
            head = answer[start : max(start, end)].split()
            if len(head) != len(("name", "type", "size")):  # "missing", or the end
                raise MissingObjectsError(name)
            size = int(head[2])
            contents.append(answer[end + 1 : end + 1 + size])
            start = end + size + 2
        return contents


def _below(folder: str) -> str:
    return folder if folder == "." else folder.rstrip("/") + "/"


def _git(words: Sequence[str], failure: type[Exception], stdin: bytes = b"", folder: str = ".") -> bytes:
    """The output of git in `folder`; an exception of type `failure` if git is missing, fails or takes too long."""
    try:
        done = subprocess.run(
            ["git", *_SAFE, *words],
            input=stdin,
            cwd=folder,
            capture_output=True,
            check=True,
            timeout=_SECONDS,
            env={**os.environ, **_QUIET},
        )
    except subprocess.CalledProcessError as error:
        raise failure(error.stderr.decode("utf-8", "replace").strip()) from error
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        raise failure(str(error)) from error
    return done.stdout


# Files of a git revision, written to an empty folder: only regular files that a comparison may read, their bytes as
# git stores them. No filter runs, no link and no submodule is written, and no name leads out of the folder.

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
