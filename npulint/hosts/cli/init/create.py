"""Creates files below a folder without overwriting anything or following links out of it."""

from __future__ import annotations

import errno
import os

from npulint.core.atomic_files import Folder, sweep, temporary
from npulint.core.links import below


def create(folder: str, path: str, text: str) -> None:
    """Write the new file `path` (with slashes) below `folder`, with its parent folders. Raises `FileExistsError` when
    the name exists, `OSError` when writing fails; then nothing is left behind. What a killed run left is removed."""
    place = os.path.join(folder, *path.split("/"))
    parent, name = os.path.split(place)
    if os.path.lexists(place):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), place)
    data = text.encode("utf-8")
    if not below(parent, folder):
        raise _outside(path, parent)
    os.makedirs(parent, exist_ok=True)
    sweep(parent)
    with Folder(parent) as opened:
        if not below(parent, folder) or not opened.is_at(os.path.realpath(parent)):
            raise _outside(path, parent)
        with temporary(opened, name, data, 0o666) as made:
            opened.create(made, name)


def _outside(path: str, parent: str) -> OSError:
    return OSError(errno.ELOOP, f"{os.path.dirname(path)} -> {os.path.realpath(parent)}", path)
