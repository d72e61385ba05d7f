"""A stand-in for the home folder: programs read what is in the real one, and their caches may write."""

from __future__ import annotations

import os
import shutil

_CACHES = (".cache", ".config")
"""Folders in whose folders programs keep what they may write again."""
_DEPTH = 5  # levels of folders below these that are folders of the stand-in; deeper ones are links
_SMALL = 64 << 10  # bytes of a file that is copied, such as one for locking; larger ones are linked
_MOST = 10_000  # entries


def stand_in(home: str, target: str) -> None:
    """Make `target` a stand-in for `home`: links, but for the folders of caches, which can be written."""
    count = [0]
    for name in _CACHES:
        os.makedirs(os.path.join(target, name))
        _open(os.path.join(home, name), os.path.join(target, name), _DEPTH, count)
    for entry in _entries(home):
        if entry.name not in _CACHES:
            _link(entry.path, os.path.join(target, entry.name))


def _open(source: str, target: str, depth: int, count: list[int]) -> None:
    """Make a folder with folders of its own down to a depth, small files as copies and the rest as links."""
    for entry in _entries(source):
        place = os.path.join(target, entry.name)
        count[0] += 1
        try:
            if count[0] > _MOST or entry.is_symlink():
                _link(entry.path, place)
            elif entry.is_dir():
                if depth:
                    os.makedirs(place)
                    _open(entry.path, place, depth - 1, count)
                else:
                    _link(entry.path, place)
            elif entry.is_file():
                if entry.stat().st_size <= _SMALL:
                    shutil.copy2(entry.path, place)
                else:
                    _link(entry.path, place)
        except OSError:
            continue  # what cannot be read the program cannot read either


def _link(path: str, place: str) -> None:
    os.symlink(os.path.realpath(path), place)


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as listed:
            return sorted(listed, key=lambda one: one.name)
    except OSError:
        return []
