"""Notes that a report hides, in one line for each check."""

from __future__ import annotations

from npulint.core.texts import count, say
from npulint.judge.findings import RunResult
from npulint.judge.settings import RANK
from npulint.report.groups import grouped
from npulint.report.terminal import Paint, escape_control_chars
from npulint.report.view import ReportView

_LISTED = 8


def notes(result: RunResult, view: ReportView) -> list[str]:
    """A line for each check with most hidden findings, with its first place; empty if the report hides none."""
    lowest = RANK[view.shown_from]
    groups = grouped([finding for finding in result.findings if RANK[finding.severity] < lowest])
    groups.sort(key=lambda group: -group.places)
    if not groups:
        return []
    lines = [Paint(view.color)("bold", say(view.lang, "notes"))]
    for group in groups[:_LISTED]:
        first = group.first
        place = f"{escape_control_chars(first.path)}:{first.span.line}"
        lines.append(f"  {count(view.lang, 'first.places', group.places, name=first.name, place=place)}")
    if len(groups) > _LISTED:
        lines.append(f"  {count(view.lang, 'notes.more', len(groups) - _LISTED)}")
    return lines
