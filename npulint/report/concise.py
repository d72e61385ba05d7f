"""One line per finding, for editors, problem matchers and grep."""

from __future__ import annotations

from npulint.findings import Related, RunResult
from npulint.report.summary import closing
from npulint.report.terminal import COLOR, Paint, harmless, leading
from npulint.report.view import View, visible


def render(result: RunResult, view: View) -> str:
    """``path:line:column: severity: message [name] (CODE)`` for each finding, then the summary. The
    severity is never translated, for programs match it."""
    paint = Paint(view.color)
    rows = []
    for finding in visible(result, view):
        place = f"{paint('bold', leading(finding.path))}:{finding.span.line}:{finding.span.column}:"
        severity = paint(COLOR[finding.severity], f"{finding.severity}:")
        rows.append(f"{place} {severity} {harmless(finding.message)} [{finding.name}] ({finding.code})")
        rows += [_related(paint, other) for other in finding.related if view.verbose]
    return "".join(f"{row}\n" for row in [*rows, *closing(result, view)])


def _related(paint: Paint, related: Related) -> str:
    """A further place of the finding above."""
    place = f"{leading(related.path)}:{related.span.line}:{related.span.column}"
    return f"  {place}: {paint('dim', harmless(related.message))}"
