"""New files below a folder: nothing is overwritten, and no link leads out of it."""

from __future__ import annotations

import errno
import os
from contextlib import ExitStack


def create(folder: str, path: str, text: str) -> None:
    """Write the file `path` (with slashes) below `folder`, and the folders that it needs. Raises `FileExistsError` when
    there is anything of that name, and `OSError` when it cannot be written; then nothing is left behind."""
    place = os.path.join(folder, *path.split("/"))
    parent = os.path.dirname(place)
    if os.path.lexists(place):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), place)
    if not _inside(parent, folder):
        raise OSError(errno.ELOOP, f"{os.path.dirname(path)} -> {os.path.realpath(parent)}", place)
    os.makedirs(parent, exist_ok=True)
    handle = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), 0o666)
    with ExitStack() as undo:
        undo.callback(os.unlink, place)
        with open(handle, "w", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
        undo.pop_all()


def _inside(place: str, folder: str) -> bool:
    """Whether `place` lies in `folder` also after links were followed."""
    root = os.path.realpath(folder)
    return os.path.commonpath([os.path.realpath(place), root]) == root
