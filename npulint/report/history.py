"""Earlier reports, read from JSON reports, and what has changed since then."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import msgspec

from npulint.judge.findings import Finding, RunResult


class PastFinding(msgspec.Struct, frozen=True):
    """A finding of an earlier report; the fields are keys of the JSON report."""

    code: str
    name: str
    severity: str
    path: str
    line: int
    message: str
    fingerprint: str = ""

    @property
    def key(self) -> str:
        """What tells whether a finding is the same in two reports."""
        return self.fingerprint or f"{self.code} {self.path} {self.message}"


class PastItem(msgspec.Struct, frozen=True):
    """A readiness item of an earlier report."""

    status: str = ""


class PastProgram(msgspec.Struct, frozen=True):
    """A program of an earlier report."""

    checklist: tuple[PastItem, ...] = ()


class PastReport(msgspec.Struct, frozen=True):
    """An earlier report; `label` names it."""

    findings: tuple[PastFinding, ...]
    programs: tuple[PastProgram, ...] = ()
    label: str = ""

    def severities(self) -> Counter[str]:
        """The numbers of findings by severity."""
        return Counter(finding.severity for finding in self.findings)

    def items(self) -> tuple[int, int]:
        """How many readiness items pass, and how many there are."""
        statuses = [item.status for program in self.programs for item in program.checklist]
        return statuses.count("passed"), len(statuses)


class _Version(msgspec.Struct, frozen=True):
    version: int
    findings: msgspec.Raw


class Changes(msgspec.Struct, frozen=True):
    """What has changed since an earlier report: findings that are `new`, and earlier ones that are `fixed` or, by a
    comment or the baseline, `accepted`. `left` counts those that are still there."""

    new: tuple[Finding, ...]
    fixed: tuple[PastFinding, ...]
    accepted: tuple[PastFinding, ...]
    left: int


def decoded(data: bytes, label: str) -> PastReport:
    """The report in a JSON report of version 1. Raises `ValueError` for anything else."""
    try:
        if msgspec.json.decode(data, type=_Version).version != 1:
            raise ValueError("another version")
        return msgspec.structs.replace(msgspec.json.decode(data, type=PastReport), label=label)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(str(error)) from error


def current(result: RunResult, findings: Sequence[Finding], label: str) -> PastReport:
    """The present report, for a row beside earlier ones."""
    rows = tuple(map(_past, findings))
    programs = tuple(
        PastProgram(tuple(PastItem(item.status) for item in program.checklist)) for program in result.programs
    )
    return PastReport(rows, programs, label)


def changes_since(past: PastReport, result: RunResult, findings: Sequence[Finding]) -> Changes:
    """What has changed; `findings` are those of the result that the report shows."""
    before = Counter(past_finding.key for past_finding in past.findings)
    new = []
    for finding in findings:
        key = _past(finding).key
        if before[key]:
            before[key] -= 1
        else:
            new.append(finding)
    there = Counter(_past(finding).key for finding in result.findings)
    silenced = Counter(_past(suppressed_finding.finding).key for suppressed_finding in result.suppressed)
    fixed, accepted = [], []
    for old in past.findings:
        if there[old.key]:
            there[old.key] -= 1
        elif silenced[old.key]:
            silenced[old.key] -= 1
            accepted.append(old)
        else:
            fixed.append(old)
    left = len(past.findings) - len(fixed) - len(accepted)
    return Changes(tuple(new), tuple(fixed), tuple(accepted), left)


def _past(finding: Finding) -> PastFinding:
    return PastFinding(
        finding.code,
        finding.name,
        finding.severity,
        finding.path,
        finding.span.line,
        finding.message,
        finding.fingerprint,
    )
