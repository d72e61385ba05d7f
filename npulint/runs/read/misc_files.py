"""Run artifacts that are only counted: rank groups, module trees, profiler settings, summaries, advice, some tables.

Sources: `communication_group.json` of msprof-analyze, `construct.json` of msprobe, `sample.json` and `info.json` of
msprof, summaries of training traces printed by scripts of 2020, `advisor*.txt` of msaccucmp and msprobe."""

from __future__ import annotations

from typing import BinaryIO

from npulint.core.lazy_regex import lazy_compile
from npulint.data.run_columns import columns
from npulint.facts.model import Fact
from npulint.runs.read.json_objects import LIMIT, documents
from npulint.runs.read.rows import Seen, rows

_LINE = 1 << 16
_SUMMARY = lazy_compile(rb"[A-Za-z]\w{0,40}: ?\d")


def read_json(stream: BinaryIO, path: str, seen: Seen) -> list[Fact]:
    """No facts; counts groups, modules or settings. Files over 64 MB are not read. Raises `ValueError`."""
    data = stream.read(LIMIT + 1)
    if len(data) > LIMIT:
        seen.note = "unread"
        return []
    for _, _, value in documents(data.decode("utf-8-sig", "replace")):
        if seen.form == "communication_group" and isinstance(value, dict):
            seen.rows += sum(len(group) for group in value.values() if isinstance(group, list | dict))
        elif isinstance(value, list | dict):
            seen.rows += len(value)
    return []


def read_summary(stream: BinaryIO, path: str, seen: Seen) -> list[Fact]:
    """No facts, because the summaries are means of an unknown number of iterations; counts their lines."""
    while text := stream.readline(_LINE):
        seen.rows += bool(_SUMMARY.match(text))
    return []


def read_advice(stream: BinaryIO, path: str, seen: Seen) -> list[Fact]:
    """No facts; counts lines."""
    while text := stream.readline(_LINE):
        seen.rows += bool(text.strip())
    return []


def read_table(stream: BinaryIO, path: str, seen: Seen) -> list[Fact]:
    """No facts; counts rows."""
    for _ in rows(stream, seen.form, [column.key for column in columns()[seen.form]], seen):
        pass
    return []
