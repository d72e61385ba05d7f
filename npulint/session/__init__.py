"""Projects kept in memory for editors: after an edit only the edited file is read again."""

from __future__ import annotations

import gc
import os
from collections.abc import Collection, Iterable

import msgspec

from npulint.catalogue.check import Catalogue
from npulint.catalogue.load import load_catalogue
from npulint.discover.boundary import Boundary
from npulint.discover.kinds import SourceFile
from npulint.discover.paths import local, shown
from npulint.facts.model import FileFacts, Problem
from npulint.findings import Finding, ProgramSummary, SuppressedFinding
from npulint.postprocess.finalize import finalize
from npulint.postprocess.record import RawResults, RunContext
from npulint.postprocess.scope import ReportScope
from npulint.project_runner import evaluate_project
from npulint.session.knowledge import FactsSnapshot, FactStore, Version
from npulint.session.sources import SessionProject, WorkspaceSources
from npulint.settings import Settings
from npulint.source_lines import FileLines
from npulint.workers import collector_at_rest

_COLLECT_AFTER = 4000  # files checked between two collections; their garbage takes about 200 MB


class Checked(msgspec.Struct, frozen=True):
    """The result of checking one project with the folder `root`. `findings` are by path, with an empty list for files
    without any; for a file outside the workspace (or excluded) only its own. Paths are as in results: POSIX, relative
    to the working directory for files below it, else absolute; `os.path.abspath` resolves both."""

    root: str
    findings: dict[str, list[Finding]]
    suppressed: list[SuppressedFinding] = []
    unread: list[Problem] = []
    programs: list[ProgramSummary] = []
    notices: list[str] = []


class Session:
    """One workspace whose files may be open in an editor. Not thread-safe. `settings.paths` are the folders of the
    workspace; without any, each file is checked as if it alone were named. Paths passed in may be absolute or relative
    to the working directory, which must not change. Only `check` reads files."""

    def __init__(self, settings: Settings) -> None:
        """Load the catalogue. Raises `CatalogueError` for a broken check file."""
        self._settings = settings
        self._catalogue = _catalogue(settings)
        self._sources = WorkspaceSources(settings.paths, settings.discovery())
        self._knowledge = FactStore(settings.cache)
        self._outcomes: dict[tuple[str, str], _Evaluated] = {}
        self._answers: dict[tuple[str, str], _Answer] = {}
        self._checked = 0

    def change(self, path: str, data: bytes | None) -> None:
        """Use `data` as the content of the file at `path`, which may not exist on disk; None: use the file on disk
        again. Project roots and .gitignore are always read from disk."""
        self._sources.change(os.path.abspath(path), data)

    def touched(self, paths: Iterable[str]) -> None:
        """Tell the session that files or folders were created, changed or deleted on disk. Changes of size, time or
        folder entries are noticed anyway."""
        self._sources.look_again()
        for path in paths:
            self._knowledge.forget(os.path.abspath(path))

    def reconfigure(self, settings: Settings) -> None:
        """Use other settings from now on and keep the facts. Raises `CatalogueError`; then the previous settings stay
        in force."""
        self._catalogue = _catalogue(settings)
        self._settings = settings
        self._sources.configure(settings.paths, settings.discovery())
        self._outcomes.clear()
        self._answers.clear()

    def check(self, path: str) -> Checked:
        """The result for the project of the file at `path`, equal to that of a fresh run. A file that cannot be parsed
        (while being edited) has only that problem; the other files are evaluated with its last good facts. Raises
        `ConfigError` when the settings select an unknown check or an unreadable baseline."""
        with collector_at_rest():
            checked = self._check(path)
            gc.freeze()  # or the next collection would traverse it all
        self._checked += len(checked.findings)
        if self._checked > _COLLECT_AFTER:
            self.rest()
        return checked

    def rest(self) -> None:
        """Collect the garbage of earlier checks; call it when idle, since it takes tens of milliseconds. `check` does
        so after many files."""
        self._checked = 0
        gc.unfreeze()
        gc.collect()
        gc.freeze()

    def _check(self, path: str) -> Checked:
        project = self._sources.project(path)
        known = self._knowledge.of(project.files, self._sources.buffers)
        before = self._answers.get((project.root, project.alone))
        state = (project.files, project.problems, known.marks)
        if before is not None and before.state == state and not self._settings.baseline:
            return before.checked
        checked = self._judged(project, known)
        self._answers[project.root, project.alone] = _Answer(state, checked)
        return checked

    def _outcome(self, project: SessionProject, known: FactsSnapshot) -> RawResults:
        """The raw results for these facts, evaluated again only when some facts changed: not for an edited comment, and
        not while a file stays broken."""
        key = (project.root, project.alone)
        before = self._outcomes.get(key)
        if before is not None and list(map(id, before.facts)) == list(map(id, known.facts)):
            return before.outcome
        outcome = evaluate_project(project.root, known.facts, self._catalogue, self._settings)
        self._outcomes[key] = _Evaluated(known.facts, outcome)
        return outcome

    def _judged(self, project: SessionProject, known: FactsSnapshot) -> Checked:
        buffers = {shown(local(place)): data for place, data in self._sources.buffers.items()}
        lines = FileLines(buffers, Boundary(filter(None, (*self._settings.paths, project.alone))))
        outcome = self._outcome(project, known)
        broken = {path for path, _ in known.broken}
        raw = RawResults(
            findings=[_certain(one, broken) for one in outcome.findings if one.path not in broken],
            programs=outcome.programs,
            files=[known.broken.get((file.path, file.kind), file) for file in outcome.files],
            problems=project.problems,
        )
        result = finalize(raw, RunContext(self._settings, self._catalogue, lines, ReportScope(project.context_only)))
        reported = {
            file.path for file in project.files if file.kind != "data" and file.path not in project.context_only
        }
        findings: dict[str, list[Finding]] = {path: [] for path in sorted(reported | {project.alone} - {""})}
        for one in result.findings:
            if not project.alone or one.path == project.alone:
                findings.setdefault(one.path, []).append(one)
        return Checked(project.root, findings, result.suppressed, result.unreadable, result.programs, result.notices)


class _Evaluated(msgspec.Struct, frozen=True):
    """Raw results and the facts that they are based on."""

    facts: list[FileFacts]
    outcome: RawResults


class _Answer(msgspec.Struct, frozen=True):
    """An answer of `Session.check` and the project state that it was computed for."""

    state: tuple[list[SourceFile], list[Problem], list[Version]]
    checked: Checked


_LOADED: dict[str, Catalogue] = {}


def _catalogue(settings: Settings) -> Catalogue:
    """The catalogue; sessions with the same checks share one, because preparing it takes time."""
    catalogue = load_catalogue(settings.checks, whole=False)
    return _LOADED.setdefault(catalogue.digest, catalogue)


def _certain(one: Finding, broken: Collection[str]) -> Finding:
    """A finding without related locations in broken files, whose lines may have moved."""
    if not any(place.path in broken for place in one.related):
        return one
    return msgspec.structs.replace(one, related=tuple(place for place in one.related if place.path not in broken))


__all__ = ["Checked", "Session"]
