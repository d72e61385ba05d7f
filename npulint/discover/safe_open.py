"""Opens untrusted paths: only regular files, and never more bytes than a limit."""

from __future__ import annotations

import os
import stat
from typing import BinaryIO

_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


class NotRegularError(OSError):
    """The path is a FIFO, a device, a socket or a folder."""


class TooLargeError(OSError):
    """The file exceeds the limit."""


def read_regular(location: str, limit: int) -> bytes:
    """The content of the regular file at `location`, at most `limit` bytes.

    Raises `NotRegularError`, `TooLargeError` or another `OSError`; never blocks on a FIFO."""
    descriptor = os.open(location, _FLAGS)
    with open(descriptor, "rb", buffering=0) as stream:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise NotRegularError(location)
        if status.st_size > limit:
            raise TooLargeError(location)
        data = stream.readall() or b""  # None where a kernel file would block
    if len(data) > limit:  # it grew, or the file system does not report sizes
        raise TooLargeError(location)
    return data


def open_regular(location: str) -> BinaryIO:
    """Open the regular file at `location` without a buffer. Raises `NotRegularError` or another `OSError`."""
    stream = open(os.open(location, _FLAGS), "rb", buffering=0)  # noqa: SIM115  the caller closes it
    if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
        stream.close()
        raise NotRegularError(location)
    return stream


def is_regular(location: str) -> bool:
    """Whether the path is a regular file."""
    try:
        return stat.S_ISREG(os.stat(location).st_mode)
    except (OSError, ValueError):
        return False


def read_head(location: str, count: int) -> bytes:
    """The first `count` bytes of a regular file; empty if it cannot be read."""
    try:
        descriptor = os.open(location, _FLAGS)
        with open(descriptor, "rb", buffering=0) as stream:
            return (stream.read(count) or b"") if stat.S_ISREG(os.fstat(descriptor).st_mode) else b""
    except OSError:
        return b""
