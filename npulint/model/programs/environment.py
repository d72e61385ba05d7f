"""The environment variables of a project: which are set together, and in which environment launchers start scripts."""

from __future__ import annotations

import posixpath
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Protocol

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.model import Span
from npulint.read.launcher_facts import NONE, LaunchFact

_VISIBLE = ("ASCEND_RT_VISIBLE_DEVICES", "ASCEND_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES")
_DEVICES = lazy_compile(r"\d{1,3}(?:,\d{1,3})*")
_LONG = 10  # digits that no number of devices has
_PREPARES = lazy_compile(r"env|profile|bashrc|activate|conda")
_TOOLKIT = frozenset(("ASCEND_OPP_PATH", "ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME", "ASCEND_AICPU_PATH", "ASCEND_HOME"))


class SetVariable(Protocol):
    """A fact about a variable that is set (`npulint.model.programs.environment_variables`), as `Scripts` reads it."""

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
    """The environment variables of a project by the file that sets them: Python code, shell scripts, Dockerfiles.
    `reads` are the names that its Python code reads, `launches` the facts about started and sourced scripts."""

    def __init__(
        self,
        variables: Sequence[SetVariable] = (),
        reads: Iterable[str] = (),
        launches: Sequence[LaunchFact] = (),
    ) -> None:
        self.reads = frozenset(reads)
        self._variables = variables
        self._launches = launches
        # every variable of a file asks for these, so that each is worked out once for a file
        self._together: dict[str, list[str]] = {}
        self._certainly_set: dict[str, tuple[str, ...]] = {}
        self._certain_values: dict[str, Mapping[str, str]] = {}

    @cached_property
    def _set(self) -> dict[str, dict[str, list[SetVariable]]]:
        """From path and variable to the facts that set it, in text order."""
        by_path: dict[str, dict[str, list[SetVariable]]] = defaultdict(lambda: defaultdict(list))
        for variable in self._variables:
            by_path[variable.path][variable.name].append(variable)
        return by_path

    @cached_property
    def _sourced(self) -> dict[str, set[str]]:
        """From path to the names of the scripts that it sources."""
        sourced: dict[str, set[str]] = defaultdict(set)
        for launch in self._launches:
            if launch.record.sourced:
                sourced[launch.path].add(posixpath.basename(launch.name))
        return sourced

    @cached_property
    def _by_base(self) -> dict[str, list[str]]:
        """From the name of a script to the paths of those that set a variable."""
        base: dict[str, list[str]] = defaultdict(list)
        for path in self._set:
            base[posixpath.basename(path)].append(path)
        return base

    @cached_property
    def _sourcing(self) -> dict[str, list[str]]:
        """From the name of a script to the paths of those that source it and set a variable."""
        sourcing: dict[str, list[str]] = defaultdict(list)
        for path, names in self._sourced.items():
            for name in names if path in self._set else ():
                sourcing[name].append(path)
        return sourcing

    @cached_property
    def prepared(self) -> bool:
        """Whether any launcher sources a script that sets up the toolkit, or sets its paths itself."""
        named = {name for names in self._sourced.values() for name in names}
        return any(map(_PREPARES.search, named)) or any(self.setting(name) for name in _TOOLKIT)

    def setting(self, name: str) -> list[SetVariable]:
        """All facts that set a variable in the project."""
        return [variable for names in self._set.values() for variable in names.get(name, ())]

    def together(self, path: str) -> list[str]:
        """The paths of the scripts that a script sources or that source it, followed by its own."""
        paths = self._together.get(path)
        if paths is None:
            others = {p for name in self._sourced.get(path, ()) for p in self._by_base.get(name, ())}
            others.update(self._sourcing.get(posixpath.basename(path), ()))
            paths = self._together[path] = [*sorted(others - {path}), path]
        return paths

    def ranked(self, path: str) -> bool:
        """Whether the processes that a script starts get ranks."""
        return any("RANK_ID" in self._set.get(place, {}) for place in self.together(path))

    def certainly_set(self, path: str) -> tuple[str, ...]:
        """The variables that are certainly set when the variables of the file are, sorted."""
        names = self._certainly_set.get(path)
        if names is None:
            certain = set()
            for place in self.together(path):
                for name, variables in self._set.get(place, {}).items():
                    if variables[-1].text != "" and not any(variable.is_conditional for variable in variables):
                        certain.add(name)
            names = self._certainly_set[path] = tuple(sorted(certain))
        return names

    def certain_values(self, path: str) -> Mapping[str, str]:
        """The variables with a single certain value when those of the file are set: its own, and those of scripts that
        it sources or that source it."""
        values = self._certain_values.get(path)
        if values is None:
            certain: dict[str, str] = {}
            for place in self.together(path):
                for name, variables in self._set.get(place, {}).items():
                    value = _certain(variables)
                    if value is None:
                        certain.pop(name, None)
                    else:
                        certain[name] = value
            values = self._certain_values[path] = dict(sorted(certain.items()))
        return values


NO_SCRIPTS = Scripts()
"""The scripts of a fact before its project is complete."""


def complete_launches(launches: Sequence[LaunchFact], scripts: Scripts) -> None:
    """Sets the attributes of launches that depend on the environment variables of the project."""
    sizes: dict[str, str] = {}
    for launch in launches:
        if launch.path not in sizes:
            variables = scripts.certain_values(launch.path)
            sizes[launch.path] = variables.get("RANK_SIZE", variables.get("CM_WORKER_SIZE", NONE))
        launch.prepared = scripts.prepared
        launch.size = sizes[launch.path]
        rounds = launch.record.rounds
        is_sized = rounds > 0 and launch.size.isdecimal() and len(launch.size) < _LONG
        if is_sized and 0 < int(launch.size) < rounds and scripts.ranked(launch.path):
            launch.short = str(rounds)

    for launch in launches:
        devices = _visible(launch, scripts, launches) if launch.processes.isdecimal() else None
        if devices and int(launch.processes[:_LONG]) > len(devices.split(",")):
            launch.visible = devices


def _visible(launch: LaunchFact, scripts: Scripts, launches: Sequence[LaunchFact]) -> str | None:
    """The list of devices that a variable allows the processes of a launch; None if it is not certain."""
    before = [
        set_variable for name in _VISIBLE for set_variable in scripts.setting(name) if set_variable.path == launch.path
    ]
    before = [set_variable for set_variable in before if set_variable.span.line <= launch.span.line]
    if not before or any(set_variable.is_conditional or set_variable.is_default for set_variable in before):
        return None
    last = max(before, key=lambda set_variable: set_variable.span)
    if any(launch_fact.path == launch.path and last.span < launch_fact.span < launch.span for launch_fact in launches):
        return None  # the variable may be set for that one alone
    return last.text if last.text and _DEVICES.fullmatch(last.text) else None


def _certain(variables: list[SetVariable]) -> str | None:
    """The value of a variable after all facts that set it; None if it is not certain."""
    last = variables[-1]
    return None if last.is_default or any(variable.is_conditional for variable in variables) else last.text
