"""Projects kept in memory, for editors: after an edit only the edited file is read again."""

from __future__ import annotations

import gc
import os
from collections.abc import Collection, Iterable

import msgspec

from npulint.catalogue.check import Catalogue
from npulint.catalogue.load import load_catalogue
from npulint.discover.kinds import SourceFile
from npulint.discover.paths import local, shown
from npulint.facts.model import FileFacts, Problem
from npulint.findings import Finding, ProgramSummary, Silenced
from npulint.postprocess.finalize import finalize
from npulint.postprocess.record import RawResults, RunContext
from npulint.postprocess.scope import Scope
from npulint.project_runner import evaluate_project
from npulint.session.knowledge import FactsSnapshot, FactStore, Version
from npulint.session.sources import SessionProject, Sources
from npulint.settings import Settings
from npulint.source_lines import FileLines
from npulint.workers import collector_at_rest

_MUCH = 4000  # files judged since the last rest; what they leave behind takes about 200 megabytes


class Checked(msgspec.Struct, frozen=True):
    """What is to be said of one project. `root` is its folder. `findings` are by path, with an empty list for files
    that were read and of which nothing is said; of a file that is no part of the workspace (excluded, or elsewhere)
    there are its own findings only. Paths are those of results: POSIX, relative to the working directory of the
    process where they lie below it, else absolute; `os.path.abspath` leads to the file either way."""

    root: str
    findings: dict[str, list[Finding]]
    silenced: list[Silenced] = []
    unread: list[Problem] = []
    programs: list[ProgramSummary] = []
    notices: list[str] = []


class Session:
    """One workspace whose files may be open in an editor. Not thread-safe; use it from one thread.

    `settings.paths` are the folders of the workspace; there may be none: then every file is judged with its company
    alone. Paths that are handed in may be absolute or relative to the working directory, which must stay what it is.
    Nothing is read or watched but in `check`.
    """

    def __init__(self, settings: Settings) -> None:
        """Loads the catalogue. Raises `CatalogueError` for a broken check file."""
        self._settings = settings
        self._catalogue = _catalogue(settings)
        self._sources = Sources(settings.paths, settings.discovery())
        self._knowledge = FactStore(settings.cache)
        self._outcomes: dict[tuple[str, str], _Judged] = {}
        self._told: dict[tuple[str, str], _Told] = {}
        self._waiting = 0

    def change(self, path: str, data: bytes | None) -> None:
        """Let `data` be the content of the file at `path`, which need not be on disk; None: what is on disk counts
        again. Such texts take part in programs; which folders are projects, and .gitignore, is read from the disk."""
        self._sources.change(os.path.abspath(path), data)

    def touched(self, paths: Iterable[str]) -> None:
        """Files or folders were created, changed or deleted on disk. Files that changed their size or time, and
        folders that got or lost entries, are noticed anyway."""
        self._sources.look_again()
        for path in paths:
            self._knowledge.forget(os.path.abspath(path))

    def reconfigure(self, settings: Settings) -> None:
        """Judge with other settings from now on; what is known of the files stays. Raises `CatalogueError`; then the
        earlier settings stay in force."""
        self._catalogue = _catalogue(settings)
        self._settings = settings
        self._sources.configure(settings.paths, settings.discovery())
        self._outcomes.clear()
        self._told.clear()

    def check(self, path: str) -> Checked:
        """Judge the project of the file at `path` as it is now, as a fresh run would. Raises `ConfigError` when
        the settings select a check that does not exist or name a baseline that cannot be read.

        Of a file whose text cannot be read for the moment (a statement half typed) only that is told; the others are
        judged as if it still held what could be read last.
        """
        with collector_at_rest():
            checked = self._check(path)
            gc.freeze()  # or the next allocation would look through all that is left behind
        self._waiting += len(checked.findings)
        if self._waiting > _MUCH:
            self.rest()
        return checked

    def rest(self) -> None:
        """Give back what earlier checks left behind: for a moment when nobody waits, since it takes some tens of
        milliseconds. `check` does it at times by itself."""
        self._waiting = 0
        gc.unfreeze()
        gc.collect()
        gc.freeze()

    def _check(self, path: str) -> Checked:
        project = self._sources.project(path)
        known = self._knowledge.of(project.files, self._sources.given)
        before = self._told.get((project.root, project.alone))
        state = (project.files, project.problems, known.marks)
        if before is not None and before.state == state and not self._settings.baseline:
            return before.checked
        checked = self._judged(project, known)
        self._told[project.root, project.alone] = _Told(state, checked)
        return checked

    def _outcome(self, project: SessionProject, known: FactsSnapshot) -> RawResults:
        """What the facts give, worked out anew when any of them is another one: not for a word in a comment, and not
        while a file stays broken."""
        key = (project.root, project.alone)
        before = self._outcomes.get(key)
        if before is not None and list(map(id, before.facts)) == list(map(id, known.facts)):
            return before.outcome
        outcome = evaluate_project(project.root, known.facts, self._catalogue, self._settings)
        self._outcomes[key] = _Judged(known.facts, outcome)
        return outcome

    def _judged(self, project: SessionProject, known: FactsSnapshot) -> Checked:
        given = {shown(local(place)): data for place, data in self._sources.given.items()}
        outcome = self._outcome(project, known)
        broken = {path for path, _ in known.broken}
        raw = RawResults(
            findings=[_certain(one, broken) for one in outcome.findings if one.path not in broken],
            programs=outcome.programs,
            files=[known.broken.get((file.path, file.kind), file) for file in outcome.files],
            problems=project.problems,
        )
        result = finalize(
            raw, RunContext(self._settings, self._catalogue, FileLines(given), Scope(project.context_only))
        )
        told = {file.path for file in project.files if file.path not in project.context_only}
        findings: dict[str, list[Finding]] = {path: [] for path in sorted(told | {project.alone} - {""})}
        for one in result.findings:
            if not project.alone or one.path == project.alone:
                findings.setdefault(one.path, []).append(one)
        return Checked(project.root, findings, result.suppressed, result.unreadable, result.programs, result.notices)


class _Judged(msgspec.Struct, frozen=True):
    """What some facts give."""

    facts: list[FileFacts]
    outcome: RawResults


class _Told(msgspec.Struct, frozen=True):
    """An answer, and what it is about."""

    state: tuple[list[SourceFile], list[Problem], list[Version]]
    checked: Checked


_LOADED: dict[str, Catalogue] = {}


def _catalogue(settings: Settings) -> Catalogue:
    """The catalogue; sessions with the same checks share it, for it takes time to get it ready."""
    catalogue = load_catalogue(settings.checks, whole=False)
    return _LOADED.setdefault(catalogue.digest, catalogue)


def _certain(one: Finding, broken: Collection[str]) -> Finding:
    """A finding without the places in broken files, which may have moved."""
    if not any(place.path in broken for place in one.related):
        return one
    return msgspec.structs.replace(one, related=tuple(place for place in one.related if place.path not in broken))


__all__ = ["Checked", "Session"]
