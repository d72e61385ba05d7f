"""What totals say again that a table of single kernels beside them tells better."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from npulint.facts.model import Fact
from npulint.runs.facts.profiles import folder_of
from npulint.runs.read.families import OperatorFamily
from npulint.runs.read.kernel_gaps import KernelGaps
from npulint.runs.read.kernels import KernelTable
from npulint.runs.read.statistics import AicpuNode, OperatorTotal
from npulint.runs.read.steps import StepBreakdown

_TOTALS = (OperatorFamily, OperatorTotal, AicpuNode)


def with_covered(facts: Iterable[Fact]) -> list[Fact]:
    """The facts, in their order; those of totals (op_statistic, aicpu) are `covered` where a kernel table with
    operators lies in their folder, gaps between kernels where the steps are."""
    facts = list(facts)
    tables = {fact.path for fact in facts if isinstance(fact, KernelTable) and fact.level == "operators"}
    folders = {folder_of(path) for path in tables}
    stepped = {folder_of(fact.path) for fact in facts if isinstance(fact, StepBreakdown)}
    return [
        msgspec.structs.replace(fact, covered=True)
        if (isinstance(fact, _TOTALS) and not _of_kernels(fact, tables) and folder_of(fact.path) in folders)
        or (isinstance(fact, KernelGaps) and folder_of(fact.path) in stepped)
        else fact
        for fact in facts
    ]


def _of_kernels(fact: Fact, tables: set[str]) -> bool:
    """Whether it tells of a kernel table, perhaps of another slice of it."""
    return fact.path in tables or (isinstance(fact, OperatorFamily) and fact.form == "kernel_table")
