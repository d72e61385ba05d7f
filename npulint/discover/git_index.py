"""The paths that git tracks, from the index of a repository: versions 2 to 4 of its documented format.

Nothing is started and no object is read. An index that is split, sparse, too large or damaged is as good as none."""

from __future__ import annotations

import hashlib
import struct

from npulint.discover.safe_open import read_regular

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
