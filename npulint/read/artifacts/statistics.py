"""Totals that profilers themselves made: time per operator type, and what the AI CPU computed.

Sources: `op_statistic*.csv` and `aicpu*.csv` of msprof, `op_statistic.csv` of torch_npu.
"""

from __future__ import annotations

from typing import BinaryIO

from npulint.facts.model import Fact, GenericFact, Span
from npulint.read.artifacts.families import Families, family_of
from npulint.read.artifacts.kernel_words import core_of
from npulint.read.artifacts.quantities import micro, share
from npulint.read.artifacts.rows import Seen, rows

_TYPES = 5000
_SHOWN = 100
_COMMUNICATION = frozenset(("HCCL", "COMMUNICATION"))


class _Total:
    """What the rows of one name add up to; `line` is the row with the longest run."""

    def __init__(self) -> None:
        self.count = 0
        self.total = self.longest = self.dispatch = 0.0
        self.line = 0

    def add(self, line: int, count: int, total: float, longest: float) -> None:
        self.count += count
        self.total += total
        if not self.line or longest > self.longest:
            self.longest, self.line = longest, line


def read_op_statistic(stream: BinaryIO, path: str, seen: Seen) -> list[Fact]:
    """`run_op_total` for each type and core, the longest first, and `run_family` for each family of types. Shares leave
    communication out."""
    totals: dict[tuple[str, str], _Total] = {}
    for line, row in rows(stream, "op_statistic", ("type", "core", "count", "total_us", "max_us"), seen):
        key = row.text["type"], row.text.get("core", "")
        found = totals.get(key)
        if found is None and len(totals) < _TYPES:
            found = totals[key] = _Total()
        if found is not None:
            total = row.number["total_us"]
            found.add(line, int(row.number["count"]), total, row.number.get("max_us", total))
    whole = sum(found.total for (_, core), found in totals.items() if core not in _COMMUNICATION)
    facts = []
    for rank, ((name, core), found) in enumerate(_longest(totals), 1):
        attrs: dict[str, object] = {
            "core": core,
            "count": found.count,
            "total_us": micro(found.total),
            "mean_us": micro(found.total / found.count) if found.count else 0.0,
            "max_us": micro(found.longest),
            "rank": rank,
            "family": family_of(name),
            "covered": "no",
        }
        if core not in _COMMUNICATION:
            attrs["share"] = share(found.total, whole)
        facts.append(GenericFact("run_op_total", name, path, Span.at(found.line), attrs))
    return [*facts, *_families(totals, path, whole)]


def _families(totals: dict[tuple[str, str], _Total], path: str, whole: float) -> list[Fact]:
    of_types: dict[str, float] = {}
    for (name, core), found in totals.items():
        if core not in _COMMUNICATION:
            of_types[name] = of_types.get(name, 0.0) + found.total
    ranks = {name: rank for rank, name in enumerate(sorted(of_types, key=lambda one: (-of_types[one], one)), 1)}
    families = Families()
    for (name, core), found in sorted(totals.items(), key=lambda item: (-item[1].total, item[0])):
        if name in ranks:
            families.add(name, core_of(core), ranks[name], found.count, found.total, found.longest, found.line, name)
    return families.facts(path, "op_statistic", whole, {})


def read_aicpu(stream: BinaryIO, path: str, seen: Seen) -> list[Fact]:
    """`run_aicpu` for each node that the AI CPU computed, the longest first."""
    totals: dict[tuple[str, str], _Total] = {}
    for line, row in rows(stream, "aicpu", ("name", "total_us", "dispatch_us"), seen):
        key = row.text["name"], ""
        if key in totals or len(totals) < _TYPES:
            found = totals.setdefault(key, _Total())
            found.add(line, 1, row.number["total_us"], row.number["total_us"])
            found.dispatch += row.number.get("dispatch_us", 0.0)
    whole = sum(found.total for found in totals.values())
    facts: list[Fact] = []
    for rank, ((name, _), found) in enumerate(_longest(totals), 1):
        attrs: dict[str, object] = {
            "count": found.count,
            "total_us": micro(found.total),
            "max_us": micro(found.longest),
            "dispatch_us": micro(found.dispatch),
            "share": share(found.total, whole),
            "rank": rank,
            "covered": "no",
        }
        facts.append(GenericFact("run_aicpu", name, path, Span.at(found.line), attrs))
    return facts


def _longest(totals: dict[tuple[str, str], _Total]) -> list[tuple[tuple[str, str], _Total]]:
    return sorted(totals.items(), key=lambda item: (-item[1].total, item[0]))[:_SHOWN]
