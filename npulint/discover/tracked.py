"""Files that git tracks although .gitignore names them: they belong to the project like any other.

git ignores only what it does not track. Code and configurations are often ignored by a rule that is meant for something
else (``lib/``, ``*.yaml``) and committed all the same."""

from __future__ import annotations

import hashlib
import os
import struct

from npulint.core.links import below
from npulint.discover.ignore import Chain, IgnoreRules
from npulint.discover.kinds import CODE, CONFIGURATION, possible_kinds
from npulint.discover.safe_open import read_head, read_regular

# The paths that git tracks, from the index of a repository: versions 2 to 4 of its documented format.

_LIMIT = 64 * 1024 * 1024
_HEADER = struct.Struct(">4sII")
_WORD = struct.Struct(">I")
_SHORT = struct.Struct(">H")
_STAT = 40  # bytes of times, device, mode, owner and size before the name of the object
_MODE = 24  # where the mode is among them
_HASHES = {20: "sha1", 32: "sha256"}  # by the bytes of a name; the index itself does not tell which
_EXTENDED = 0x4000
_TYPES = frozenset((0o10, 0o12, 0o16))  # file, link, submodule; a folder only in a sparse index
_LONGEST = 4096  # bytes of a path


class _Damaged(Exception):
    """The bytes are no index of the expected form."""


def tracked_paths(location: str) -> frozenset[str]:
    """The paths in the index at `location`, relative to the root of the work tree, with slashes; empty if it cannot be
    read, or may not hold all paths."""
    try:
        data = read_regular(location, _LIMIT)
    except (OSError, ValueError):
        return frozenset()
    for size, algorithm in _HASHES.items():
        if not _is_whole(data, size, algorithm):
            continue
        try:
            return frozenset(path.decode("utf-8", "surrogateescape") for path in _paths(data, size))
        except (_Damaged, struct.error, ValueError):
            continue
    return frozenset()


def _is_whole(data: bytes, size: int, algorithm: str) -> bool:
    """Whether the checksum at the end is right, or zero, as git writes it with ``index.skipHash``."""
    end = data[-size:]
    return end == bytes(size) or end == hashlib.new(algorithm, data[:-size], usedforsecurity=False).digest()


def _paths(data: bytes, size: int) -> list[bytes]:
    """The paths of an index with object names of `size` bytes, in their order."""
    magic, version, count = _HEADER.unpack_from(data)
    if magic != b"DIRC" or version not in (2, 3, 4) or count > len(data) // (_STAT + size):
        raise _Damaged
    paths: list[bytes] = []
    last, at = b"", _HEADER.size
    for _ in range(count):
        if (_WORD.unpack_from(data, at + _MODE)[0] >> 12) not in _TYPES:
            raise _Damaged
        name = at + _STAT + size + _SHORT.size
        if _SHORT.unpack_from(data, name - _SHORT.size)[0] & _EXTENDED:
            name += _SHORT.size
        kept = b""
        if version == 4:
            dropped, name = _number(data, name)
            if dropped > len(last):
                raise _Damaged
            kept = last[: len(last) - dropped]
        end = data.index(b"\0", name)
        path = kept + data[name:end]
        if path < last or not path or len(path) > _LONGEST:
            raise _Damaged
        at = end + 1 if version == 4 else at + (end - at) // 8 * 8 + 8
        last = path
        paths.append(path)
    _refuse_incomplete(data, at, size)
    return paths


def _number(data: bytes, at: int) -> tuple[int, int]:
    """A number of variable length at an offset, and the offset behind it."""
    value = data[at] & 127 if at < len(data) else 0
    while at < len(data) and data[at] & 128:
        at += 1
        if at >= len(data) or value > _LONGEST:
            raise _Damaged
        value = ((value + 1) << 7) | (data[at] & 127)
    return value, at + 1


def _refuse_incomplete(data: bytes, at: int, size: int) -> None:
    """Raise `_Damaged` for extensions that a reader must understand: a split or sparse index has paths elsewhere."""
    while at < len(data) - size:
        if not data[at : at + 1].isupper():
            raise _Damaged
        at += 2 * _WORD.size + _WORD.unpack_from(data, at + _WORD.size)[0]
    if at != len(data) - size:
        raise _Damaged


_TAKEN = CODE.union(CONFIGURATION)
_GENERATED = frozenset(
    """build _build dist generated site htmlcov output outputs runs log logs lightning_logs
    wandb mlruns .hydra .idea .vscode""".split()
)
"""Folders with what programs have written: committed or not, it is no source."""
_MARK = b"gitdir: "
_HEAD = 4096  # bytes of a file `.git`


class Tracked:
    """Answers whether git tracks an ignored path. An index is read when some path in its repository is ignored."""

    def __init__(self) -> None:
        self._roots: dict[str, str] = {}
        self._paths: dict[str, frozenset[str]] = {}

    def holds(self, path: str, folder: bool) -> bool:
        """Whether the absolute `path` is tracked code or a tracked configuration, or a `folder` that has some."""
        root = self._root(os.path.dirname(path))
        if not root:
            return False
        if root not in self._paths:
            self._paths[root] = _known(root)
        return path[len(root) :].strip(os.sep).replace(os.sep, "/") + ("/" if folder else "") in self._paths[root]

    def _root(self, folder: str) -> str:
        """The folder of the repository around an absolute folder; empty outside of one."""
        if folder not in self._roots:
            parent = os.path.dirname(folder)
            if os.path.lexists(os.path.join(folder, ".git")):
                self._roots[folder] = folder
            else:
                self._roots[folder] = "" if parent == folder else self._root(parent)
        return self._roots[folder]


def all_ignored(folder: str) -> Chain:
    """The rules in an ignored folder: git ignores all that is in it."""
    return (IgnoreRules(["*"], folder),)


def _known(root: str) -> frozenset[str]:
    """The tracked code and configurations of a repository, and the folders with some, which end with a slash."""
    index = _index(root)
    tracked: set[str] = set()
    for path in tracked_paths(index) if index else ():
        folders = path.split("/")[:-1]
        if _GENERATED.isdisjoint(folders) and not _TAKEN.isdisjoint(possible_kinds(path)):
            tracked.add(path)
            while folders and (folder := "/".join(folders) + "/") not in tracked:
                tracked.add(folder)
                folders.pop()
    return frozenset(tracked)


def _index(root: str) -> str:
    """The index of the repository at `root`; empty if its place is not certain. A file ``.git`` may name any folder: it
    must be that of this work tree, or of a submodule in the repository around."""
    mark = os.path.join(root, ".git")
    if os.path.isdir(mark):
        return os.path.join(mark, "index") if below(os.path.join(mark, "index"), root) else ""
    head = read_head(mark, _HEAD)
    if not head.startswith(_MARK):
        return ""
    place = os.path.join(root, os.fsdecode(head.removeprefix(_MARK).partition(b"\n")[0]))
    back = os.fsdecode(read_head(os.path.join(place, "gitdir"), _HEAD).partition(b"\n")[0])
    if back and _same(os.path.join(place, back), mark):
        return os.path.join(place, "index")
    return os.path.join(place, "index") if _around(place, root) else ""


def _same(path: str, other: str) -> bool:
    try:
        return os.path.samefile(path, other)
    except (OSError, ValueError):
        return False


def _around(place: str, root: str) -> bool:
    """Whether a folder is below the folder ``.git`` of a repository around `root`."""
    parent = os.path.dirname(root)
    while parent != os.path.dirname(parent):
        if os.path.isdir(os.path.join(parent, ".git", "modules")):
            return below(place, os.path.join(parent, ".git", "modules"))
        parent = os.path.dirname(parent)
    return False
