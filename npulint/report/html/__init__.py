"""The HTML report: one self-contained page."""

from __future__ import annotations

from npulint.judge.findings import RunResult
from npulint.report.view import ReportView


def render(result: RunResult, view: ReportView) -> str:
    """The whole page."""
    from npulint.report.html.whole import whole  # imports modules that import others of this package

    return whole(result, view)
