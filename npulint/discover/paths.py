"""Paths in the spelling of results."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from functools import cached_property

from npulint.core.links import holds_home, repository
from npulint.discover.projects import ProjectRoots, marked_root


def shown(location: str) -> str:
    """A path as results spell it: POSIX slashes, bytes that are not UTF-8 as ``\\xNN``."""
    path = location if os.sep == "/" else location.replace(os.sep, "/")
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        return os.fsencode(path).decode("utf-8", "backslashreplace")
    return path


def local(path: str) -> str:
    """`path` relative to the working directory if it is below it, else only normalised."""
    here = os.getcwd()
    absolute = os.path.abspath(path)
    if absolute == here:
        return "."
    prefix = here.rstrip(os.sep) + os.sep
    return absolute[len(prefix) :] if absolute.startswith(prefix) else os.path.normpath(path)


# The folders that a run may read files in: symbolic links are followed inside them only.


class Boundary:
    """The paths that the user named, and around each of them the project (not above the working directory) and the git
    repository, unless these contain the home folder. Costs nothing until it is asked."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._paths = tuple(paths)

    def holds(self, location: str) -> bool:
        """Whether the file at `location`, after all links are resolved, is named or inside one of the folders."""
        try:
            place = os.path.realpath(location)
        except (OSError, ValueError):
            return False
        while place not in self._folders:
            parent = os.path.dirname(place)
            if parent == place:
                return False
            place = parent
        return True

    @cached_property
    def _folders(self) -> frozenset[str]:
        roots, folders = ProjectRoots(), set[str]()
        real_folders = set[str]()
        for path in map(local, self._paths):
            if "\0" in path:
                continue
            real_folders.add(os.path.realpath(path))
            folders.add(path if os.path.isdir(path) else os.path.dirname(path) or ".")
        for folder in folders:
            real_folders |= {os.path.realpath(folder), *_around(folder, roots)}
        return frozenset(real_folders)


def _around(folder: str, roots: ProjectRoots) -> Iterator[str]:
    """The project and the repository of a folder, links resolved."""
    project = marked_root(folder.replace(os.sep, "/"), roots)
    if project is not None and not holds_home(project):
        yield os.path.realpath(project)
    around = repository(folder)
    if around:
        yield around
