"""The index of a program's facts: by kind, and by kind and last segment of the name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from npulint.facts.model import Fact

FactTable = dict[str, list[Fact]]


def table(facts: Iterable[Fact]) -> FactTable:
    """Facts by kind."""
    found: FactTable = {}
    for fact in facts:
        found.setdefault(fact.kind, []).append(fact)
    return found


class Index:
    """All facts of several files together."""

    def __init__(self, tables: Sequence[FactTable]) -> None:
        self._kinds: FactTable = {}
        for part in tables:
            for kind, facts in part.items():
                self._kinds.setdefault(kind, []).extend(facts)
        self._names: dict[str, FactTable] = {}

    def of_kind(self, kind: str) -> list[Fact]:
        """All facts of a kind."""
        return self._kinds.get(kind, [])

    def named(self, kind: str, last: str) -> list[Fact]:
        """The facts of a kind whose name ends with the segment `last`."""
        return self.by_last(kind).get(last, [])

    def by_last(self, kind: str) -> FactTable:
        """The facts of a kind by the last segments of their names."""
        names = self._names.get(kind)
        if names is None:
            names = self._names[kind] = {}
            for fact in self.of_kind(kind):
                names.setdefault(fact.name.rpartition(".")[2], []).append(fact)
        return names

    def kinds(self) -> list[str]:
        """The kinds that occur."""
        return sorted(self._kinds)
