"""The files of the project that a path belongs to, editor texts included."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterable, Sequence

import msgspec

from npulint.discover.context_files import context_files
from npulint.discover.file_filter import of_text
from npulint.discover.files import DiscoverOptions, discover
from npulint.discover.kinds import SourceFile, kinds_by_content, kinds_of
from npulint.discover.paths import local, shown
from npulint.discover.projects import ProjectRoots, base_of, group
from npulint.facts.model import Problem
from npulint.read.files import ReadableFiles, load
from npulint.read.source import read_bytes


class SessionProject(msgspec.Struct, frozen=True):
    """The files of one project in order, and the problems of discovery. When `alone` is set, it is the path of a file
    outside the workspace, and findings are reported for it only; the `context_only` files are read as its context.
    `rests_on` maps the folders that were listed to their modification times; without any, the project is discovered
    again each time."""

    root: str
    files: list[SourceFile]
    problems: list[Problem]
    rests_on: dict[str, int] = {}
    alone: str = ""
    context_only: frozenset[str] = frozenset()

    def holds(self) -> bool:
        """Whether no file was added to or removed from any of the listed folders."""
        return bool(self.rests_on) and all(_changed(folder) == time for folder, time in self.rests_on.items())


class WorkspaceSources:
    """The files of a workspace. `buffers` are editor texts by absolute path."""

    def __init__(self, paths: Sequence[str], options: DiscoverOptions) -> None:
        self.buffers: dict[str, bytes] = {}
        self._paths = paths
        self._options = options
        self._known: dict[str, SessionProject] = {}

    def configure(self, paths: Sequence[str], options: DiscoverOptions) -> None:
        """Use other workspace folders and discovery options."""
        self._paths, self._options = paths, options
        self.look_again()

    def readable(self, files: Sequence[SourceFile]) -> ReadableFiles:
        """Files of a project, to be loaded as they are now."""
        return ReadableFiles(files, lambda file: load(file, self.buffers.get(os.path.abspath(file.location))))

    def look_again(self) -> None:
        """Discover all projects again next time."""
        self._known.clear()

    def change(self, location: str, data: bytes | None) -> None:
        """See `Session.change`; discovers projects again only if the text may change which files belong to them."""
        before = self.buffers.pop(location, None)
        if data is not None:
            self.buffers[location] = data
        if before is None or data is None or self._classified(location, before) != self._classified(location, data):
            self.look_again()

    def _classified(self, location: str, data: bytes) -> Sequence[object]:
        """How discovery classifies a file with this content when it walks a folder, and when the file is named."""
        kinds = kinds_of(location)
        ways = ((kinds, False), (kinds or kinds_by_content(data[:200]), True))
        return [of_text(location, some, data, self._options.max_bytes, named) for some, named in ways]

    def is_saved(self, file: SourceFile) -> bool:
        """Whether the text of a file in an editor, if it is open there, is that of the file on disk."""
        place = os.path.abspath(file.location)
        if place not in self.buffers:
            return True
        return read_bytes(file.location, file.path, self._options.max_bytes) == self.buffers[place]

    def project(self, path: str) -> SessionProject:
        """The project of the file at `path`: from the workspace, else as a run that names the file finds it."""
        name = shown(local(path))
        session_project = self._known.get(name)
        if session_project is None or not session_project.holds():
            session_project = self._within(name) or self._alone(path, name)
            self._known.update(
                (file.path, session_project)
                for file in session_project.files
                if file.path not in session_project.context_only
            )
            self._known[name] = session_project
        return session_project

    def _within(self, name: str) -> SessionProject | None:
        """The project as a run over the workspace finds it; None when the file is not part of the workspace."""
        place = os.path.abspath(name)
        for top in sorted(map(local, self._paths), key=len):
            if not place.startswith(os.path.join(os.path.abspath(top), "")):
                continue
            base, roots = base_of(top, folder=True), ProjectRoots()
            root = roots.root(posixpath.dirname(name) or ".", base) or base
            discovery = discover(self._paths, self._options, self.buffers, os.path.abspath(root))
            files = group(_of_code(discovery.files)).get(root, [])
            problems = [
                problem
                for problem in discovery.problems
                if (roots.root(posixpath.dirname(problem.path) or ".", base) or base) == root
            ]
            kept = discovery.aliases.get(name, name)
            if any(file.path == kept for file in files) or any(problem.path == name for problem in problems):
                return SessionProject(root, files, problems, discovery.folders)
        return None

    def _alone(self, path: str, name: str) -> SessionProject:
        """The project as a run that names the file finds it."""
        discovery = discover([path], self._options, self.buffers)
        more = context_files(discovery, self._options, self.buffers)
        projects = group(_of_code([*discovery.files, *more]))
        for root, files in projects.items():
            if any(file.path == name for file in files):
                context = frozenset(file.path for file in more)
                return SessionProject(root, files, discovery.problems, alone=name, context_only=context)
        return SessionProject(posixpath.dirname(name) or ".", [], discovery.problems, alone=name)


def _of_code(files: Iterable[SourceFile]) -> list[SourceFile]:
    """Files without graphs and artifacts: nobody edits these, and they take too long to evaluate while typing."""
    return [file for file in files if file.kind not in ("graph", "artifact")]


def _changed(folder: str) -> int:
    """The modification time of a folder in ns: a file was added or removed then; 0 when it does not exist."""
    try:
        return os.stat(folder).st_mtime_ns
    except OSError:
        return 0
