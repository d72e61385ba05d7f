"""Projects kept in memory for editors: after an edit only the edited file is read again."""

from __future__ import annotations

import gc
import os
from collections.abc import Collection, Iterable, Mapping
from typing import TypeAlias

import msgspec

from npulint.commands.check.project_runner import evaluate_project
from npulint.commands.check.workers import collector_at_rest
from npulint.commands.session.knowledge import FactsSnapshot, FactStore, Version
from npulint.commands.session.results import ProjectVersion, ResultStore
from npulint.commands.session.sources import SessionProject, WorkspaceSources
from npulint.core.cache import open_cache
from npulint.discover.kinds import SourceFile
from npulint.discover.paths import Boundary, local, shown
from npulint.facts.model import FileFacts, Problem
from npulint.judge.catalogue.check import Catalogue
from npulint.judge.catalogue.load import load_catalogue
from npulint.judge.findings import Finding, ProgramSummary, SuppressedFinding
from npulint.judge.postprocess.finalize import FOR_EDITORS, finalize
from npulint.judge.postprocess.record import RawResults, ReportScope, RunContext
from npulint.judge.settings import Settings
from npulint.judge.source_lines import FileLines
from npulint.judge.summaries.verdict import Verdict
from npulint.read.files import LoadedFile

_RECENT = 4  # results of a project that are kept
_COLLECT_AFTER = 4000  # files checked between two collections; their garbage takes about 200 MB


class Checked(msgspec.Struct, frozen=True):
    """The result of checking one project with the folder `root`. `findings` are by path, with an empty list for files
    without any; for a file outside the workspace (or excluded) only its own. Paths are as in results: POSIX, relative
    to the working directory for files below it, else absolute; `os.path.abspath` resolves both. `verdict` is that on
    the project; None where a file was checked alone."""

    root: str
    findings: dict[str, list[Finding]]
    suppressed: list[SuppressedFinding] = []
    unread: list[Problem] = []
    programs: list[ProgramSummary] = []
    notices: list[str] = []
    verdict: Verdict | None = None


class Session:
    """One workspace whose files may be open in an editor. Not thread-safe. `settings.paths` are the folders of the
    workspace; without any, each file is checked as if it alone were named. Paths passed in may be absolute or relative
    to the working directory, which must not change. Only `check` and `rest` read files."""

    def __init__(self, settings: Settings) -> None:
        """Load the catalogue. Raises `CatalogueError` for a broken check file."""
        self._settings = settings
        self._catalogue = _catalogue(settings)
        self._sources = WorkspaceSources(settings.paths, settings.discovery())
        cache = open_cache(settings.cache)
        self._knowledge = FactStore(cache)
        self._results = ResultStore(cache)
        self._outcomes: dict[_Key, list[_Evaluated]] = {}  # the latest first
        self._answers: dict[_Key, _Answer] = {}
        self._unread: dict[_Key, _Remembered] = {}
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
        self._unread.clear()

    def check(self, path: str) -> Checked:
        """The result for the project of the file at `path`, equal to that of a fresh run. A file that cannot be parsed
        (while being edited) has only that problem; the other files are evaluated with its last good facts. Raises
        `ConfigError` when the settings select an unknown check or an unreadable baseline."""
        with collector_at_rest():
            checked = self._check(path)
            gc.freeze()  # or the next collection would traverse it all
        self._checked += len(checked.findings)
        if self._checked > _COLLECT_AFTER:
            self._collect()
        return checked

    @property
    def unprepared(self) -> bool:
        """Whether the first edit of some project would wait longer than later ones, unless `rest` is called before."""
        return bool(self._unread)

    def rest(self) -> None:
        """Do what can wait: prepare for edits of projects whose results came from the cache, store results for the next
        session, and collect the garbage of earlier checks. Call it when idle."""
        with collector_at_rest():
            for key, remembered in list(self._unread.items()):
                self._prepare(key, remembered)
            for outcomes in self._outcomes.values():
                self._store(outcomes[0])
        self._collect()

    def _collect(self) -> None:
        """Collect the garbage of earlier checks, which takes tens of milliseconds."""
        self._checked = 0
        gc.unfreeze()
        gc.collect()
        gc.freeze()

    def _check(self, path: str) -> Checked:
        project = self._sources.project(path)
        key = _key(project)
        marks = self._knowledge.marks(project.files, self._sources.buffers)
        before = self._answers.get(key)
        state = (project.files, project.problems, marks)
        if before is not None and before.state == state and not self._settings.baseline:
            return before.checked
        remembered = self._remembered(key, project, marks)
        if remembered is not None:
            checked = self._finished(project, remembered)
        else:
            facts_snapshot = self._facts(key, project)
            state = (project.files, project.problems, facts_snapshot.marks)
            checked = self._finished(project, self._outcome(project, facts_snapshot), facts_snapshot.broken)
        self._answers[key] = _Answer(state, checked)
        return checked

    def _remembered(self, key: _Key, project: SessionProject, marks: list[Version]) -> RawResults | None:
        """The raw results that an earlier run or session has stored for a project that this one has not evaluated."""
        evaluated = key in self._outcomes or key in self._unread
        if evaluated or not self._results.enabled or self._settings.against:
            return None
        version = self._version(project)
        raw_results = self._results.get(version)
        remembered = _Remembered(project, version.loaded, marks)
        if raw_results is None:
            self._read(remembered)
        else:
            self._unread[key] = remembered
        return raw_results

    def _version(self, project: SessionProject) -> ProjectVersion:
        buffers = self._sources.buffers
        return self._results.version(project.root, project.files, buffers, self._catalogue, self._settings)

    def _read(self, remembered: _Remembered) -> None:
        """Read the facts of files that were loaded, so that they count as the last good ones."""
        names = [(file.path, file.kind) for file in remembered.project.files]
        marks = dict(zip(names, remembered.marks, strict=True))
        loaded = remembered.loaded
        self._knowledge.take(loaded, [marks[item.file.path, item.file.kind] for item in loaded])

    def _prepare(self, key: _Key, remembered: _Remembered) -> None:
        """Read and evaluate a project whose results came from the cache, so that the first edit waits no longer than
        the next ones."""
        self._read(remembered)
        del self._unread[key]
        project = remembered.project
        if self._knowledge.marks(project.files, self._sources.buffers) == remembered.marks:
            self._outcome(project, self._knowledge.of(project.files, self._sources.buffers))

    def _facts(self, key: _Key, project: SessionProject) -> FactsSnapshot:
        """The facts of a project as it is now."""
        if key in self._unread:
            self._read(self._unread[key])
            del self._unread[key]
        return self._knowledge.of(project.files, self._sources.buffers)

    def _outcome(self, project: SessionProject, facts_snapshot: FactsSnapshot) -> RawResults:
        """The raw results for these facts, evaluated again only when some facts changed: not for an edited comment, not
        while a file stays broken, and not when an edit is undone."""
        recent = self._outcomes.get(_key(project), [])
        ids = list(map(id, facts_snapshot.facts))
        before = next((evaluated for evaluated in recent if list(map(id, evaluated.snapshot.facts)) == ids), None)
        if before is not None:
            outcome, stored = before.outcome, before.stored and before.snapshot.marks == facts_snapshot.marks
            recent.remove(before)
        else:
            readable = self._sources.readable(project.files)
            outcome = evaluate_project(project.root, facts_snapshot.facts, self._catalogue, self._settings, readable)
            stored = False
        recent.insert(0, _Evaluated(project, facts_snapshot, outcome, stored))
        del recent[_RECENT:]
        self._outcomes[_key(project)] = recent
        return outcome

    def _store(self, evaluated: _Evaluated) -> None:
        """Store results for the next session, unless they are about a text that is not saved or cannot be parsed."""
        project, facts_snapshot = evaluated.project, evaluated.snapshot
        if evaluated.stored or not self._results.enabled or self._settings.against:
            return
        if facts_snapshot.broken or not all(self._sources.is_saved(file) for file in project.files):
            return
        evaluated.stored = True
        version = self._version(project)
        if self._knowledge.marks(project.files, self._sources.buffers) == facts_snapshot.marks:
            self._results.put(version, evaluated.outcome)

    def _finished(
        self, project: SessionProject, outcome: RawResults, broken: Mapping[tuple[str, str], FileFacts] = {}
    ) -> Checked:
        buffers = {shown(local(place)): data for place, data in self._sources.buffers.items()}
        lines = FileLines(buffers, Boundary(filter(None, (*self._settings.paths, project.alone))))
        paths = {path for path, _ in broken}
        raw = RawResults(
            findings=[_certain(finding, paths) for finding in outcome.findings if finding.path not in paths],
            programs=outcome.programs,
            seen=outcome.seen,
            files=[broken.get((file.path, file.kind), file) for file in outcome.files],
            problems=project.problems,
        )
        context = RunContext(self._settings, self._catalogue, lines, ReportScope(project.context_only))
        result = finalize(raw, context, FOR_EDITORS)
        reported = {
            file.path for file in project.files if file.kind != "data" and file.path not in project.context_only
        }
        findings: dict[str, list[Finding]] = {path: [] for path in sorted(reported | {project.alone} - {""})}
        for finding in result.findings:
            if not project.alone or finding.path == project.alone:
                findings.setdefault(finding.path, []).append(finding)
        return Checked(
            project.root,
            findings,
            result.suppressed,
            result.unreadable,
            result.programs,
            result.notices,
            None if project.alone else result.verdict,
        )


_Key: TypeAlias = tuple[str, str]
"""The root of a project, and the file that is checked alone, if any."""


def _key(project: SessionProject) -> _Key:
    return project.root, project.alone


class _Remembered(msgspec.Struct, frozen=True):
    """A project whose results came from the cache: its loaded files, and the versions of all its files."""

    project: SessionProject
    loaded: list[LoadedFile]
    marks: list[Version]


class _Evaluated(msgspec.Struct, eq=False):
    """Raw results of a project and the facts that they are based on; `stored`: whether the cache has them."""

    project: SessionProject
    snapshot: FactsSnapshot
    outcome: RawResults
    stored: bool = False


class _Answer(msgspec.Struct, frozen=True):
    """An answer of `Session.check` and the project state that it was computed for."""

    state: tuple[list[SourceFile], list[Problem], list[Version]]
    checked: Checked


_LOADED: dict[str, Catalogue] = {}


def _catalogue(settings: Settings) -> Catalogue:
    """The catalogue; sessions with the same checks share one, because preparing it takes time."""
    catalogue = load_catalogue(settings.checks, whole=False)
    return _LOADED.setdefault(catalogue.digest, catalogue)


def _certain(finding: Finding, broken: Collection[str]) -> Finding:
    """A finding without related locations in broken files, whose lines may have moved."""
    if not any(place.path in broken for place in finding.related):
        return finding
    return msgspec.structs.replace(
        finding, related=tuple(place for place in finding.related if place.path not in broken)
    )


__all__ = ["Checked", "Session"]
