"""What a port leaves to a person."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher

import msgspec

from npulint.commands.port.model import OpenFinding
from npulint.judge.effort.estimate import needs_decision
from npulint.judge.findings import Finding
from npulint.judge.fix_results import FileChange, FixResult
from npulint.judge.settings import RANK
from npulint.report.fix_summary import why

_STEP = "mixed_precision"
_LAUNCHERS = ("tensorflow-launcher-for-gpus",)
"""The checks whose notes are left to a person if there is no launcher for the NPU."""
_COPIED = ("gpu-launcher-to-migrate", "framework-launcher-for-gpus")
"""Those whose notes are left to a person if the copy for the NPU was refused."""


def left_open(before: Sequence[Finding], fixes: FixResult, lang: str) -> tuple[OpenFinding, ...]:
    """The errors and warnings after the port, and notes about what only GPUs have, optimizers and mixed precision, most
    severe first, with the reasons of refused fixes. Those from `before` that no fix was made for are among them, even
    if the checks for ported code do not repeat them. Lines are those of the ported files."""
    refused = {(one.code, one.path): why(one, lang) for one in fixes.refused if one.reason != "not-named"}
    findings = [one for one in fixes.result.findings if _counts(one)]
    solved = {(fix.code, fix.path) for fix in fixes.fixed}
    copied = _copied(fixes)
    repeated = _Repeated(before, findings)
    changes = {file.path: file for file in fixes.files}
    for finding in before:
        refusal = finding.name in _COPIED and (finding.code, finding.path) in refused
        relevant = _counts(finding) or finding.name in _LAUNCHERS or refusal
        if (
            relevant
            and finding.path not in copied
            and (finding.code, finding.path) not in solved
            and finding not in repeated
        ):
            findings.append(_moved(finding, changes.get(finding.path)))
    findings.sort(key=lambda one: (-RANK[one.severity], one.path, one.span.line))
    findings = _once(findings)
    return tuple(OpenFinding(one, one.fix.because or refused.get((one.code, one.path), "")) for one in findings)


class _Repeated:
    """The findings from `before` a port that those `after` it tell as well: findings of the same check, or of one of
    the same topic that is for ported code only."""

    def __init__(self, before: Sequence[Finding], after: Sequence[Finding]) -> None:
        earlier = {(finding.code, place) for finding in before for place in _places(finding)}
        self._same = {(finding.code, place) for finding in after for place in _places(finding)}
        self._instead = {
            (finding.topic, finding.category, place)
            for finding in after
            for place in _places(finding)
            if (finding.code, place) not in earlier
        }

    def __contains__(self, one: Finding) -> bool:
        told = any((one.code, place) in self._same for place in _places(one))
        other = any((one.topic, one.category, place) in self._instead for place in _places(one))
        return one.topic == "parse" or told or other


def _once(findings: Sequence[Finding]) -> list[Finding]:
    """The findings without notes that another check has told: before and after a port checks judge the same image, the
    same kernel or the same notebook differently. Severe ones come first."""
    told: dict[tuple[str, str, int], str] = {}
    kept = []
    for finding in findings:
        first = told.setdefault((finding.topic, finding.path, finding.span.line), finding.code)
        if finding.severity != "note" or first == finding.code:
            kept.append(finding)
    return kept


def _copied(fixes: FixResult) -> set[str]:
    """The launchers for GPUs of which there is a copy for the NPU: they stay as they are."""
    new = {file.path for file in fixes.files if file.new}
    return {fix.path for fix in fixes.fixed if fix.path not in fix.paths and not new.isdisjoint(fix.paths)}


def _counts(finding: Finding) -> bool:
    """Whether a person should know of a finding that stays: also of a note whose fix does not fit for a reason, and of
    mixed precision, a step of the port with notes only."""
    return needs_decision(finding) or finding.topic == _STEP or bool(finding.fix.because)


def _places(finding: Finding) -> tuple[str, ...]:
    """The file of a finding, and its program if the file is code, whose other files a check may name instead."""
    return tuple(filter(None, (finding.path, finding.program if finding.path.endswith(".py") else "")))


def _moved(finding: Finding, change: FileChange | None) -> Finding:
    """The finding at the line that its own has after a change."""
    if change is None:
        return finding
    line = finding.span.line - 1
    compared = SequenceMatcher(None, change.before.split(b"\n"), change.after.split(b"\n"), autojunk=False)
    for _, first, last, begin, end in compared.get_opcodes():
        if first <= line < last:
            moved = min(begin + line - first, max(end - 1, begin)) - line
            span = msgspec.structs.replace(
                finding.span, line=finding.span.line + moved, end_line=finding.span.end_line + moved
            )
            return msgspec.structs.replace(finding, span=span)
    return finding
