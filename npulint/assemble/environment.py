"""What a project sets in the environment, and where: which variables are set together, and what launchers start with
them."""

from __future__ import annotations

import posixpath
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Protocol

from npulint.facts.model import Span
from npulint.lazy_regex import lazy_compile
from npulint.read.launcher_facts import NONE, LaunchFact

_LONG = 10  # digits that no number of devices has
_PREPARES = lazy_compile(r"env|profile|bashrc|activate|conda")
_TOOLKIT = frozenset(("ASCEND_OPP_PATH", "ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME", "ASCEND_AICPU_PATH", "ASCEND_HOME"))


class SetVariable(Protocol):
    """What is asked of a variable that is set (`npulint.assemble.environment_variables`)."""

    @property
    def name(self) -> str: ...
    @property
    def path(self) -> str: ...
    @property
    def span(self) -> Span: ...
    @property
    def text(self) -> str | None: ...
    @property
    def is_conditional(self) -> bool: ...
    @property
    def is_default(self) -> bool: ...


class Scripts:
    """The variables of a project by the files that set them: Python code, shell scripts and Dockerfiles. `reads` are
    the names of those that its Python code reads, `launches` what its scripts start or source."""

    def __init__(
        self,
        variables: Sequence[SetVariable] = (),
        reads: Iterable[str] = (),
        launches: Sequence[LaunchFact] = (),
    ) -> None:
        self.reads = frozenset(reads)
        self._variables = variables
        self._launches = launches
        self._together: dict[str, list[str]] = {}

    @cached_property
    def _set(self) -> dict[str, dict[str, list[SetVariable]]]:
        """Path -> variable -> what sets it, in text order."""
        found: dict[str, dict[str, list[SetVariable]]] = defaultdict(lambda: defaultdict(list))
        for variable in self._variables:
            found[variable.path][variable.name].append(variable)
        return found

    @cached_property
    def _sourced(self) -> dict[str, set[str]]:
        """Path -> names of the scripts that it sources."""
        found: dict[str, set[str]] = defaultdict(set)
        for launch in self._launches:
            if launch.record.sourced:
                found[launch.path].add(posixpath.basename(launch.name))
        return found

    @cached_property
    def _by_base(self) -> dict[str, list[str]]:
        """Name of a script -> the paths of those that set something."""
        found: dict[str, list[str]] = defaultdict(list)
        for path in self._set:
            found[posixpath.basename(path)].append(path)
        return found

    @cached_property
    def _sourcing(self) -> dict[str, list[str]]:
        """Name of a script -> the paths of those that source it and set something."""
        found: dict[str, list[str]] = defaultdict(list)
        for path, names in self._sourced.items():
            for name in names if path in self._set else ():
                found[name].append(path)
        return found

    @cached_property
    def prepared(self) -> bool:
        """Whether any launcher sources something that sets the toolkit up, or sets its paths itself."""
        named = {name for names in self._sourced.values() for name in names}
        return any(map(_PREPARES.search, named)) or any(self.setting(name) for name in _TOOLKIT)

    def setting(self, name: str) -> list[SetVariable]:
        """What sets a variable anywhere in the project."""
        return [variable for names in self._set.values() for variable in names.get(name, ())]

    def together(self, path: str) -> list[str]:
        """The scripts that a script sources or that source it, then itself."""
        known = self._together.get(path)
        if known is None:
            others = {p for name in self._sourced.get(path, ()) for p in self._by_base.get(name, ())}
            others.update(self._sourcing.get(posixpath.basename(path), ()))
            known = self._together[path] = [*sorted(others - {path}), path]
        return known

    def ranked(self, path: str) -> bool:
        """Whether the processes that a script starts get ranks."""
        return any("RANK_ID" in self._set.get(place, {}) for place in self.together(path))

    def along(self, path: str) -> set[str]:
        """The variables that certainly have some value where the file's variables are set."""
        found = set()
        for place in self.together(path):
            for name, variables in self._set.get(place, {}).items():
                if variables[-1].text != "" and not any(one.is_conditional for one in variables):
                    found.add(name)
        return found

    def beside(self, path: str) -> dict[str, str]:
        """The variables that certainly have one value where the file's variables are set: its own and those
        of scripts that it sources, or that source it."""
        found: dict[str, str] = {}
        for place in self.together(path):
            for name, variables in self._set.get(place, {}).items():
                value = _certain(variables)
                if value is None:
                    found.pop(name, None)
                else:
                    found[name] = value
        return found


NO_SCRIPTS = Scripts()
"""Those of a fact whose project is not yet complete."""


def complete_launches(launches: Iterable[LaunchFact], scripts: Scripts) -> None:
    """Sets what is known of launches once it is known what the project sets in the environment."""
    sizes: dict[str, str] = {}
    for launch in launches:
        if launch.path not in sizes:
            beside = scripts.beside(launch.path)
            sizes[launch.path] = beside.get("RANK_SIZE", beside.get("CM_WORKER_SIZE", NONE))
        launch.prepared = scripts.prepared
        launch.size = sizes[launch.path]
        rounds = launch.record.rounds
        known = rounds > 0 and launch.size.isdecimal() and len(launch.size) < _LONG
        if known and 0 < int(launch.size) < rounds and scripts.ranked(launch.path):
            launch.short = str(rounds)


def _certain(variables: list[SetVariable]) -> str | None:
    """The value that a variable has after all that sets it, if that is sure."""
    last = variables[-1]
    return None if last.is_default or any(one.is_conditional for one in variables) else last.text
