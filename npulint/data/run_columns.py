"""Columns of profiler tables, under all names that they had over the years."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import msgspec

from npulint.data import lazy_table


class Column(msgspec.Struct, frozen=True, array_like=True):
    """One column of a form: its `key`, cell type (text, number, or optional: a number or ``N/A``), whether it is
    required, and its spellings, each with the year of the tool generation that it identifies (0: none). A column `any`
    only tells the form: a table has at least one of its spellings."""

    key: str
    cell: str
    needed: bool
    spellings: tuple[tuple[str, int], ...]


columns = lazy_table("run_columns.json", dict[str, tuple[Column, ...]])
"""The columns of each form."""


class Header(msgspec.Struct, frozen=True):
    """A parsed header: column index by key, the keys of numeric columns, those whose cells are mandatory, missing
    required keys, and the `generation` of the tools that wrote it (the latest year of its spellings)."""

    positions: dict[str, int]
    numbers: frozenset[str]
    required: frozenset[str]
    missing: tuple[str, ...]
    generation: int


USUAL = 2021
"""The generation if no spelling identifies one."""

FORMS = (
    "op_basic_info",
    *("kernel_table", "cluster_step_trace_time", "step_trace_time", "step_trace", "op_statistic", "api_statistic"),
    *("operator_details", "aicpu", "fusion_op", "task_time", "l2_cache", "memory_record", "module_memory"),
    *("operator_memory", "static_memory"),
    *("pipe_utilization", "resource_conflict", "arithmetic_utilization"),
    *("core_l2_cache", "core_memory", "core_memory_ub", "core_memory_l0"),
)
"""The recorded forms; if two match a header, the first is used."""


def plain(spelling: str) -> str:
    """A normalised heading: without case, blanks, underscores and quotes."""
    return "".join(spelling.strip('\ufeff"').split()).replace("_", "").lower()


def understand(form: str, cells: Sequence[str]) -> Header:
    """Map the cells of a header to the columns of `form`. Of a duplicate heading the first counts, unless the table
    asks for the second (``Name#2``)."""
    places: dict[str, int] = {}
    counts: dict[str, int] = {}
    for place, cell in enumerate(cells):
        name = plain(cell)
        count = counts[name] = counts.get(name, 0) + 1
        places.setdefault(name if count == 1 else f"{name}#{count}", place)
    exact = {cell.strip('\ufeff" \t') for cell in cells}
    positions: dict[str, int] = {}
    years = [0]
    for column in columns()[form]:
        for spelling, year in column.spellings:
            cell_place = places.get(plain(spelling))
            if cell_place is not None:
                positions.setdefault(column.key, cell_place)
                years.append(year if spelling in exact else 0)
    numbers = frozenset(column.key for column in columns()[form] if column.cell != "text")
    required = frozenset(column.key for column in columns()[form] if column.cell == "number")
    missing = tuple(column.key for column in columns()[form] if column.needed and column.key not in positions)
    return Header(positions, numbers, required, missing, max(years) or USUAL)


@cache
def _needed() -> dict[str, tuple[tuple[str, ...], ...]]:
    return {
        form: tuple(tuple(plain(text) for text, _ in column.spellings) for column in columns()[form] if column.needed)
        for form in FORMS
    }


def form_of_header(cells: Sequence[str]) -> str:
    """The form of a table with this header; empty if unknown."""
    names = {plain(cell) for cell in cells}
    for form, needed in _needed().items():
        if all(not names.isdisjoint(spellings) for spellings in needed):
            return form
    return ""
