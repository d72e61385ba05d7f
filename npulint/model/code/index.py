"""The index of a program's facts: by kind, and by kind and last segment of the name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from npulint.facts.model import Fact


class FactTable(dict[str, list[Fact]]):
    """The facts of one file by kind. Programs share files, so derived data is cached here: `known` is a cache with keys
    chosen by its users."""

    def __init__(self, kinds: dict[str, list[Fact]] | None = None) -> None:
        super().__init__(kinds or {})
        self.known: dict[Any, Any] = {}
        self._lasts: dict[str, dict[str, list[Fact]]] = {}

    def names(self, kind: str) -> frozenset[str]:
        """The names of the facts of a kind."""
        names: frozenset[str] | None = self.known.get(("names", kind))
        if names is None:
            names = self.known["names", kind] = frozenset([fact.name for fact in self.get(kind, ())])
        return names

    def named(self, kind: str, last: str) -> list[Fact]:
        """The facts of a kind whose name ends with the segment `last`."""
        return self.by_last(kind).get(last, [])

    def by_last(self, kind: str) -> dict[str, list[Fact]]:
        """The facts of a kind by the last segments of their names."""
        lasts = self._lasts.get(kind)
        if lasts is None:
            lasts = self._lasts[kind] = {}
            for fact in self.get(kind, ()):
                lasts.setdefault(fact.name.rpartition(".")[2], []).append(fact)
        return lasts


def table(facts: Iterable[Fact]) -> FactTable:
    """Facts by kind."""
    fact_table = FactTable()
    for fact in facts:
        fact_table.setdefault(fact.kind, []).append(fact)
    return fact_table


class Index:
    """All facts of several files together."""

    def __init__(self, tables: Sequence[FactTable]) -> None:
        self.tables = tables
        self._kinds: dict[str, list[Fact]] = {}
        self._lasts: dict[str, frozenset[str]] = {}  # by kind, the last segments of names
        self._with: dict[str, list[FactTable]] = {}  # by kind, the tables that have some
        for part in tables:
            for kind in part:
                if kind in self._with:
                    self._with[kind].append(part)
                else:
                    self._with[kind] = [part]

    def of_kind(self, kind: str) -> list[Fact]:
        """All facts of a kind; do not modify the list."""
        facts = self._kinds.get(kind)
        if facts is None:
            parts = self._with.get(kind, [])
            facts = parts[0][kind] if len(parts) == 1 else [fact for part in parts for fact in part[kind]]
            self._kinds[kind] = facts
        return facts

    def is_of_one_file(self, kind: str) -> bool:
        """Whether one file has all facts of a kind, so that `of_kind` gives the list of its table."""
        return len(self._with.get(kind, ())) == 1

    def release(self) -> None:
        """Free the lists of all files, which are made again when they are asked for: each of hundreds of programs has
        its own."""
        self._kinds.clear()
        self._lasts.clear()

    def names(self, kind: str) -> frozenset[str]:
        """The names of the facts of a kind."""
        return frozenset().union(*(part.names(kind) for part in self._with.get(kind, ())))

    def named(self, kind: str, last: str) -> list[Fact]:
        """The facts of a kind whose name ends with the segment `last`."""
        parts = self._with.get(kind, [])
        lasts = self._lasts.get(kind)
        if lasts is None:  # most names that are asked for do not occur
            lasts = self._lasts[kind] = frozenset().union(*(part.by_last(kind) for part in parts))
        return [fact for part in parts for fact in part.named(kind, last)] if last in lasts else []

    def kinds(self) -> list[str]:
        """The kinds that occur."""
        return sorted(self._with)
