"""Writes changed files so that each is the old one or the new one at any moment, whatever happens."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat

from npulint.discover.safe_open import read_regular
from npulint.fix.model import FileChange
from npulint.texts import say

_EXCLUSIVE = os.O_WRONLY | os.O_CREAT | os.O_EXCL
_FLAGS = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
_LIMIT = 40_000_000  # bytes; files of twice that size are never judged


class UnwrittenError(OSError):
    """A file that is left as it is. `reason` is a key of the texts below ``fix.refused.``: ``changed-meanwhile`` (it is
    no longer what was judged) or ``link`` (it leads out of the project)."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def why(error: OSError, lang: str) -> str:
    """Why a file could not be written, for people."""
    if isinstance(error, UnwrittenError):
        return say(lang, f"fix.refused.{error.reason}")
    return error.strerror or str(error)


def write(change: FileChange) -> None:
    """Write one file, if it is still what was judged or not there yet. Raises `OSError`; then the file is as it was."""
    location = change.location or change.path
    place = os.path.realpath(location)
    outside = change.root and not _below(os.path.realpath(change.root), place)
    if outside and (change.new or os.path.islink(location)):
        raise UnwrittenError("link")
    if change.new:
        _create(change, location)
        return
    status = _unchanged(change, place)
    if status is None:
        return
    if not os.access(place, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), change.path)
    if status.st_nlink > 1:
        _in_place(change, place, status)
    else:
        _replace(change, place, status)


def _below(root: str, place: str) -> bool:
    return place.startswith(os.path.join(root, ""))


def _unchanged(change: FileChange, place: str) -> os.stat_result | None:
    """What the system says of a file that is still what was judged; None when it is already what it is to be."""
    try:
        status = os.stat(place)
        data = read_regular(place, _LIMIT)
    except FileNotFoundError as error:
        raise UnwrittenError("changed-meanwhile") from error
    if data == change.after:
        return None
    if data != change.before:
        raise UnwrittenError("changed-meanwhile")
    return status


def _replace(change: FileChange, place: str, status: os.stat_result) -> None:
    """Put a complete file in the place of the old one."""
    temporary = _temporary(place, change.after, 0o600, status)
    try:
        if _identity(os.stat(place)) != _identity(status):
            raise UnwrittenError("changed-meanwhile")
        os.replace(temporary, place)
    finally:
        _remove(temporary)
    _settle_folder(place)


def _create(change: FileChange, place: str) -> None:
    """A file that is new: never over one that came meanwhile."""
    temporary = _temporary(place, change.after, 0o666, None)
    try:
        try:
            os.link(temporary, place)
        except FileExistsError as error:
            if read_regular(place, _LIMIT) != change.after:
                raise UnwrittenError("changed-meanwhile") from error
        except OSError:  # a file system without hard links
            if os.path.lexists(place):
                raise UnwrittenError("changed-meanwhile") from None
            os.replace(temporary, place)
    finally:
        _remove(temporary)
    _settle_folder(place)


def _in_place(change: FileChange, place: str, status: os.stat_result) -> None:
    """Other names lead to the same file, so its bytes change where they are. Until then a copy lies beside it."""
    copy = _temporary(place, change.before, 0o600, status)
    _settle_folder(place)
    with contextlib.ExitStack() as undo:
        undo.callback(_restore, place, change.before, copy)
        _overwrite(place, change.after)
        undo.pop_all()
    _remove(copy)


def _restore(place: str, data: bytes, copy: str) -> None:
    """Put the old bytes back; the copy of them goes only when that succeeded."""
    _overwrite(place, data)
    _remove(copy)


def _overwrite(place: str, data: bytes) -> None:
    descriptor = os.open(place, os.O_RDWR | _FLAGS)
    try:
        _put(descriptor, data)
        os.ftruncate(descriptor, len(data))
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _temporary(place: str, data: bytes, mode: int, like: os.stat_result | None) -> str:
    """A file with these bytes beside `place`, safely on the disk, with the owner, mode and attributes of that one if it
    is to be `like` it."""
    folder, name = os.path.split(place)
    path = os.path.join(folder, f".{name[:40]}.{secrets.token_hex(8)}.npulint")
    descriptor = os.open(path, _EXCLUSIVE | _FLAGS, mode)
    with contextlib.ExitStack() as undo:
        undo.callback(_remove, path)
        try:
            _put(descriptor, data)
            if like is not None:
                _liken(descriptor, place, like)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        undo.pop_all()
    return path


def _put(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def _liken(descriptor: int, place: str, status: os.stat_result) -> None:
    """Owner, group and attributes as far as one may, then the mode, which a change of the owner may have narrowed."""
    if hasattr(os, "fchown"):
        for owner, group in ((-1, status.st_gid), (status.st_uid, -1)):
            with contextlib.suppress(OSError):
                os.fchown(descriptor, owner, group)
    if hasattr(os, "listxattr"):
        with contextlib.suppress(OSError):
            for name in os.listxattr(place):
                with contextlib.suppress(OSError):
                    os.setxattr(descriptor, name, os.getxattr(place, name))
    if hasattr(os, "fchmod"):
        os.fchmod(descriptor, stat.S_IMODE(status.st_mode))


def _identity(status: os.stat_result) -> tuple[int, ...]:
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def _remove(path: str) -> None:
    with contextlib.suppress(OSError):
        os.unlink(path)


def _settle_folder(place: str) -> None:
    """Let the folder of a file reach the disk, where folders can be opened."""
    with contextlib.suppress(OSError):
        descriptor = os.open(os.path.dirname(place) or ".", os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
