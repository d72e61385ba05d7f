"""One line per finding, for editors, problem matchers and grep."""

from __future__ import annotations

from npulint.core.lazy_regex import lazy_compile
from npulint.judge.findings import Related, RunResult
from npulint.report.summary import closing
from npulint.report.terminal import COLOR, Paint, escape_control_chars, leading
from npulint.report.view import ReportView, visible

_PLACE = lazy_compile(":(?=[0-9]+:[0-9]+: (?:error|warning|note)(?::|\\Z))")
_FRAME = lazy_compile(r"[0-9]+ \|")


def render(result: RunResult, view: ReportView) -> str:
    """``path:line:column: severity: message [name] (CODE)`` per finding, then the summary. The severity is never
    translated, because programs match it."""
    paint = Paint(view.color)
    rows = []
    for finding in visible(result, view):
        place = f"{paint('bold', _path(finding.path))}:{finding.span.line}:{finding.span.column}:"
        severity = paint(COLOR[finding.severity], f"{finding.severity}:")
        rows.append(f"{place} {severity} {escape_control_chars(finding.message)} [{finding.name}] ({finding.code})")
        rows += [_related(paint, other) for other in finding.related if view.verbose]
    return "".join(f"{row}\n" for row in [*rows, *(() if view.quiet else closing(result, view))])


def _path(path: str) -> str:
    """A path that problem matchers do not mistake for a location with a message or a source line."""
    text = _PLACE.sub(r"\\x3a", leading(path))
    return f"./{text}" if _FRAME.match(text) else text


def _related(paint: Paint, related: Related) -> str:
    """A related location of the finding above."""
    place = f"{leading(related.path)}:{related.span.line}:{related.span.column}"
    return f"  {place}: {paint('dim', escape_control_chars(related.message))}"
