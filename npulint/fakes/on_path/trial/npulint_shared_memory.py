"""Shared memory under ``npulint try``: what a program makes is noted, to be removed after the trial, and what was there
before stays as it is."""

import os

import npulint_programs

_FOLDER = "/dev/shm"
_NOTES, _BEFORE = "shared-memory", "shared-memory-before"  # files in the folder of the trial


class SharedMemory:
    """The shared memory of a trial in the folder `base`."""

    def __init__(self, base):
        self._base = base
        self._before = None

    def is_foreign(self, path):
        """Whether a path, without links, is that of shared memory that was there before the trial."""
        if not path.startswith(_FOLDER + os.sep):
            return False
        if self._before is None:
            self._before = self._names()
        return path[len(_FOLDER) + 1 :].split(os.sep)[0] in self._before

    def note(self, path):
        """Note a path, without links, that is about to be made; the folder of the trial, where it lies there too, is
        removed as a whole."""
        if not path.startswith(_FOLDER + os.sep) or path.startswith(self._base + os.sep) or os.path.lexists(path):
            return
        notes = os.open(os.path.join(self._base, _NOTES), os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(notes, os.fsencode(path) + b"\0")
        finally:
            os.close(notes)

    def _names(self):
        try:
            with open(os.path.join(self._base, _BEFORE), "rb") as file:
                return frozenset(os.fsdecode(name) for name in file.read().split(b"\0") if name)
        except OSError:
            return frozenset()


def install(check):
    """Let `check` see the shared memory that Python opens and removes without reporting it."""
    try:
        import _posixshmem
    except ImportError:
        return  # another system, or Python 3.7
    opened, removed = _posixshmem.shm_open, _posixshmem.shm_unlink

    def shm_open(path, flags, mode=0o777):
        check("open", (_file(path), None, flags))
        return opened(path, flags, mode)

    def shm_unlink(path):
        check("os.remove", (_file(path), -1))
        return removed(path)

    _posixshmem.shm_open = npulint_programs.NoMethod(shm_open)
    _posixshmem.shm_unlink = npulint_programs.NoMethod(shm_unlink)


def _file(name):
    return os.path.join(_FOLDER, os.fsdecode(name).lstrip("/"))
