"""Files of a git revision. Only objects are read: nothing is checked out, no hook or filter runs, nothing fetched."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence

AUTO = "auto"
"""The revision that pre-commit compares with: the last commit, if there is one."""

_SAFE = ("-c", "core.fsmonitor=false", "-c", "protocol.allow=never")
_QUIET = {"GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1", "GIT_TERMINAL_PROMPT": "0"}
_PLAIN_FILES = (b"100644", b"100755")
_SECONDS = 60


class UnknownRevisionError(Exception):
    """git does not know the revision, or the working directory is in no repository."""


class Revision:
    """A commit of the repository of the working directory. Raises `UnknownRevisionError`."""

    def __init__(self, name: str) -> None:
        reference = "HEAD" if name == AUTO else name
        answer = _git(["rev-parse", "--verify", "--quiet", "--end-of-options", f"{reference}^{{commit}}"])
        self._commit = answer.decode("ascii", "replace").strip()

    def files(self, folders: Sequence[str]) -> dict[str, str]:
        """Object ids of the regular files below `folders`, by path relative to the working directory."""
        listed = _git(["--literal-pathspecs", "ls-tree", "-r", "-z", self._commit, "--", *map(_below, folders)])
        found = {}
        for row in listed.split(b"\0"):
            head, tab, path = row.partition(b"\t")
            if tab and head.split()[0] in _PLAIN_FILES:
                found[os.fsdecode(path).replace("/", os.sep)] = head.split()[2].decode("ascii")
        return found

    def contents(self, objects: Sequence[str]) -> list[bytes]:
        """The contents of `objects`, in their order."""
        if not objects:
            return []
        answer = _git(["cat-file", "--batch"], "".join(f"{name}\n" for name in objects).encode("ascii"))
        found, start = [], 0
        for _ in objects:
            end = answer.index(b"\n", start)
            size = int(answer[start:end].split()[2])
            found.append(answer[end + 1 : end + 1 + size])
            start = end + size + 2
        return found


def _below(folder: str) -> str:
    return folder if folder == "." else folder.rstrip("/") + "/"


def _git(words: Sequence[str], stdin: bytes = b"") -> bytes:
    try:
        done = subprocess.run(
            ["git", *_SAFE, *words],
            input=stdin,
            capture_output=True,
            check=True,
            timeout=_SECONDS,
            env={**os.environ, **_QUIET},
        )
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        raise UnknownRevisionError(str(error)) from error
    return done.stdout
