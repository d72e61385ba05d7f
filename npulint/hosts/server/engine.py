"""The synchronous part of the server: sessions by folder, unsaved texts, and merged results. All calls run in one
thread."""

from __future__ import annotations

import os
import traceback
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from npulint.commands.session import Session
from npulint.core.errors import NpulintError
from npulint.discover.files import discover
from npulint.discover.ignore import Excludes
from npulint.discover.kinds import CONFIGURATION, DATA, JSON_LIMIT, is_mixlist, kinds_by_content, kinds_of
from npulint.discover.projects import group
from npulint.discover.safe_open import read_head
from npulint.hosts.server.configuration import CONFIG_FILES, ClientSettings, ConfigProblem, problems_of, settings_for
from npulint.judge.findings import Finding
from npulint.judge.settings import Settings
from npulint.report.verdict import told


class EngineAnswer(msgspec.Struct):
    """The result of a run. `findings` are by absolute path; `near` are the files in projects of the requested files;
    `settings` are those of the requested files. `verdicts` are the sentences about projects by their folders.
    `failures` are tracebacks of internal errors."""

    findings: dict[str, list[Finding]] = {}
    near: set[str] = set()
    settings: dict[str, Settings] = {}
    verdicts: dict[str, str] = {}
    problems: list[ConfigProblem] = []
    notices: list[str] = []
    failures: list[str] = []


class _Home:
    """A folder that is checked with one configuration."""

    def __init__(self, root: str, settings: Settings) -> None:
        self.root = root
        self.settings = settings
        self.session = Session(settings)

    def leaves_out(self, path: str) -> bool:
        """Whether a file is excluded, such as installed libraries that the user only reads."""
        options = self.settings.discovery()
        excludes = Excludes((*options.exclude, *options.extend_exclude), options.base)
        if not self.settings.paths:
            return excludes.within(path)
        folder = False
        while path not in (self.root, os.path.dirname(path)):
            if excludes.name(os.path.basename(path)) or excludes.path(path, folder):
                return True
            path, folder = os.path.dirname(path), True
        return False


class Engine:
    """Checks files. Settings may depend on the variables in `environ`."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self._locale = ""
        self._folders: list[str] = []
        self._client = ClientSettings()
        self._homes: dict[str, _Home] = {}
        self._home_of: dict[str, _Home | None] = {}
        self._unsaved: dict[str, bytes] = {}
        self._problems: dict[str, list[ConfigProblem]] = {}
        self._refusals: dict[str, list[ConfigProblem]] = {}

    def configure(self, folders: Sequence[str], client: ClientSettings, locale: str) -> None:
        """Use these folders and settings, and read configuration files again. An invalid configuration leaves the
        previous one in force."""
        ordered = sorted(folders, key=len, reverse=True)
        if ordered != self._folders:
            self._homes = {r: home for r, home in self._homes.items() if any(_below(r, folder) for folder in ordered)}
        self._folders = ordered
        self._client, self._locale = client, locale
        self._home_of.clear()
        self._problems.clear()
        self._refusals.clear()

    def change(self, path: str, data: bytes | None) -> None:
        """Use `data` as the content of the file at `path`; None: the file on disk."""
        if data is None:
            self._unsaved.pop(path, None)
        else:
            self._unsaved[path] = data
        for home in self._homes.values():
            if _below(path, home.root):
                home.session.change(path, data)

    def touched(self, paths: Sequence[str]) -> None:
        """Handle files changed, created or deleted outside of the editor."""
        for home in self._homes.values():
            mine = [path for path in paths if _below(path, home.root)]
            if mine:
                home.session.touched(mine)

    @property
    def unprepared(self) -> bool:
        """Whether to call `rest` soon."""
        return any(home.session.unprepared for home in self._homes.values())

    def rest(self) -> None:
        """Do what can wait (see `Session.rest`); call it when idle."""
        for home in self._homes.values():
            home.session.rest()

    def projects(self) -> list[str]:
        """One file of every project below the workspace folders."""
        for folder in self._folders:
            self._home(os.path.join(folder, "."))
        places: dict[str, None] = {}
        for home in list(self._homes.values()):
            files = discover(home.settings.paths, home.settings.discovery()).files if home.settings.paths else []
            code = [file for file in files if (file.kind,) not in (DATA, CONFIGURATION)]
            places.update((os.path.abspath(some[0].location), None) for some in group(code).values())
        return list(places)

    def check(self, paths: Iterable[str]) -> EngineAnswer:
        """The findings of the projects of `paths`."""
        answer = EngineAnswer()
        for path in paths:
            if path in answer.settings or not self._counts(path):
                continue
            home = self._home(path)
            if home is not None and not home.leaves_out(path):
                answer.settings[path] = home.settings
                if path not in answer.near:
                    self._evaluate(home, path, answer)
        config_problems = [
            config_problem for some in (*self._problems.values(), *self._refusals.values()) for config_problem in some
        ]
        answer.problems = list(dict.fromkeys(config_problems))
        return answer

    def _counts(self, path: str) -> bool:
        """Whether npulint reads files with this name at all."""
        kinds = kinds_of(path)
        if kinds and kinds != ("mixlist",):
            return True
        data = self._unsaved.get(path)
        if data is None:
            data = read_head(path, JSON_LIMIT)
        return is_mixlist(data) if kinds else bool(kinds_by_content(data))

    def _evaluate(self, home: _Home, path: str, answer: EngineAnswer) -> None:
        try:
            checked = home.session.check(path)
        except NpulintError as error:
            self._refusals[home.root] = problems_of(error, _candidates(home.root, home.settings.config))
            return
        except Exception:  # a bug in a check must not end the server
            answer.failures.append(traceback.format_exc())
            return
        self._refusals.pop(home.root, None)
        for name, findings in checked.findings.items():
            place = os.path.abspath(name)
            if self._home(place) is not home:  # has its own configuration
                continue
            answer.findings[place] = findings
            answer.near.add(place)
        answer.findings.setdefault(path, [])
        if checked.verdict is not None:
            answer.verdicts[os.path.abspath(checked.root)] = told(checked.verdict, home.settings.language())
        answer.notices += [notice for notice in checked.notices if notice not in answer.notices]

    def _home(self, path: str) -> _Home | None:
        """The folder that a file is checked with; None if its settings are invalid."""
        place = os.path.dirname(path)
        if place not in self._home_of:
            self._home_of[place] = self._settled(place)
        return self._home_of[place]

    def _settled(self, place: str) -> _Home | None:
        """The home of a folder. While its settings are invalid, the previous ones, if any, stay in force."""
        folder = next((workspace for workspace in self._folders if _below(place, workspace)), "")
        try:
            root, settings = settings_for(place, folder or place, self._client, self._environ, self._locale)
            if not folder:  # opening a single file must not make npulint read all around it
                settings = msgspec.structs.replace(settings, paths=())
            return self._made(root, settings)
        except NpulintError as error:
            self._problems[place] = problems_of(error, _candidates(place, ""))
            return next((h for r, h in sorted(self._homes.items(), reverse=True) if _below(place, r)), None)

    def _made(self, root: str, settings: Settings) -> _Home:
        home = self._homes.get(root)
        if home is None:
            home = self._homes[root] = _Home(root, settings)
            for path, data in self._unsaved.items():
                if _below(path, root):
                    home.session.change(path, data)
        elif home.settings != settings:
            home.session.reconfigure(settings)
            home.settings = settings
        return home


def _below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(os.path.join(folder, ""))


def _candidates(folder: str, config: str) -> list[str]:
    """The configuration files that may cause a problem, closest first."""
    candidates = [os.path.abspath(config)] if config else []
    while True:
        candidates += [os.path.join(folder, name) for name in CONFIG_FILES]
        parent = os.path.dirname(folder)
        if parent == folder:
            return candidates
        folder = parent
