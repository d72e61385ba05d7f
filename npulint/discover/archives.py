"""Opens untrusted zip archives: checks the size of the central directory before reading it."""

from __future__ import annotations

import struct
import zipfile

from npulint.discover.safe_open import open_regular

DIRECTORY = 16 * 1024 * 1024
"""Maximum bytes of the central directory, enough for some hundred thousand members."""

_END = b"PK\x05\x06"
_END64 = b"PK\x06\x06"
_LOCATOR64 = b"PK\x06\x07"
_TAIL = 22 + 65_535  # end-of-directory record with the longest comment
_NOT_HERE = 0xFFFF_FFFF


class LargeArchiveError(Exception):
    """The central directory of an archive exceeds the limit."""


def open_archive(location: str) -> zipfile.ZipFile:
    """Open the archive in a regular file. Raises `LargeArchiveError`, OSError, and what `zipfile` raises for damaged
    archives: `zipfile.BadZipFile`, NotImplementedError, ValueError."""
    if directory_size(location) > DIRECTORY:
        raise LargeArchiveError(location)
    return zipfile.ZipFile(location)


def names_of(location: str) -> list[str]:
    """The names of the members of an archive; empty if it is damaged or unreadable."""
    try:
        with open_archive(location) as archive:
            return archive.namelist()
    except (OSError, ValueError, NotImplementedError, zipfile.BadZipFile, LargeArchiveError):
        return []


def directory_size(location: str) -> int:
    """The size of the central directory that an archive declares, in bytes; 0 if there is none."""
    with open_regular(location) as stream:
        length = stream.seek(0, 2)
        begin = max(0, length - _TAIL)
        stream.seek(begin)
        tail = stream.read(_TAIL)
        plain = tail[-22:-18] == _END and tail[-2:] == b"\0\0"  # the same search as in `zipfile`
        at = len(tail) - 22 if plain else tail.rfind(_END)
        if at < 0 or at + 22 > len(tail):
            return 0
        (size,) = struct.unpack_from("<L", tail, at + 12)
        locator = at - 20
        if size != _NOT_HERE and tail[max(0, locator) : max(0, locator) + 4] != _LOCATOR64:
            return int(size)
        if locator < 0:
            return int(size)
        (place,) = struct.unpack_from("<Q", tail, locator + 8)
        if place > length - 56:
            return 0
        stream.seek(place)
        record = stream.read(56)
        if record[:4] != _END64 or len(record) < 56:
            return 0
        return int(struct.unpack_from("<Q", record, 40)[0])
