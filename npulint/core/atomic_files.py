"""Writes a file next to its place and moves it there in one step; removes what killed runs left behind.

A temporary file is locked while it is used. One that nobody has locked belongs to a run that was killed.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from types import TracebackType

if sys.platform != "win32":
    import fcntl

from npulint.core.digest import blake2b
from npulint.core.lazy_regex import lazy_compile

_OPEN = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)
_BY_DESCRIPTOR = os.open in os.supports_dir_fd and hasattr(os, "O_DIRECTORY")
_ENDINGS = (".npulint", ".npulint-old")
_TEMPORARY = lazy_compile(r"\.(.{1,40})\.[0-9a-f]{16}\.npulint", re.DOTALL)
_COPY = lazy_compile(r"\.(.{1,40})\.[0-9a-f]{16}\.([0-9a-f]{16})\.npulint-old", re.DOTALL)
_STEM = 40  # characters of a file name that the names of its temporary files contain
_TRIES = 8
_OLD = 3600.0  # seconds after which a temporary file is left over where files cannot be locked


def is_temporary(name: str) -> bool:
    """Whether a file name (no folder) is that of a temporary file of npulint."""
    return name.endswith(_ENDINGS) and bool(_TEMPORARY.fullmatch(name) or _COPY.fullmatch(name))


class Folder:
    """An open folder: what is done in it stays in it, even if its path leads somewhere else meanwhile (where the system
    supports that). Names are never followed as links. Raises `OSError`."""

    def __init__(self, path: str) -> None:
        self.path = path or "."
        self._descriptor: int | None = None
        if _BY_DESCRIPTOR:
            self._descriptor = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | getattr(os, "O_CLOEXEC", 0))

    def __enter__(self) -> Folder:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)

    def is_at(self, path: str) -> bool:
        """Whether this is the folder at a path."""
        opened = os.stat(self.path if self._descriptor is None else self._descriptor)
        return os.path.samestat(opened, os.stat(path))

    def names(self) -> list[str]:
        """The names in the folder."""
        return os.listdir(self.path if self._descriptor is None else self._descriptor)

    def open(self, name: str, flags: int, mode: int = 0o600) -> int:
        """The descriptor of a file."""
        return os.open(self._at(name), flags | _OPEN, mode, dir_fd=self._descriptor)

    def status(self, name: str) -> os.stat_result:
        """The status of a file, or of the link itself."""
        return os.stat(self._at(name), dir_fd=self._descriptor, follow_symlinks=False)

    def writable(self, name: str) -> bool:
        """Whether this process may write an existing file."""
        return os.access(self._at(name), os.W_OK, dir_fd=self._descriptor)

    def read(self, name: str, limit: int) -> tuple[bytes, os.stat_result]:
        """The content of a regular file, at most `limit` bytes and one, and its status."""
        with open(self.open(name, _READ), "rb", buffering=0) as stream:
            status = os.fstat(stream.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise OSError(errno.EINVAL, os.strerror(errno.EINVAL), name)
            pieces, room = [], limit + 1
            while room and (piece := stream.read(min(room, 1 << 20))):
                pieces.append(piece)
                room -= len(piece)
        return b"".join(pieces), status

    def replace(self, old: str, new: str) -> None:
        """Move a file to another name, whose file it replaces."""
        os.replace(self._at(old), self._at(new), src_dir_fd=self._descriptor, dst_dir_fd=self._descriptor)

    def create(self, made: str, name: str) -> None:
        """Give a temporary file a new name. Raises `FileExistsError`; never overwrites a file created meanwhile."""
        try:
            os.link(self._at(made), self._at(name), src_dir_fd=self._descriptor, dst_dir_fd=self._descriptor)
        except FileExistsError:
            raise
        except OSError:  # no hard links on this file system
            with contextlib.suppress(FileNotFoundError):
                self.status(name)
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), name) from None
            self.replace(made, name)
        self.sync()

    def remove(self, name: str) -> None:
        """Remove a name."""
        os.unlink(self._at(name), dir_fd=self._descriptor)

    def sync(self) -> None:
        """Sync the names to disk, where supported."""
        if self._descriptor is not None:
            with contextlib.suppress(OSError):
                os.fsync(self._descriptor)

    def _at(self, name: str) -> str:
        return name if self._descriptor is not None else os.path.join(self.path, name)


@contextlib.contextmanager
def temporary(
    folder: Folder,
    name: str,
    data: bytes | Iterable[bytes],
    mode: int = 0o600,
    prepare: Callable[[int], None] | None = None,
) -> Iterator[str]:
    """The name of a synced temporary file with these bytes (all or in parts), for the file `name`; gone at the end,
    unless it was moved. `prepare` is called with its descriptor, to set the mode and owner."""
    made, descriptor = _locked(folder, name, mode)
    with contextlib.ExitStack() as close:
        close.callback(_close, descriptor)
        try:
            for part in [data] if isinstance(data, bytes) else data:
                put(descriptor, part)
            if prepare is not None:
                prepare(descriptor)
            os.fsync(descriptor)
            if sys.platform == "win32":  # an open file cannot be moved
                close.pop_all().close()
            yield made
        finally:
            with contextlib.suppress(OSError):
                folder.remove(made)


def put(descriptor: int, data: bytes) -> None:
    """Write all bytes."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def name_of_copy(name: str, after: bytes) -> str:
    """The name of the copy of a file `name` while `after` is written over it; see `sweep`."""
    return f".{name[:_STEM]}.{os.urandom(8).hex()}.{_digest(after)}.npulint-old"


def sweep(path: str) -> list[tuple[str, str]]:
    """Remove the temporary files that killed runs left in a folder. A copy of a file that is overwritten in place stays
    while that file has neither its old nor its new content: returns the names of such files and copies. Never
    raises."""
    left: list[tuple[str, str]] = []
    with contextlib.suppress(OSError), Folder(path) as folder:
        names = folder.names()
        for name in filter(is_temporary, names):
            with contextlib.suppress(OSError), _unused(folder, name) as unused:
                copied = _COPY.fullmatch(name)
                if unused and copied is not None and _is_needed(folder, name, names, copied[1], copied[2]):
                    left.append((_copied(names, copied[1])[0], name))
                elif unused:
                    folder.remove(name)
    return left


def _locked(folder: Folder, name: str, mode: int) -> tuple[str, int]:
    """The name and descriptor of a new, locked temporary file."""
    for _ in range(_TRIES):
        made = f".{name[:_STEM]}.{os.urandom(8).hex()}.npulint"
        descriptor = folder.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        locked = _lock(descriptor)
        with contextlib.suppress(FileNotFoundError):
            if locked is not False and os.path.samestat(os.fstat(descriptor), folder.status(made)):
                return made, descriptor
        os.close(descriptor)  # another run has just taken it for a left-over one
    raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN), name)


def _lock(descriptor: int) -> bool | None:
    """Whether a file is locked now by this process alone; None where files cannot be locked."""
    if sys.platform != "win32":
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            return False
        except OSError:
            return None
    return None


@contextlib.contextmanager
def _unused(folder: Folder, name: str) -> Iterator[bool]:
    """Whether a name is a regular file of this user that no run uses; locked until the end, where that is possible."""
    status = folder.status(name)
    if not stat.S_ISREG(status.st_mode) or not _is_own(status):
        yield False
        return
    old = time.time() - status.st_mtime > _OLD
    if sys.platform == "win32":  # an open file cannot be removed
        yield old
        return
    try:
        descriptor = folder.open(name, os.O_RDWR | os.O_NONBLOCK)
    except PermissionError:
        descriptor = folder.open(name, _READ)
    try:
        locked = _lock(descriptor)
        yield (old if locked is None else locked) and os.path.samestat(os.fstat(descriptor), folder.status(name))
    finally:
        os.close(descriptor)


def _is_own(status: os.stat_result) -> bool:
    """Whether this user made a file; root gives temporary files to the owners of the files that they replace."""
    return not hasattr(os, "geteuid") or os.geteuid() in (0, status.st_uid)


def _is_needed(folder: Folder, copy: str, names: list[str], stem: str, digest: str) -> bool:
    """Whether a copy may hold the only whole content of its file."""
    candidates = _copied(names, stem)
    if len(candidates) != 1:
        return bool(candidates)
    size = max(folder.status(candidates[0]).st_size, folder.status(copy).st_size)
    data, _ = folder.read(candidates[0], size)
    return _digest(data) != digest and data != folder.read(copy, size)[0]


def _copied(names: list[str], stem: str) -> list[str]:
    """The names whose copies have this stem."""
    return sorted(name for name in names if name[:_STEM] == stem and not is_temporary(name))


def _digest(data: bytes) -> str:
    return blake2b(data, digest_size=8).hexdigest()


def _close(descriptor: int) -> None:
    with contextlib.suppress(OSError):
        os.close(descriptor)
