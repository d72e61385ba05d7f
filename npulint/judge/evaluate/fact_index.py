"""Indexes queries by kind and name, to find the candidate facts of each query."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from npulint.facts.model import Fact
from npulint.judge.evaluate.match import Candidates, CompiledQuery
from npulint.model.code.index import FactTable
from npulint.recognizers.programs import Program

# Name patterns: ``*`` is one dotted segment, ``**`` any number of them.


@lru_cache(maxsize=2048)
def compiled(pattern: str) -> re.Pattern[str]:
    """The regular expression of a name pattern."""
    parts = re.split(r"(\*\*|\*)", pattern)
    body = "".join({"**": ".*", "*": "[^.]*"}.get(part, re.escape(part)) for part in parts)
    if pattern.endswith(".**"):
        body = body.removesuffix(r"\..*") + r"(?:\..*)?"
    if pattern.startswith("**."):
        body = r"(?:.*\.)?" + body.removeprefix(r".*\.")
    return re.compile(body.replace(r"\..*\.", r"\.(?:.*\.)?") + r"\Z", re.DOTALL)


@lru_cache(maxsize=50_000)
def matches(pattern: str, name: str) -> bool:
    """Whether a canonical name matches a pattern. Usual patterns need no regular expression."""
    if "*" not in pattern:
        return pattern == name
    if pattern.count("*") == 2 and pattern.endswith(".**"):
        return name == pattern[:-3] or name.startswith(pattern[:-2])
    if pattern.count("*") == 2 and pattern.startswith("**."):
        return name == pattern[3:] or name.endswith(pattern[2:])
    return compiled(pattern).match(name) is not None


@lru_cache(maxsize=2048)
def last_segment(pattern: str) -> str:
    """The literal last segment of a pattern; empty if it contains a star."""
    last = pattern.rpartition(".")[2]
    return "" if "*" in last else last


_Starred = tuple[str, int]  # a pattern and its number


class FactIndex:
    """Leaf queries by kind and name pattern. Each fact name is looked up once, because most queries are about names
    that the program does not have."""

    def __init__(self, queries: Iterable[CompiledQuery] = ()) -> None:
        self._kinds: dict[str, _Kind] = {}
        self._owners: list[CompiledQuery] = []  # query by pattern number
        self._programs: list[CompiledQuery] = []
        self._nameless: list[tuple[str, list[int]]] = []
        self._key = object()  # under which files keep their facts, sorted by what the index contains
        self.add(queries)

    def add(self, queries: Iterable[CompiledQuery]) -> None:
        """Index further queries, for the programs that come after."""
        for leaf in (leaf for query in queries for leaf in query.leaves()):
            if leaf.kind == "program":
                self._programs.append(leaf)
                continue
            kind = self._kinds.setdefault(leaf.kind, _Kind())
            for pattern in leaf.names or ("",):
                kind.add(pattern, len(self._owners))
                self._owners.append(leaf)
        self._nameless = [(name, kind.every) for name, kind in self._kinds.items() if kind.every]
        self._key = object()

    def candidates(self, program: Program) -> Candidates:
        """The facts of matching kind and name for every query that has any."""
        numbered: dict[int, list[Fact]] = {}
        several: set[int] = set()  # patterns that facts of several files match
        for part in program.index.tables:
            for number, facts in self._sorted(part).items():
                if number not in numbered:
                    numbered[number] = facts
                elif number in several:
                    numbered[number].extend(facts)
                else:
                    numbered[number] = [*numbered[number], *facts]
                    several.add(number)
        for name, numbers in self._nameless:
            if facts := program.index.of_kind(name):
                numbered.update(dict.fromkeys(numbers, facts))
                if not program.index.is_of_one_file(name):
                    several.update(numbers)
        by_leaf: dict[CompiledQuery, list[Fact]] = {leaf: [program.fact] for leaf in self._programs}
        of_one_file: set[CompiledQuery] = set()
        for number in sorted(numbered):
            leaf = self._owners[number]
            if leaf in by_leaf:
                by_leaf[leaf] = by_leaf[leaf] + numbered[number]
                of_one_file.discard(leaf)
            else:
                by_leaf[leaf] = numbered[number]
                if number not in several:
                    of_one_file.add(leaf)
        return Candidates(by_leaf, program.answers, of_one_file)

    def _sorted(self, part: FactTable) -> dict[int, list[Fact]]:
        """The facts of one file by the number of the name pattern that they match."""
        numbered: dict[int, list[Fact]] | None = part.known.get(self._key)
        if numbered is None:
            numbered = part.known[self._key] = {}
            for name, facts in part.items():
                kind = self._kinds.get(name)
                if kind is not None:
                    kind.sort(facts, numbered)
        return numbered


class _Kind:
    """The name patterns of one fact kind, by number; `every` match all names. Patterns with a star are indexed by a
    literal last or first segment, so that few are tried per name."""

    def __init__(self) -> None:
        self._named = False
        self.every: list[int] = []
        self._plain: dict[str, list[int]] = {}
        self._ends: dict[str, list[_Starred]] = {}
        self._begins: dict[str, list[_Starred]] = {}
        self._others: list[_Starred] = []
        self._known: dict[str, list[int]] = {}

    def add(self, pattern: str, number: int) -> None:
        """Add a pattern; an empty one matches every name."""
        self._known.clear()
        if not pattern:
            self.every.append(number)
            return
        self._named = True
        if "*" not in pattern:
            self._plain.setdefault(pattern, []).append(number)
        else:
            first, last = pattern.partition(".")[0], last_segment(pattern)
            if last:
                self._ends.setdefault(last, []).append((pattern, number))
            elif "*" not in first:
                self._begins.setdefault(first, []).append((pattern, number))
            else:
                self._others.append((pattern, number))

    def sort(self, facts: list[Fact], numbered: dict[int, list[Fact]]) -> None:
        """Append each fact to `numbered` under the patterns that its name matches."""
        if not self._named:
            return
        cached = self._known
        for fact in facts:
            numbers = cached.get(fact.name)
            if numbers is None:
                numbers = cached[fact.name] = self._fitting(fact.name)
            for number in numbers:
                numbered.setdefault(number, []).append(fact)

    def _fitting(self, name: str) -> list[int]:
        ends, begins = self._ends.get(name.rpartition(".")[2], ()), self._begins.get(name.partition(".")[0], ())
        starred = [*ends, *begins, *self._others]
        return self._plain.get(name, []) + [number for pattern, number in starred if matches(pattern, name)]
