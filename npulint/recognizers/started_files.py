"""Whether what files other than Python code say holds for a program: launchers, configurations, images, lists of
packages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Set

from npulint.facts.model import Fact
from npulint.model.code.index import FactTable, Index, table
from npulint.model.code.project import Project
from npulint.model.launches.project_launches import Launches
from npulint.model.running.reach import HowReached
from npulint.read.launcher_facts import LaunchFact
from npulint.read.packages import Dependency, PackageIndex

_INSTALLED = (Dependency, PackageIndex)


class StartedFiles:
    """The files that take part in the starts of a project's scripts. `configurations` are the files, by entry script,
    that configure its only configured start; `configured` are the launchers of trainings that are no scripts."""

    def __init__(
        self, project: Project, launches: Launches, configurations: Mapping[str, Set[str]], configured: Set[str]
    ) -> None:
        self._environments = {file.path for file in project.files if file.kind in ("dockerfile", "dependency")}
        self._launches = launches
        self._by_entry = launches.by_entry
        self._configurations = configurations
        self._configured = configured
        self._launchers = {entry: {each.fact.path for each in launches} for entry, launches in self._by_entry.items()}
        self._are_sure = {entry: all(each.sure for each in launches) for entry, launches in self._by_entry.items()}
        self._alike: dict[tuple[str, str, str], dict[object, set[str]]] = {}

    def of_launcher(self, path: str) -> Set[str]:
        """The entry scripts that the file starts; empty if it starts none of the project."""
        return self._launches.started_by.get(path, frozenset())

    def parted(self, facts: Iterable[Fact], entries: Set[str]) -> list[tuple[Set[str], FactTable]]:
        """Facts that belong to no code, by those of the entry scripts `entries` that they concern: what a launcher says
        concerns those that it starts, a start the started one; an empty set stands for all, also for what launchers
        install. Launchers of other trainings concern none."""
        parts: dict[frozenset[str], list[Fact]] = {}
        for fact in facts:
            started = frozenset(self._launches.entries(fact)) if isinstance(fact, LaunchFact) else frozenset[str]()
            concerned = (started & entries) or (self._started_with(fact) & entries)
            if concerned or fact.path not in self._configured:
                parts.setdefault(frozenset(concerned), []).append(fact)
        return [(concerned, table(part)) for concerned, part in parts.items()]

    def _started_with(self, fact: Fact) -> Set[str]:
        """The entry scripts for whose starts alone a fact of a file is there: what is installed is there for all."""
        return frozenset() if isinstance(fact, _INSTALLED) else self.of_launcher(fact.path)

    def how_held(self, fact: Fact, entry: str, index: Index) -> HowReached:
        """Whether a fact from such a file holds when the entry script is started: surely, where the file is the entry
        itself, belongs to its only start, or every launcher has a fact like it in the `index` of the program; not,
        where it is a launcher of other scripts; else maybe, for another launcher, configuration, image or environment
        may be used instead."""
        if fact.path == entry:
            return "surely"
        started = self._started_with(fact)
        if started and entry not in started:
            return "no"
        if fact.path in self._environments:
            return "maybe"
        if not self._are_sure.get(entry):
            return "maybe"
        if started:
            return "surely" if self._launchers[entry] <= self._with_alike(fact, entry, index) else "maybe"
        is_configuration = fact.path in self._configurations.get(entry, ())
        return "surely" if is_configuration and len(self._by_entry[entry]) == 1 else "maybe"

    def _with_alike(self, fact: Fact, entry: str, index: Index) -> Set[str]:
        """The files of a program with a fact of the same kind, name and value."""
        key = entry, fact.kind, fact.name
        by_value = self._alike.get(key)
        if by_value is None:
            by_value = self._alike[key] = defaultdict(set)
            for other in index.named(fact.kind, fact.name.rpartition(".")[2]):
                if other.name == fact.name:
                    by_value[other.get("value")].add(other.path)
        return by_value.get(fact.get("value"), frozenset())
