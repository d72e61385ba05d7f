"""Writes a file whole or not at all: when writing fails, an old file stays as it was, and no new one is left."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterable
from functools import partial

from npulint.core.atomic_files import Folder, put, sweep, temporary

_IN_PLACE = (errno.EACCES, errno.EPERM, errno.EROFS, errno.EBUSY)
"""Errors of files that can be written, but not replaced: they are mounted, or their folder is protected."""


def write_whole(path: str, parts: Iterable[bytes]) -> None:
    """Write a file in one step; a symbolic link leads to the file that is written. Devices and pipes get the parts as
    they come. Raises `OSError`, and what `parts` raises."""
    folder, name = os.path.split(os.path.realpath(path))
    try:
        status = os.stat(path)
    except FileNotFoundError:
        status = None
    if status is not None and not stat.S_ISREG(status.st_mode):
        with open(path, "wb") as stream:
            stream.writelines(parts)
        return
    sweep(folder)
    with Folder(folder) as opened:
        if status is not None and not opened.writable(name):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        if status is not None and status.st_nlink > 1:
            _in_place(opened, name, b"".join(parts))
        else:
            _replaced(opened, name, status, parts)


def _replaced(folder: Folder, name: str, status: os.stat_result | None, parts: Iterable[bytes]) -> None:
    """Write the parts next to the file, and move them to its place."""
    prepare = None if status is None else partial(liken, folder, name, status)
    try:
        with temporary(folder, name, parts, 0o666, prepare) as made:
            try:
                folder.replace(made, name)
            except OSError as error:
                if status is None or error.errno not in _IN_PLACE:
                    raise
                _in_place(folder, name, folder.read(made, folder.status(made).st_size)[0])
            folder.sync()
    except PermissionError:  # of the folder: nothing has been written
        if status is None:
            raise
        _in_place(folder, name, b"".join(parts))


def _in_place(folder: Folder, name: str, data: bytes) -> None:
    """Overwrite a file; its old content comes back if that fails."""
    before, _ = folder.read(name, folder.status(name).st_size)
    try:
        overwrite(folder, name, data)
    except BaseException:
        overwrite(folder, name, before)
        raise


def overwrite(folder: Folder, name: str, data: bytes) -> None:
    """Write over an existing file, which is cut at the end only, so that its blocks stay its own. Raises `OSError`."""
    descriptor = folder.open(name, os.O_RDWR)
    try:
        put(descriptor, data)
        os.ftruncate(descriptor, len(data))
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def liken(folder: Folder, name: str, status: os.stat_result, descriptor: int) -> None:
    """Give an open file owner, group and attributes of the file `name` as far as permitted, then the mode, which
    changing the owner may reset."""
    if hasattr(os, "fchown"):
        for owner, group in ((-1, status.st_gid), (status.st_uid, -1)):
            with contextlib.suppress(OSError):
                os.fchown(descriptor, owner, group)
    if hasattr(os, "listxattr"):
        with contextlib.suppress(OSError):
            _copy_attributes(folder, name, descriptor)
    if hasattr(os, "fchmod"):
        os.fchmod(descriptor, stat.S_IMODE(status.st_mode))


def _copy_attributes(folder: Folder, name: str, descriptor: int) -> None:
    source = folder.open(name, os.O_RDONLY)
    try:
        for attribute in os.listxattr(source):
            with contextlib.suppress(OSError):
                os.setxattr(descriptor, attribute, os.getxattr(source, attribute))
    finally:
        os.close(source)
