"""Reads untrusted archives: checks the declared sizes of members, and never reads beyond them."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Callable
from itertools import pairwise

from npulint.discover.archives import LargeArchiveError, open_archive
from npulint.discover.safe_open import read_head
from npulint.graphs.read.errors import GraphError

MEMBER = 64 * 1024 * 1024
"""Maximum bytes of one member."""

TOTAL = 128 * 1024 * 1024
"""Maximum bytes of all members."""

ZIP = b"PK\x03\x04"
"""The signature of an archive."""

_PICKLE = b"\x80\x02"
_ENCRYPTED = 0x1
_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OverflowError)


class Archive:
    """An open archive; raises `GraphError` for malformed ones, and `OSError`."""

    def __init__(self, location: str) -> None:
        try:
            self._zip = open_archive(location)
        except LargeArchiveError:
            raise GraphError("graph-too-large", "directory of the archive") from None
        except (*_BROKEN, ValueError) as error:
            raise GraphError("graph-damaged", f"archive: {error}") from None
        self._left = TOTAL

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, *_: object) -> None:
        self._zip.close()

    def names(self) -> list[str]:
        """The names of all members."""
        return [info.filename for info in self._zip.infolist()]

    def chosen(self, matches: Callable[[str], bool]) -> list[zipfile.ZipInfo]:
        """The members whose names satisfy `matches`, sorted by name; duplicates are an error."""
        members = sorted(
            (member for member in self._zip.infolist() if matches(member.filename)), key=lambda member: member.filename
        )
        for member, following in pairwise(members):
            if member.filename == following.filename:
                raise GraphError("graph-damaged", f"two members named {shown(member.filename)}")
        return members

    def read(self, member: zipfile.ZipInfo) -> bytes:
        """The contents of a member."""
        name = shown(member.filename)
        if member.filename.startswith(("/", "\\")) or ".." in member.filename.replace("\\", "/").split("/"):
            raise GraphError("graph-damaged", f"{name}: its name leads out of the archive")
        if member.flag_bits & _ENCRYPTED:
            raise GraphError("graph-damaged", f"{name}: encrypted")
        if member.file_size > min(MEMBER, self._left):
            raise GraphError("graph-too-large", f"{name}: {member.file_size} bytes")
        self._left -= member.file_size
        try:
            with self._zip.open(member) as stream:
                data = stream.read(member.file_size + 1)
        except (*_BROKEN, ValueError) as error:
            raise GraphError("graph-damaged", f"{name}: {error}") from None
        if len(data) != member.file_size:
            raise GraphError("graph-damaged", f"{name}: {len(data)} bytes of {member.file_size}")
        return data


def shown(name: str) -> str:
    """The name of a member for display."""
    return ascii(name[:200])[1:-1]


def reason_of(location: str) -> str:
    """Why a PyTorch file holds no graph, as a reason of `GraphError`: graph-pickled (weights, or a whole model),
    graph-compiled (a package of AOTInductor), else not-a-graph. Raises `GraphError` for a damaged archive."""
    head = read_head(location, 4)
    if head[:2] == _PICKLE:
        return "graph-pickled"
    if head != ZIP:
        return "not-a-graph"
    with Archive(location) as archive:
        names = archive.names()
    if any(name.endswith((".so", ".cubin", ".wrapper.cpp")) or "/aotinductor/" in name for name in names):
        return "graph-compiled"
    return "graph-pickled" if any(name.endswith(".pkl") for name in names) else "not-a-graph"
