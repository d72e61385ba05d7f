"""The commit of a checked folder, read from the files of its repository: git is not run there, because a repository may
bring a configuration that starts programs."""

from __future__ import annotations

import os

from npulint.discover.safe_open import read_regular
from npulint.lazy_regex import lazy_compile

_COMMIT = lazy_compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_REF = lazy_compile(r"refs/[\w./@+-]{1,200}")
_SMALL, _PACKED = 4096, 50_000_000  # bytes


def commit_of(folder: str) -> str:
    """The commit that is checked out in a folder or around it; empty if that is not known."""
    place = os.path.abspath(folder)
    while not os.path.lexists(os.path.join(place, ".git")):
        above = os.path.dirname(place)
        if above == place:
            return ""
        place = above
    own = _repository(place)
    head = _text(os.path.join(own, "HEAD"))
    if not head.startswith("ref:"):
        return _commit(head)
    name = head.removeprefix("ref:").strip()
    if not _REF.fullmatch(name) or ".." in name:
        return ""
    shared = os.path.normpath(os.path.join(own, _text(os.path.join(own, "commondir")) or "."))
    loose = (_commit(_text(os.path.join(one, name))) for one in (own, shared))
    return next(filter(None, loose), "") or _packed(shared, name)


def _repository(place: str) -> str:
    """The folder of the repository, which a file may name (worktrees, submodules)."""
    path = os.path.join(place, ".git")
    if os.path.isdir(path):
        return path
    return os.path.normpath(os.path.join(place, _text(path).removeprefix("gitdir:").strip()))


def _packed(repository: str, name: str) -> str:
    for line in _text(os.path.join(repository, "packed-refs"), _PACKED).splitlines():
        commit, _, ref = line.partition(" ")
        if ref == name:
            return _commit(commit)
    return ""


def _commit(text: str) -> str:
    return text if _COMMIT.fullmatch(text) else ""


def _text(path: str, limit: int = _SMALL) -> str:
    try:
        return read_regular(path, limit).decode("utf-8", "surrogateescape").strip()
    except (OSError, ValueError):
        return ""
