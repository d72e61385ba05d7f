"""What a project sets in the environment, and where: which variables are set together, and what launchers start with
them."""

from __future__ import annotations

import posixpath
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cached_property, partial
from typing import Literal, Protocol

from npulint.facts.model import Fact, Span
from npulint.lazy_regex import lazy_compile

NONE = "-"  # stands in messages where there is nothing to name
_PREPARES = lazy_compile(r"env|profile|bashrc|activate|conda")
_TOOLKIT = frozenset(("ASCEND_OPP_PATH", "ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME", "ASCEND_AICPU_PATH", "ASCEND_HOME"))
_PORT_OPTIONS = ("master_port", "rdzv_endpoint", "dist_url", "init_method", "dist_port")
_PORT = lazy_compile(r"(?:^|:)(\d+)/?$")


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
        launches: Sequence[Fact] = (),
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
            if launch.get("sourced"):
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
    def prepared(self) -> Literal["yes", "no"]:
        """Whether any launcher sources something that sets the toolkit up, or sets its paths itself."""
        named = {name for names in self._sourced.values() for name in names}
        return "yes" if any(map(_PREPARES.search, named)) or any(self.setting(n) for n in _TOOLKIT) else "no"

    def setting(self, name: str) -> list[SetVariable]:
        """What sets a variable anywhere in the project."""
        return [variable for names in self._set.values() for variable in names.get(name, ())]

    def exported(self, name: str) -> Literal["yes", "no"]:
        """Whether the project hands the variable on anywhere."""
        return "yes" if self.setting(name) else "no"

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

    def certainly_set(self, path: str) -> set[str]:
        """The variables that certainly have some value where the file's variables are set."""
        found = set()
        for place in self.together(path):
            for name, variables in self._set.get(place, {}).items():
                if variables[-1].text != "" and not any(one.is_conditional for one in variables):
                    found.add(name)
        return found

    def certain_values(self, path: str) -> dict[str, str]:
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


def describe_launches(launches: Iterable[Fact], scripts: Scripts) -> None:
    """Add to what launchers start what is known of its environment (see docs/writing-checks.md). Nothing is worked out
    before a check asks."""
    for fact in launches:
        options = fact.attrs.get("launcher_options")
        fact.attrs["use_env"] = "yes" if isinstance(options, dict) and "use_env" in options else "no"
        fact.attrs["port"] = partial(_port, fact)
        fact.attrs["along"] = partial(_along, fact, scripts)
        fact.attrs["size"] = partial(_size, fact, scripts)
        fact.attrs["short"] = partial(_short, fact, scripts)
        fact.attrs["prepared"] = partial(getattr, scripts, "prepared")


def _certain(variables: list[SetVariable]) -> str | None:
    """The value that a variable has after all that sets it, if that is sure."""
    last = variables[-1]
    return None if last.is_default or any(one.is_conditional for one in variables) else last.text


def _port(fact: Fact) -> str:
    """The port at which the processes of a launch meet, as its options say."""
    for attribute in ("launcher_options", "options"):
        options = fact.attrs.get(attribute)
        texts = options if isinstance(options, dict) else {}
        for name in _PORT_OPTIONS:
            match = _PORT.search(texts.get(name) or "")
            if match:
                return match[1]
    return NONE


def _along(fact: Fact, scripts: Scripts) -> str:
    """The variables that are certainly set where a script is started."""
    return " ".join(sorted(scripts.certainly_set(fact.path)))


def _size(fact: Fact, scripts: Scripts) -> str:
    """How many processes a launcher says that there are."""
    variables = scripts.certain_values(fact.path)
    return variables.get("RANK_SIZE", variables.get("CM_WORKER_SIZE", NONE))


def _short(fact: Fact, scripts: Scripts) -> str:
    """Whether a loop starts more processes than that, each with a rank of its own: then their number."""
    started, size = fact.attrs.get("rounds"), _size(fact, scripts)
    if not isinstance(started, int) or not size.isdigit() or not scripts.ranked(fact.path):
        return NONE
    return str(started) if 0 < int(size) < started else NONE
