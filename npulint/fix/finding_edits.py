"""The edits of findings, for reports that show them."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from npulint.discover.safe_open import read_regular
from npulint.fix.code_actions import DecodedFiles, edits_of
from npulint.fix.model import FixRefused
from npulint.judge.findings import Finding, RunResult
from npulint.judge.settings import Settings
from npulint.read.files import LIMIT


def with_edits(result: RunResult, settings: Settings) -> RunResult:
    """The result with the fix edits of each finding, computed for the current files."""
    files = DecodedFiles(_reading(settings.piped()))
    findings: list[Finding] = []
    for finding in result.findings:
        if finding.fix.changes:
            try:
                edits = edits_of(finding, files, unsafe=True)
            except FixRefused:
                edits = ()
            finding = msgspec.structs.replace(finding, fix=msgspec.structs.replace(finding.fix, edits=edits))
        findings.append(finding)
    return msgspec.structs.replace(result, findings=findings)


def _reading(piped: dict[str, bytes]) -> Callable[[str], bytes | None]:
    def bytes_of(path: str) -> bytes | None:
        if path in piped:
            return piped[path]
        try:
            return read_regular(path, LIMIT)
        except (OSError, ValueError):
            return None

    return bytes_of
