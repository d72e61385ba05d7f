"""Which files the project of a path has now, texts of an editor included."""

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
from npulint.discover.projects import Roots, base_of, group
from npulint.facts.model import Problem


class SessionProject(msgspec.Struct, frozen=True):
    """The files of one project, in order, and what of it cannot be read. Nothing but `alone` is told of, where that is
    the path of a file that is no part of the workspace, and the `context_only` ones keep it company. `rests_on` are the
    folders that were looked at, with their times; when there are none the project has to be looked for anew."""

    root: str
    files: list[SourceFile]
    problems: list[Problem]
    rests_on: dict[str, int] = {}
    alone: str = ""
    context_only: frozenset[str] = frozenset()

    def holds(self) -> bool:
        """Whether no file came to any of the folders or went from there."""
        return bool(self.rests_on) and all(_changed(folder) == time for folder, time in self.rests_on.items())


class Sources:
    """The files of a workspace. `given` are the texts of an editor by absolute location."""

    def __init__(self, paths: Sequence[str], options: DiscoverOptions) -> None:
        self.given: dict[str, bytes] = {}
        self._paths = paths
        self._options = options
        self._known: dict[str, SessionProject] = {}

    def configure(self, paths: Sequence[str], options: DiscoverOptions) -> None:
        """Look at other folders, or in another way."""
        self._paths, self._options = paths, options
        self.look_again()

    def look_again(self) -> None:
        """Forget which files there are."""
        self._known.clear()

    def change(self, location: str, data: bytes | None) -> None:
        """See `Session.change`; the files that there are stay known where the text cannot change them."""
        before = self.given.pop(location, None)
        if data is not None:
            self.given[location] = data
        if before is None or data is None or self._verdicts(location, before) != self._verdicts(location, data):
            self.look_again()

    def _verdicts(self, location: str, data: bytes) -> Sequence[object]:
        """As what a walk takes the file, and as what one takes it who names it."""
        kinds = kinds_of(os.path.basename(location))
        ways = ((kinds, False), (kinds or kinds_by_content(data[:200]), True))
        return [of_text(location, some, data, self._options.max_bytes, named) for some, named in ways]

    def project(self, path: str) -> SessionProject:
        """The project of the file at `path`: that of the workspace it is in, else what a run finds that names it."""
        name = shown(local(path))
        known = self._known.get(name)
        if known is None or not known.holds():
            known = self._within(name) or self._alone(path, name)
            self._known.update((file.path, known) for file in known.files if file.path not in known.context_only)
            self._known[name] = known
        return known

    def _within(self, name: str) -> SessionProject | None:
        """The project as a run over the workspace finds it, if it does."""
        place = os.path.abspath(name)
        for top in sorted(map(local, self._paths), key=len):
            if not place.startswith(os.path.join(os.path.abspath(top), "")):
                continue
            base, roots = base_of(top, folder=True), Roots()
            root = roots.root(posixpath.dirname(name) or ".", base) or base
            found = discover(self._paths, self._options, self.given, os.path.abspath(root))
            files = group(_of_code(found.files)).get(root, [])
            problems = [
                one for one in found.problems if (roots.root(posixpath.dirname(one.path) or ".", base) or base) == root
            ]
            kept = found.aliases.get(name, name)
            if any(file.path == kept for file in files) or any(problem.path == name for problem in problems):
                return SessionProject(root, files, problems, found.folders)
        return None

    def _alone(self, path: str, name: str) -> SessionProject:
        """The project as a run finds it that names the file."""
        found = discover([path], self._options, self.given)
        more = context_files(found, self._options, self.given)
        projects = group(_of_code([*found.files, *more]))
        for root, files in projects.items():
            if any(file.path == name for file in files):
                silent = frozenset(file.path for file in more)
                return SessionProject(root, files, found.problems, alone=name, context_only=silent)
        return SessionProject(posixpath.dirname(name) or ".", [], found.problems, alone=name)


def _of_code(files: Iterable[SourceFile]) -> list[SourceFile]:
    """Files without those of graphs: nobody edits these, and to judge them takes longer than to type a word."""
    return [file for file in files if file.kind not in ("graph", "artifact")]


def _changed(folder: str) -> int:
    """When a file last came to a folder or went from there; 0 when the folder is gone."""
    try:
        return os.stat(folder).st_mtime_ns
    except OSError:
        return 0
