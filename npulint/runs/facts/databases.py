"""A profile that was exported both as tables and as a database: the tables speak, because they have lines."""

from __future__ import annotations

from collections.abc import Iterable

from npulint.facts.model import Fact
from npulint.runs.facts.profiles import folder_of
from npulint.runs.read.source_fact import RunSource

_OF_KERNELS = frozenset("run_kernels run_op run_family run_pair run_repeated run_small run_gaps".split())


def tables_first(facts: Iterable[Fact]) -> list[Fact]:
    """The facts, without those of a database that a table in its folder or below tells as well."""
    facts = list(facts)
    databases = {fact.path for fact in facts if isinstance(fact, RunSource) and fact.form == "database"}
    if not databases:
        return facts
    told = {(folder, _kind(fact)) for fact in facts if fact.path not in databases for folder in _above(fact.path)}
    return [
        fact
        for fact in facts
        if fact.path not in databases or isinstance(fact, RunSource) or (folder_of(fact.path), _kind(fact)) not in told
    ]


def _kind(fact: Fact) -> str:
    return "run_kernels" if fact.kind in _OF_KERNELS else fact.kind


def _above(path: str) -> list[str]:
    """The folder of a file, and all those that it lies in but the topmost."""
    folder = folder_of(path)
    above = [folder]
    while "/" in folder:
        folder = folder_of(folder)
        above.append(folder)
    return above
