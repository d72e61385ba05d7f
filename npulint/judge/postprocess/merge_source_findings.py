"""Merges findings of source checks on one line: what remains to be done there once another finding is fixed.

A check names in `joins` the checks into whose findings its own are merged where both report the same line: the message
and the advice are added to theirs. Once that finding is fixed, its own is reported by itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from npulint.core.texts import say
from npulint.judge.catalogue.check import GRAPH, RUN, Catalogue
from npulint.judge.findings import Finding


def merge_source_findings(findings: Sequence[Finding], catalogue: Catalogue, lang: str) -> list[Finding]:
    """The findings, with those merged into others of their line whose checks theirs joins."""
    joins = {check.code: check.joins for check in catalogue.checks if check.joins and check.family not in (GRAPH, RUN)}
    hosts = _hosts(findings, joins)
    merged: dict[int, list[Finding]] = {}
    for finding in findings:
        host = _host(finding, joins, hosts)
        if host is not None:
            merged.setdefault(id(host), []).append(finding)
    gone = {id(finding) for more in merged.values() for finding in more}
    return [_with(finding, merged.get(id(finding), ()), lang) for finding in findings if id(finding) not in gone]


def _hosts(findings: Sequence[Finding], joins: Mapping[str, Sequence[str]]) -> dict[tuple[str, str, int], Finding]:
    """The findings that others may be merged into, by code and line."""
    codes = {code for named in joins.values() for code in named}
    return {(finding.code, finding.path, finding.span.line): finding for finding in findings if finding.code in codes}


def _host(
    finding: Finding, joins: Mapping[str, Sequence[str]], hosts: Mapping[tuple[str, str, int], Finding]
) -> Finding | None:
    places = ((code, finding.path, finding.span.line) for code in joins.get(finding.code, ()))
    return next((hosts[place] for place in places if place in hosts), None)


def _with(finding: Finding, more: Sequence[Finding], lang: str) -> Finding:
    """A finding with the messages and the advice of others, if they say something else."""
    for other in (other for other in more if other.message != finding.message):
        message = say(lang, "merged.also", first=finding.message, other=other.message)
        advice = say(lang, "merged.also", first=finding.fix.text, other=other.fix.text)
        wording = say(lang, "merged.also", first=finding.wording, other=other.message) if finding.wording else ""
        finding = msgspec.structs.replace(
            finding, message=message, wording=wording, fix=msgspec.structs.replace(finding.fix, text=advice)
        )
    return finding
