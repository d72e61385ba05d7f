"""What totals say again that a table of single kernels beside them tells better."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from npulint.facts.model import Fact

_TOTALS = frozenset(("run_family", "run_op_total", "run_aicpu"))


def with_covered(facts: Iterable[Fact]) -> list[Fact]:
    """The facts, in their order; those of totals (op_statistic, aicpu) are `covered` where a kernel table with
    operators lies in their folder."""
    facts = list(facts)
    tables = {one.path for one in facts if one.kind == "run_kernels" and one.attrs["level"] == "operators"}
    folders = {_folder(path) for path in tables}
    return [
        msgspec.structs.replace(one, attrs={**one.attrs, "covered": "yes"})
        if one.kind in _TOTALS and one.path not in tables and _folder(one.path) in folders and not _of_kernels(one)
        else one
        for one in facts
    ]


def _of_kernels(fact: Fact) -> bool:
    """Whether it tells of a kernel table, perhaps of another slice of it."""
    return bool(fact.attrs.get("form") == "kernel_table")


def _folder(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[0]
