"""Shared memory that a trial leaves: the files in ``/dev/shm`` that its processes made, and nobody else's."""

from __future__ import annotations

import ctypes
import os
import shutil
from collections.abc import Callable, Iterable

FOLDER = "/dev/shm"
RECORD = "shared-memory"
"""The file in the folder of a trial to which the guards append the paths that Python makes there, each with a zero
byte."""
BEFORE = "shared-memory-before"
"""The file there with the names of what was there before, each with a zero byte: the guards let it be."""
_MADE = 0x100  # inotify: a name was made in a folder
_PROCESSES = "/proc"


class SharedMemory:
    """The shared memory of this machine, as of now: what appears later belongs to the trial in the folder `base` if one
    of its processes has opened or mapped it (semaphores are mapped only), or if the guards saw Python make it."""

    def __init__(self, base: str) -> None:
        self._base = base
        self._before = _entries()
        self._files: set[tuple[str, int]] = set()
        with open(os.path.join(base, BEFORE), "wb") as file:
            file.writelines(os.fsencode(name) + b"\0" for name, _ in self._before)

    def look(self, processes: Callable[[], Iterable[int]]) -> None:
        """Tell which new files these processes, those of the trial, use; asked for only if there are new files."""
        fresh = _entries() - self._files - self._before
        if fresh:
            used = _used_by(processes())
            self._files.update(entry for entry in fresh if entry[1] in used)

    def remove(self) -> None:
        """Remove what belongs to the trial, whose processes have ended; what another process uses stays."""
        paths = {os.path.join(FOLDER, name): inode for name, inode in self._files}
        paths = {path: inode for path, inode in paths.items() if _inode(path) == inode}
        paths |= {path: inode for path in _recorded(self._base) if (inode := _inode(path))}
        if not paths:
            return
        used = _used_by(map(int, filter(str.isdigit, os.listdir(_PROCESSES))))
        for path, inode in paths.items():
            if inode not in used:
                _remove(path)


def changes() -> int | None:
    """An open file that can be read from when a file is made there; nothing where the system has none."""
    try:
        library = ctypes.CDLL(None)
        handle = int(library.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC))
        if handle < 0 or library.inotify_add_watch(handle, FOLDER.encode(), _MADE) < 0:
            return None
    except (AttributeError, OSError):
        return None
    return handle


def _entries() -> set[tuple[str, int]]:
    """The names in the folder, with the numbers by which a file is told from a later one of its name."""
    try:
        with os.scandir(FOLDER) as listed:
            return {(entry.name, entry.inode()) for entry in listed}
    except OSError:
        return set()


def _inode(path: str) -> int:
    try:
        return os.lstat(path).st_ino
    except OSError:
        return 0


def _recorded(base: str) -> list[str]:
    try:
        with open(os.path.join(base, RECORD), "rb") as file:
            paths = [os.path.normpath(os.fsdecode(path)) for path in file.read().split(b"\0") if path]
    except OSError:
        return []
    return [path for path in paths if path.startswith(FOLDER + os.sep)]


def _used_by(processes: Iterable[int]) -> set[int]:
    """The numbers of the files below the folder that processes have opened or mapped."""
    try:
        device = os.stat(FOLDER).st_dev
    except OSError:
        return set()
    return {inode for process in processes for inode in (*_opened(process, device), *_mapped(process))}


def _opened(process: int, device: int) -> Iterable[int]:
    folder = f"{_PROCESSES}/{process}/fd"
    try:
        names = os.listdir(folder)
    except OSError:
        return
    for name in names:
        try:
            status = os.stat(os.path.join(folder, name))
        except OSError:
            continue
        if status.st_dev == device:
            yield status.st_ino


def _mapped(process: int) -> Iterable[int]:
    try:
        with open(f"{_PROCESSES}/{process}/maps", "rb") as file:
            for line in file:
                fields = line.split(maxsplit=5)
                if len(fields) == 6 and fields[5].startswith(FOLDER.encode() + b"/"):
                    yield int(fields[4])
    except OSError:
        return


def _remove(path: str) -> None:
    try:
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path, ignore_errors=True)
        else:
            os.remove(path)
    except OSError:
        return
