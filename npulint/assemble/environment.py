"""The environment variables of a project: which are set together, and in which environment launchers start scripts."""

from __future__ import annotations

import posixpath
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cached_property, partial
from typing import Literal, Protocol

from npulint.facts.model import Fact, Span
from npulint.lazy_regex import lazy_compile

NONE = "-"  # in messages, for nothing
_PREPARES = lazy_compile(r"env|profile|bashrc|activate|conda")
_TOOLKIT = frozenset(("ASCEND_OPP_PATH", "ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME", "ASCEND_AICPU_PATH", "ASCEND_HOME"))
_PORT_OPTIONS = ("master_port", "rdzv_endpoint", "dist_url", "init_method", "dist_port")
_PORT = lazy_compile(r"(?:^|:)(\d+)/?$")


class SetVariable(Protocol):
    """A fact about a variable that is set (`npulint.assemble.environment_variables`), as `Scripts` reads it."""

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
        launches: Sequence[Fact] = (),
    ) -> None:
        self.reads = frozenset(reads)
        self._variables = variables
        self._launches = launches
        self._together: dict[str, list[str]] = {}

    @cached_property
    def _set(self) -> dict[str, dict[str, list[SetVariable]]]:
        """From path and variable to the facts that set it, in text order."""
        found: dict[str, dict[str, list[SetVariable]]] = defaultdict(lambda: defaultdict(list))
        for variable in self._variables:
            found[variable.path][variable.name].append(variable)
        return found

    @cached_property
    def _sourced(self) -> dict[str, set[str]]:
        """From path to the names of the scripts that it sources."""
        found: dict[str, set[str]] = defaultdict(set)
        for launch in self._launches:
            if launch.get("sourced"):
                found[launch.path].add(posixpath.basename(launch.name))
        return found

    @cached_property
    def _by_base(self) -> dict[str, list[str]]:
        """From the name of a script to the paths of those that set a variable."""
        found: dict[str, list[str]] = defaultdict(list)
        for path in self._set:
            found[posixpath.basename(path)].append(path)
        return found

    @cached_property
    def _sourcing(self) -> dict[str, list[str]]:
        """From the name of a script to the paths of those that source it and set a variable."""
        found: dict[str, list[str]] = defaultdict(list)
        for path, names in self._sourced.items():
            for name in names if path in self._set else ():
                found[name].append(path)
        return found

    @cached_property
    def prepared(self) -> Literal["yes", "no"]:
        """Whether any launcher sources a script that sets up the toolkit, or sets its paths itself."""
        named = {name for names in self._sourced.values() for name in names}
        return "yes" if any(map(_PREPARES.search, named)) or any(self.setting(n) for n in _TOOLKIT) else "no"

    def setting(self, name: str) -> list[SetVariable]:
        """All facts that set a variable in the project."""
        return [variable for names in self._set.values() for variable in names.get(name, ())]

    def exported(self, name: str) -> Literal["yes", "no"]:
        """Whether the project passes the variable on to other processes anywhere."""
        return "yes" if self.setting(name) else "no"

    def together(self, path: str) -> list[str]:
        """The paths of the scripts that a script sources or that source it, followed by its own."""
        known = self._together.get(path)
        if known is None:
            others = {p for name in self._sourced.get(path, ()) for p in self._by_base.get(name, ())}
            others.update(self._sourcing.get(posixpath.basename(path), ()))
            known = self._together[path] = [*sorted(others - {path}), path]
        return known

    def ranked(self, path: str) -> bool:
        """Whether the processes that a script starts get ranks."""
        return any("RANK_ID" in self._set.get(place, {}) for place in self.together(path))

    def certainly_set(self, path: str) -> set[str]:
        """The variables that are certainly set when the variables of the file are."""
        found = set()
        for place in self.together(path):
            for name, variables in self._set.get(place, {}).items():
                if variables[-1].text != "" and not any(one.is_conditional for one in variables):
                    found.add(name)
        return found

    def certain_values(self, path: str) -> dict[str, str]:
        """The variables with a single certain value when those of the file are set: its own, and those of scripts that
        it sources or that source it."""
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
"""The scripts of a fact before its project is complete."""


def describe_launches(launches: Iterable[Fact], scripts: Scripts) -> None:
    """Adds attributes about the environment to facts about started scripts (see docs/writing-checks.md). They are
    computed on demand."""
    for fact in launches:
        options = fact.attrs.get("launcher_options")
        fact.attrs["use_env"] = "yes" if isinstance(options, dict) and "use_env" in options else "no"
        fact.attrs["port"] = partial(_port, fact)
        fact.attrs["along"] = partial(_along, fact, scripts)
        fact.attrs["size"] = partial(_size, fact, scripts)
        fact.attrs["short"] = partial(_short, fact, scripts)
        fact.attrs["prepared"] = partial(getattr, scripts, "prepared")


def _certain(variables: list[SetVariable]) -> str | None:
    """The value of a variable after all facts that set it; None if it is not certain."""
    last = variables[-1]
    return None if last.is_default or any(one.is_conditional for one in variables) else last.text


def _port(fact: Fact) -> str:
    """The port at which the processes of a launch meet, from its options."""
    for attribute in ("launcher_options", "options"):
        options = fact.attrs.get(attribute)
        texts = options if isinstance(options, dict) else {}
        for name in _PORT_OPTIONS:
            match = _PORT.search(texts.get(name) or "")
            if match:
                return match[1]
    return NONE


def _along(fact: Fact, scripts: Scripts) -> str:
    """The variables that are certainly set when a script is started, separated by spaces."""
    return " ".join(sorted(scripts.certainly_set(fact.path)))


def _size(fact: Fact, scripts: Scripts) -> str:
    """The number of processes according to the launcher's environment."""
    variables = scripts.certain_values(fact.path)
    return variables.get("RANK_SIZE", variables.get("CM_WORKER_SIZE", NONE))


def _short(fact: Fact, scripts: Scripts) -> str:
    """The number of processes that a loop starts, each with its own rank, if it is larger than the declared number."""
    started, size = fact.attrs.get("rounds"), _size(fact, scripts)
    if not isinstance(started, int) or not size.isdigit() or not scripts.ranked(fact.path):
        return NONE
    return str(started) if 0 < int(size) < started else NONE
