"""Checkstyle XML for Jenkins, reviewdog and editors; contains visible findings only."""

from __future__ import annotations

from itertools import groupby

from npulint.judge.findings import Finding, RunResult
from npulint.report.view import ReportView, visible
from npulint.report.xmltext import DECLARATION, element

_VERSION = "4.3"  # of the format; the latest
_SEVERITY = {"error": "error", "warning": "warning", "note": "info"}


def render(result: RunResult, view: ReportView) -> str:
    """A ``file`` element per file with findings, with an ``error`` element per finding."""
    findings = sorted(visible(result, view), key=lambda finding: finding.path)
    files = [
        element("file", {"name": path}, "".join(map(_error, group)), "  ")
        for path, group in groupby(findings, key=lambda finding: finding.path)
    ]
    return DECLARATION + element("checkstyle", {"version": _VERSION}, "".join(files))


def _error(finding: Finding) -> str:
    attributes: dict[str, str | int] = {
        "line": max(1, finding.span.line),
        "column": max(1, finding.span.column),
        "severity": _SEVERITY[finding.severity],
        "message": finding.message,
        "source": f"npulint.{finding.code}",
    }
    return element("error", attributes, indent="    ")
