"""Findings of programs with several ranks: those that not all ranks have say so."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import msgspec

from npulint.core.texts import say
from npulint.facts.graph import Graph
from npulint.judge.findings import Finding

Judge = Callable[[Graph], Sequence[Finding]]
_Key = tuple[str, str, int, str]


def with_ranks(
    findings: Iterable[Finding], ranks: Sequence[tuple[tuple[int, ...], Graph]], judge: Judge, lang: str
) -> list[Finding]:
    """The findings, with the ranks of those that only some have. `ranks` are the graphs of ranks that differ, `judge`
    finds what is wrong with one."""
    kept = list(findings)
    if not ranks or not kept:
        return kept
    having: dict[_Key, list[int]] = {}
    for numbers, graph in ranks:
        for key in set(map(_key, judge(graph))):
            having.setdefault(key, []).extend(numbers)
    every = {number for numbers, _ in ranks for number in numbers}
    return [_said(finding, sorted(having.get(_key(finding), ())), every, lang) for finding in kept]


def _key(finding: Finding) -> _Key:
    return finding.code, finding.path, finding.span.line, finding.subject


def _said(finding: Finding, having: Sequence[int], every: set[int], lang: str) -> Finding:
    if not having or set(having) == every:
        return finding
    text = say(lang, "try.rank", text=finding.message, ranks=", ".join(map(str, having)))
    return msgspec.structs.replace(finding, message=text)
