"""Whether what files other than Python code say holds for a program: launchers, configurations, images, lists of
packages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Set

from npulint.facts.model import Fact
from npulint.model.code.project import Project
from npulint.model.launches.project_launches import Launches
from npulint.model.running.reach import HowReached


class StartedFiles:
    """The files that take part in the starts of a project's scripts. `configurations` are the files, by entry script,
    that configure its only configured start."""

    def __init__(self, project: Project, launches: Launches, configurations: Mapping[str, Set[str]]) -> None:
        self._environments = {file.path for file in project.files if file.kind in ("dockerfile", "dependency")}
        self._by_entry = launches.by_entry
        self._configurations = configurations
        self._started_by: dict[str, set[str]] = defaultdict(set)
        for entry, of_entry in launches.by_entry.items():
            for launch in of_entry:
                self._started_by[launch.fact.path].add(entry)

    def of_launcher(self, path: str) -> Set[str]:
        """The entry scripts that the file starts; empty if it starts none of the project."""
        return self._started_by.get(path, frozenset())

    def how_held(self, fact: Fact, entry: str) -> HowReached:
        """Whether a fact from such a file holds when the entry script is started: surely, where the file is the entry
        itself, or belongs to its only start; not, where it is a launcher of other scripts; else maybe, for another
        launcher, configuration, image or environment may be used instead."""
        if fact.path == entry:
            return "surely"
        started = self.of_launcher(fact.path)
        if started and entry not in started:
            return "no"
        if fact.path in self._environments:
            return "maybe"
        launches = self._by_entry.get(entry, ())
        is_only_start = len(launches) == 1 and launches[0].sure
        if is_only_start and (started or fact.path in self._configurations.get(entry, ())):
            return "surely"
        return "maybe"
