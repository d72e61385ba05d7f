"""Calls of the host into CANN: what was compiled, waited for, copied and allocated while steps ran.

Source: `api_statistic*.csv` of msprof and torch_npu.
"""

from __future__ import annotations

from typing import BinaryIO

from npulint.facts.model import Fact, GenericFact, Span
from npulint.lazy_regex import lazy_compile
from npulint.read.artifacts.quantities import micro
from npulint.read.artifacts.rows import Seen, rows

_NAMES = 20_000
_TOP = 10
_GROUPS = (
    ("compile", lazy_compile(r"aclopCompile")),
    ("synchronize", lazy_compile(r"Synchronize")),
    ("copy", lazy_compile(r"Memcpy(?!.*Async)")),
    ("allocation", lazy_compile(r"\A(?:acl|aclrt|rt|Dev|Host)?(?:Malloc|Free)(?!.*Async)")),
)


def group_of(name: str) -> str:
    """What a call does to the host: compile, synchronize, copy (one that blocks), allocation; else nothing."""
    for group, pattern in _GROUPS:
        if pattern.search(name[:200]) is not None:
            return group
    return ""


class _Called:
    """All rows of one function, or of one group of functions."""

    def __init__(self) -> None:
        self.count = 0
        self.total = self.longest = 0.0
        self.line = 0
        self.example = ""

    def add(self, line: int, count: int, total: float, longest: float, name: str) -> None:
        self.count += count
        if not self.line or total > self.total:
            self.line, self.example = line, name
        self.total += total
        self.longest = max(self.longest, longest)


def read(stream: BinaryIO, path: str, seen: Seen) -> list[Fact]:
    """`run_api` for functions that are named in a group or among the ten longest of their level, `run_host` for each
    group. A function of the runtime lies within one of ACL: groups take ACL where it has rows."""
    calls: dict[tuple[str, str], _Called] = {}
    for line, row in rows(stream, "api_statistic", ("level", "name", "count", "total_us", "max_us"), seen):
        key = row.text["level"].lower(), row.text["name"]
        found = calls.get(key)
        if found is None and len(calls) < _NAMES:
            found = calls[key] = _Called()
        if found is not None:
            total = row.number["total_us"]
            found.add(line, int(row.number["count"]), total, row.number.get("max_us", total), key[1])
    return _of_calls(calls, path) + _of_groups(calls, path)


def _of_calls(calls: dict[tuple[str, str], _Called], path: str) -> list[Fact]:
    facts: list[Fact] = []
    ranks: dict[str, int] = {}
    for (level, name), found in sorted(calls.items(), key=lambda item: (-item[1].total, item[0])):
        rank = ranks[level] = ranks.get(level, 0) + 1
        group = group_of(name)
        if group or rank <= _TOP:
            attrs: dict[str, object] = {"level": level, "rank": rank, **_figures(found)}
            if group:
                attrs["group"] = group
            facts.append(GenericFact("run_api", name, path, Span.at(found.line), attrs))
    return facts


def _of_groups(calls: dict[tuple[str, str], _Called], path: str) -> list[Fact]:
    levels: dict[str, dict[str, _Called]] = {}
    largest: dict[tuple[str, str], float] = {}
    for (level, name), found in sorted(calls.items(), key=lambda item: (-item[1].total, item[0])):
        if group := group_of(name):
            whole = levels.setdefault(group, {}).setdefault(level, _Called())
            whole.count += found.count
            whole.total += found.total
            whole.longest = max(whole.longest, found.longest)
            if found.total > largest.get((group, level), -1.0):
                largest[group, level] = found.total
                whole.line, whole.example = found.line, name
    facts: list[Fact] = []
    for group, by_level in sorted(levels.items()):
        level = "acl" if "acl" in by_level else min(by_level)
        found = by_level[level]
        figures = _figures(found)
        attrs: dict[str, object] = {"from": "api_statistic", "example": found.example, "calls": figures.pop("count")}
        attrs.update(figures)
        facts.append(GenericFact("run_host", group, path, Span.at(found.line), attrs))
    return facts


def _figures(found: _Called) -> dict[str, object]:
    return {
        "count": found.count,
        "total_us": micro(found.total),
        "mean_us": micro(found.total / found.count) if found.count else 0.0,
        "max_us": micro(found.longest),
    }
