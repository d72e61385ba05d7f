"""Creates files below a folder without overwriting anything or following links out of it."""

from __future__ import annotations

import errno
import os
from contextlib import ExitStack

from npulint.links import below


def create(folder: str, path: str, text: str) -> None:
    """Write the new file `path` (with slashes) below `folder`, with its parent folders. Raises `FileExistsError` when
    the name exists, `OSError` when writing fails; then nothing is left behind."""
    place = os.path.join(folder, *path.split("/"))
    parent = os.path.dirname(place)
    if os.path.lexists(place):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), place)
    if not below(parent, folder):
        raise OSError(errno.ELOOP, f"{os.path.dirname(path)} -> {os.path.realpath(parent)}", place)
    os.makedirs(parent, exist_ok=True)
    handle = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), 0o666)
    with ExitStack() as undo:
        undo.callback(os.unlink, place)
        with open(handle, "w", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
        undo.pop_all()
