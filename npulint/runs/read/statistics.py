"""Totals computed by profilers: time per operator type, and AI CPU nodes.

Sources: `op_statistic*.csv` and `aicpu*.csv` of msprof, `op_statistic.csv` of torch_npu."""

from __future__ import annotations

from collections.abc import Sequence
from typing import BinaryIO

from npulint.facts.kinds import fact_kind
from npulint.facts.model import Fact, FileFact, Span
from npulint.runs.read.families import Families, Family, family_of
from npulint.runs.read.kernel_sequences import OfComputing
from npulint.runs.read.kernel_words import core_of
from npulint.runs.read.quantities import micro, share
from npulint.runs.read.rows import Seen, rows

_TYPES = 5000
_SHOWN = 100
_COMMUNICATION = frozenset(("HCCL", "COMMUNICATION"))


@fact_kind("run_op_total")
class OperatorTotal(OfComputing):
    """An operator type in op_statistic: one fact for each core type that it runs on."""

    core: str
    count: int
    total_us: float
    mean_us: float
    max_us: float
    rank: int
    """By total time."""
    family: Family
    covered: bool = False
    """Whether a kernel table in the folder has the same information."""


@fact_kind("run_aicpu")
class AicpuNode(FileFact):
    """A node that the AI CPU computed (aicpu table)."""

    total_us: float
    max_us: float
    share: float
    """Of the table, in percent."""
    rank: int
    covered: bool = False
    """Whether a kernel table in the folder has the same information."""


class _Total:
    """The sum of the rows of one name; `line` is the row with the longest run."""

    def __init__(self) -> None:
        self.count = 0
        self.total = self.longest = 0.0
        self.line = 0

    def add(self, line: int, count: int, total: float, longest: float) -> None:
        self.count += count
        self.total += total
        if not self.line or longest > self.longest:
            self.longest, self.line = longest, line


def read_op_statistic(stream: BinaryIO, path: str, seen: Seen) -> list[Fact]:
    """A `run_op_total` for each type and core, longest first, and a `run_family` for each family of types. Shares
    exclude communication."""
    totals: dict[tuple[str, str], _Total] = {}
    for line, row in rows(stream, "op_statistic", ("type", "core", "count", "total_us", "max_us"), seen):
        key = row.text["type"], row.text.get("core", "")
        type_total = totals.get(key)
        if type_total is None and len(totals) < _TYPES:
            type_total = totals[key] = _Total()
        if type_total is not None:
            total = row.number["total_us"]
            type_total.add(line, int(row.number["count"]), total, row.number.get("max_us", total))
    computing = sum(type_total.total for (_, core), type_total in totals.items() if core not in _COMMUNICATION)
    facts: list[Fact] = []
    for rank, ((name, core), type_total) in enumerate(_longest(totals), 1):
        fact = OperatorTotal(
            name,
            path,
            Span.at(type_total.line),
            core=core,
            count=type_total.count,
            total_us=micro(type_total.total),
            mean_us=micro(type_total.total / type_total.count) if type_total.count else 0.0,
            max_us=micro(type_total.longest),
            share=None if core in _COMMUNICATION else share(type_total.total, computing),
            rank=rank,
            family=family_of(name),
        )
        facts.append(fact)
    return [*facts, *_families(totals, path, computing)]


def _families(totals: dict[tuple[str, str], _Total], path: str, computing: float) -> Sequence[Fact]:
    of_types: dict[str, float] = {}
    for (name, core), total in totals.items():
        if core not in _COMMUNICATION:
            of_types[name] = of_types.get(name, 0.0) + total.total
    ranks = {name: rank for rank, name in enumerate(sorted(of_types, key=lambda op: (-of_types[op], op)), 1)}
    families = Families()
    for (name, core), total in sorted(totals.items(), key=lambda item: (-item[1].total, item[0])):
        if name in ranks:
            families.add(name, core_of(core), ranks[name], total.count, total.total, total.longest, total.line, name)
    return families.facts(path, "op_statistic", computing)


def read_aicpu(stream: BinaryIO, path: str, seen: Seen) -> list[Fact]:
    """A `run_aicpu` for each node on the AI CPU, longest first."""
    totals: dict[tuple[str, str], _Total] = {}
    for line, row in rows(stream, "aicpu", ("name", "total_us"), seen):
        key = row.text["name"], ""
        if key in totals or len(totals) < _TYPES:
            totals.setdefault(key, _Total()).add(line, 1, row.number["total_us"], row.number["total_us"])
    aicpu_us = sum(total.total for total in totals.values())
    return [
        AicpuNode(
            name,
            path,
            Span.at(total.line),
            micro(total.total),
            micro(total.longest),
            share(total.total, aicpu_us),
            rank,
        )
        for rank, ((name, _), total) in enumerate(_longest(totals), 1)
    ]


def _longest(totals: dict[tuple[str, str], _Total]) -> list[tuple[tuple[str, str], _Total]]:
    return sorted(totals.items(), key=lambda item: (-item[1].total, item[0]))[:_SHOWN]
