"""Where symbolic links lead. Whoever writes a repository decides what its links point at, so a link is no reason to
read a file outside of it; only the user may name such a file."""

from __future__ import annotations

import os


def below(location: str, folder: str) -> bool:
    """Whether `location` is `folder` or lies below it, after all links are resolved."""
    place, top = _real(location), _real(folder)
    return bool(place and top) and (place == top or place.startswith(os.path.join(top, "")))


def leads_out(location: str, folder: str) -> bool:
    """Whether `location` is a symbolic link that leads out of `folder` and of the git repository around it."""
    if not os.path.islink(location) or below(location, folder):
        return False
    around = repository(folder)
    return not around or not below(location, around)


def repository(folder: str) -> str:
    """The folder of the git repository that `folder` is in, links resolved; empty if it is in none. A repository in the
    home folder or above it does not count: it would contain everything that the user has."""
    place = _real(folder)
    while place and not os.path.lexists(os.path.join(place, ".git")):
        parent = os.path.dirname(place)
        place = parent if parent != place else ""
    return "" if not place or holds_home(place) else place


def holds_home(folder: str) -> bool:
    """Whether a folder is the home folder of the user or lies above it."""
    return below(os.path.expanduser("~"), folder)


def _real(path: str) -> str:
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):  # a NUL byte
        return ""
