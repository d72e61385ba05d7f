"""What has changed since earlier reports or since the baseline was written, and how the numbers have developed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from npulint.core.texts import count, say
from npulint.facts.model import Span
from npulint.judge.findings import BaselineEntry
from npulint.report.document.model import Block, Cell, CodeCell, Folded, Paragraph, PlaceCell, Prose, Section, Table
from npulint.report.history import Changes, PastFinding, PastReport, changes_since, current
from npulint.report.html.charts import SEVERITIES, chart
from npulint.report.html.document import markup
from npulint.report.html.page import Page

_REPORTS = 20  # of the trend


def changes(page: Page) -> str:
    """The section about changes; empty without earlier reports and without a baseline."""
    blocks = [*_of_reports(page), *_of_baseline(page)]
    return markup(page, Section("changes", say(page.lang, "html.section.changes"), blocks)) if blocks else ""


def share_done(page: Page) -> tuple[int, int] | None:
    """How many findings of the first report are fixed, and how many it had; None without one."""
    if not page.view.history:
        return None
    first = page.view.history[0]
    return len(changes_since(first, page.result, page.shown).fixed), len(first.findings)


def _of_reports(page: Page) -> Iterator[Block]:
    history, lang = page.view.history, page.lang
    if not history:
        return
    changes = changes_since(history[-1], page.result, page.shown)
    yield Paragraph(
        say(
            lang,
            "html.changes.since",
            label=history[-1].label,
            new=len(changes.new),
            fixed=len(changes.fixed),
            accepted=len(changes.accepted),
            left=changes.left,
        )
    )
    done = share_done(page)
    if done is not None and done[1] and len(history) > 1:
        yield Paragraph(count(lang, "html.changes.done", done[1], share=100 * done[0] // done[1]))
    yield _trend([*history, current(page.result, page.shown, say(lang, "html.changes.now"))][-_REPORTS:], lang)
    yield from _lists(changes, lang)


def _trend(reports: Sequence[PastReport], lang: str) -> Table:
    """A row for each report: its findings by severity, and how many readiness items pass."""
    rows = [(report.label, report.severities()) for report in reports]
    table = chart(say(lang, "html.changes.trend"), say(lang, "html.changes.report"), rows, SEVERITIES, lang)
    counted = map(PastReport.items, reports)
    items = [say(lang, "html.of", part=passed, n=number) if number else "" for passed, number in counted]
    cells: list[list[Cell]] = [[*row, text] for row, text in zip(table.rows, items, strict=True)]
    return Table(table.title, [*table.heads, say(lang, "html.changes.items")], cells, "chart trend", titled=True)


def _lists(changes: Changes, lang: str) -> Iterator[Block]:
    new: list[list[Cell]] = [
        [PlaceCell(finding.path, finding.span, code=finding.code), CodeCell(finding.name), Prose(finding.message)]
        for finding in changes.new
    ]
    for name, rows in (("new", new), ("fixed", _past(changes.fixed)), ("accepted", _past(changes.accepted))):
        if rows:
            yield _folded(name, rows, lang)


def _past(some: Iterable[PastFinding]) -> list[list[Cell]]:
    return [
        [
            PlaceCell(past_finding.path, Span.at(past_finding.line)),
            CodeCell(past_finding.name),
            Prose(past_finding.message),
        ]
        for past_finding in some
    ]


def _folded(name: str, rows: list[list[Cell]], lang: str) -> Folded:
    summary = count(lang, f"html.changes.{name}", len(rows))
    heads = [say(lang, f"html.{word}") for word in ("place", "rule", "message")]
    return Folded(summary, [Table(summary, heads, rows)])


def _of_baseline(page: Page) -> Iterator[Block]:
    baseline, lang = page.result.baseline, page.lang
    if baseline is None:
        return
    fixed = sum(baseline_entry.count for baseline_entry in [*baseline.fixed, *baseline.stale])
    in_baseline = page.result.summary.known
    yield Paragraph(say(lang, "html.changes.baseline", new=len(page.shown), fixed=fixed, known=in_baseline))
    rows = _entries(baseline.fixed)
    if rows:
        yield _folded("fixed", rows, lang)


def _entries(entries: Iterable[BaselineEntry]) -> list[list[Cell]]:
    return [[PlaceCell(entry.path), CodeCell(entry.check), Prose(entry.message or entry.line)] for entry in entries]
