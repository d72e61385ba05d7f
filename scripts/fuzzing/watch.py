"""Notices what a process does beside reading: it may write to one folder, and starts and connects nothing."""

from __future__ import annotations

import os
import sys
import traceback

_allowed: tuple[str, ...] = ()
_found: list[str] = []

_PATHS = {
    **dict.fromkeys(("os.mkdir", "os.remove", "os.rmdir", "os.truncate", "os.chmod", "os.chown", "os.utime"), 1),
    **dict.fromkeys(("os.rename", "os.link", "os.symlink"), 2),
}
_NEVER = frozenset(
    (
        *("socket.connect", "socket.bind", "socket.getaddrinfo", "socket.sendto", "urllib.Request", "webbrowser.open"),
        *("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "pickle.find_class"),
    )
)
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


def begin(*folders: str) -> None:
    """Watch this process from now on; only below these folders files may be written."""
    global _allowed
    _allowed = tuple(os.path.join(os.path.realpath(folder), "") for folder in folders)
    sys.addaudithook(_heard)


def forget() -> None:
    """Forget what was noticed."""
    _found.clear()


def violations() -> list[str]:
    """What was done although it must not be, each with where."""
    return list(_found)


def _heard(event: str, args: tuple[object, ...]) -> None:
    if event == "open":
        path, _, flags = args
        if isinstance(flags, int) and flags & _WRITING:
            _check(event, path)
    elif event in _PATHS:
        for path in args[: _PATHS[event]]:
            _check(event, path)
    elif event in _NEVER:
        _note(event, args)


def _check(event: str, path: object) -> None:
    if isinstance(path, int) or not isinstance(path, str | bytes | os.PathLike):  # a descriptor that is open already
        return
    place = os.path.realpath(os.fsdecode(path))
    if place != os.devnull and not place.startswith(_allowed):
        _note(event, (place,))


def _note(event: str, args: tuple[object, ...]) -> None:
    where = "".join(traceback.format_stack(limit=12)[:-2])
    _found.append(f"{event} {args!r:.200}\n{where}")
