"""Host calls into CANN while steps ran: compilation, synchronization, copies and allocations.

Source: `api_statistic*.csv` of msprof and torch_npu."""

from __future__ import annotations

from typing import BinaryIO

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.kinds import fact_kind
from npulint.facts.model import Fact, Span
from npulint.runs.read.frames import LineFact
from npulint.runs.read.quantities import micro
from npulint.runs.read.rows import Seen, rows

_NAMES = 20_000
_GROUPS = (
    ("compile", lazy_compile(r"aclopCompile")),
    ("synchronize", lazy_compile(r"Synchronize")),
    ("copy", lazy_compile(r"Memcpy(?!.*Async)")),
    ("allocation", lazy_compile(r"\A(?:acl|aclrt|rt|Dev|Host)?(?:Malloc|Free)(?!.*Async)")),
)


@fact_kind("run_host")
class HostActivity(LineFact, kw_only=True):
    """What the host did while steps ran; the name is compile synchronize copy (that blocks) or allocation
    (api_statistic), in a trace also dataloader sync_batch_norm garbage_collection and idle (of the device), in
    operator_details dataloader alone. A line is that of the longest."""

    traced: bool = False
    """Whether a trace shows it."""
    example: str
    """The function that takes longest."""
    calls: int
    total_us: float
    mean_us: float
    max_us: float
    share: float | None = None
    """In percent of the steps, where they are known."""
    per_step: float | None = None
    """Calls per step, where these are known."""
    working: bool | None = None
    """Of idle: whether the host ran operators during the longest."""


def group_of(name: str) -> str:
    """The group of a function: compile, synchronize, copy (blocking), allocation; else empty."""
    for group, pattern in _GROUPS:
        if pattern.search(name[:200]) is not None:
            return group
    return ""


class _Called:
    """The sums of the rows of one function or group."""

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
    """A `run_host` for each group of functions. Runtime functions are nested in ACL ones: groups use only ACL rows
    where there are any."""
    calls: dict[tuple[str, str], _Called] = {}
    for line, row in rows(stream, "api_statistic", ("level", "name", "count", "total_us", "max_us"), seen):
        key = row.text["level"].lower(), row.text["name"]
        called = calls.get(key)
        if called is None and len(calls) < _NAMES:
            called = calls[key] = _Called()
        if called is not None:
            total = row.number["total_us"]
            called.add(line, int(row.number["count"]), total, row.number.get("max_us", total), key[1])
    return _of_groups(calls, path)


def _of_groups(calls: dict[tuple[str, str], _Called], path: str) -> list[Fact]:
    levels: dict[str, dict[str, _Called]] = {}
    largest: dict[tuple[str, str], float] = {}
    for (level, name), called in sorted(calls.items(), key=lambda item: (-item[1].total, item[0])):
        if group := group_of(name):
            group_calls = levels.setdefault(group, {}).setdefault(level, _Called())
            group_calls.count += called.count
            group_calls.total += called.total
            group_calls.longest = max(group_calls.longest, called.longest)
            if called.total > largest.get((group, level), -1.0):
                largest[group, level] = called.total
                group_calls.line, group_calls.example = called.line, name
    chosen = {group: by_level["acl" if "acl" in by_level else min(by_level)] for group, by_level in levels.items()}
    return [
        HostActivity(
            group,
            path,
            Span.at(group_calls.line),
            example=group_calls.example,
            calls=group_calls.count,
            total_us=micro(group_calls.total),
            mean_us=micro(group_calls.total / group_calls.count) if group_calls.count else 0.0,
            max_us=micro(group_calls.longest),
        )
        for group, group_calls in sorted(chosen.items())
    ]
