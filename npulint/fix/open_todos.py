"""Keeps what a report asked for visible after fixes: a problem that no fix solved may be reported by another, less
severe check once the program is migrated."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from npulint.judge.findings import SEVERITIES, Finding
from npulint.judge.fix_results import Fixed

_Key = tuple[str, str, str]


def kept_open(first: Sequence[Finding], last: Sequence[Finding], fixed: Iterable[Fixed]) -> list[Finding]:
    """The findings after fixes (`last`). One that only appeared with the fixes gets the severity of the finding on the
    same subject in the same program that it takes the place of: one of those reported before (`first`) that no fix was
    made for."""
    solved = {(fix.code, fix.path) for fix in fixed}
    before = {(finding.code, finding.path) for finding in first}
    remaining = {(finding.code, finding.path) for finding in last}
    wanted: dict[_Key, str] = {}
    for finding in first:
        if (finding.code, finding.path) in solved or (finding.code, finding.path) in remaining:
            continue
        for key in _keys(finding):
            wanted[key] = max(finding.severity, wanted.get(key, finding.severity), key=SEVERITIES.index)
    return [finding if (finding.code, finding.path) in before else _raised(finding, wanted) for finding in last]


def _keys(finding: Finding) -> list[_Key]:
    """By what two findings on one subject belong together: the program, or the file."""
    return [(place, finding.topic, finding.category) for place in (finding.program, finding.path) if place]


def _raised(finding: Finding, wanted: dict[_Key, str]) -> Finding:
    severity = max([finding.severity, *(wanted[key] for key in _keys(finding) if key in wanted)], key=SEVERITIES.index)
    return finding if severity == finding.severity else msgspec.structs.replace(finding, severity=severity)
