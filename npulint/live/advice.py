"""Advice about waits in libraries: what their table says, instead of the check's general fix."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from npulint.core.texts import say
from npulint.judge.findings import Finding, Fix
from npulint.judge.summaries.step_summary import StepOperator, StepSummary, StepWait

_CHECK = "library-waits-for-the-npu"
_LISTED = 3


def with_remedies(findings: Sequence[Finding], step: StepSummary, lang: str) -> list[Finding]:
    """The findings, those about waits in libraries with what is known about these libraries, those about operators in
    libraries with the line there."""
    return [
        _advised(finding, step.waits, lang) if finding.name == _CHECK else _located(finding, step.operators, lang)
        for finding in findings
    ]


def _located(finding: Finding, operators: Iterable[StepOperator], lang: str) -> Finding:
    """The finding with the lines of libraries in its message, if only libraries call its operator there."""
    there = [
        row
        for row in operators
        if (row.path, row.line) == (finding.path, finding.span.line)
        and f"{row.name}.".startswith(f"{finding.subject}.")
    ]
    lines = list(dict.fromkeys(row.inside for row in there))
    if not finding.subject or not lines or "" in lines:
        return finding
    listed = say(lang, "list.and").join(f"`{line}`" for line in lines[:_LISTED])
    return msgspec.structs.replace(finding, message=finding.message + say(lang, "live.called-in", list=listed))


def _advised(finding: Finding, waits: Iterable[StepWait], lang: str) -> Finding:
    there = [wait for wait in waits if wait.inside and (wait.path, wait.line) == (finding.path, finding.span.line)]
    known = list(
        dict.fromkeys((wait.why, wait.remedy) for wait in there if wait.remedy and wait.name == finding.subject)
    )
    if not known:
        return finding
    sign = "" if lang == "zh" else " "
    why = sign.join(dict.fromkeys(text for text, _ in known[:_LISTED]))
    fix = sign.join(dict.fromkeys(text for _, text in known[:_LISTED]))
    return msgspec.structs.replace(finding, why=sign.join((why, finding.why)), fix=Fix(fix))
