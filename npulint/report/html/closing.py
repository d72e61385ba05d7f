"""The last sections of the page: fixes, suppressed findings, unread files, figures of the run."""

from __future__ import annotations

from npulint import __version__
from npulint.core.texts import count, say
from npulint.facts.model import Span
from npulint.report.document.model import Cell, CodeCell, Folded, Note, PlaceCell, Prose, Section, Table
from npulint.report.html.charts import SEVERITIES
from npulint.report.html.document import markup
from npulint.report.html.markup import escape_html, identifier, section
from npulint.report.html.overview import severities_by
from npulint.report.html.page import Page
from npulint.report.summary import fixable, reason


def fixed(page: Page) -> str:
    """The applied and refused fixes of --fix; empty if none."""
    lang, done = page.lang, page.view.applied
    if done is None:
        return ""
    from npulint.report.fix_summary import headline, why

    safety = {"unsafe": say(lang, "applicability.unsafe")}
    rows: list[list[Cell]] = [
        [
            PlaceCell(fix.path, Span(fix.line)),
            CodeCell(fix.name),
            say(lang, "html.fixed.done"),
            safety.get(fix.applicability, ""),
        ]
        for fix in done.fixed
    ]
    rows += [
        [
            PlaceCell(refusal.path, Span(refusal.line)),
            CodeCell(refusal.name),
            say(lang, "html.fixed.refused"),
            why(refusal, lang),
        ]
        for refusal in done.refused
    ]
    return _folded(page, "fixed", headline(done, 0, page.view), "place rule status reason", rows)


def silenced(page: Page) -> str:
    """The findings that comments and the baseline suppress; empty if none."""
    lang, found = page.lang, page.result.suppressed
    if not found:
        return ""
    unnamed = {"comment": Note(say(lang, "html.no-reason"))}
    rows: list[list[Cell]] = [
        [
            PlaceCell(suppressed_finding.finding.path, suppressed_finding.finding.span),
            CodeCell(suppressed_finding.finding.name),
            Prose(suppressed_finding.finding.message),
            say(lang, f"html.by.{suppressed_finding.by}"),
            Prose(suppressed_finding.reason) if suppressed_finding.reason else unnamed.get(suppressed_finding.by, ""),
        ]
        for suppressed_finding in found
    ]
    return _folded(page, "silenced", count(lang, "html.silenced", len(found)), "place rule message by reason", rows)


def _folded(page: Page, name: str, summary: str, heads: str, rows: list[list[Cell]]) -> str:
    """A section with a table that is collapsed below its `summary`."""
    table = Table(summary, [say(page.lang, f"html.{word}") for word in heads.split()], rows)
    return markup(
        page, Section(name, say(page.lang, f"html.section.{name}"), [Folded(summary, [table] if rows else [])])
    )


def unread(page: Page) -> str:
    """The files that were not or only partly read, with reasons; empty if none."""
    lang, problems = page.lang, page.result.unreadable
    if not problems:
        return ""
    rows: list[list[Cell]] = []
    for problem in problems:
        kind = "fatal" if problem.fatal else "encoding" if problem.reason == "encoding" else "partly"
        rows.append(
            [
                PlaceCell(problem.path, problem.span),
                say(lang, f"html.unread.{kind}"),
                reason(problem, lang),
                problem.detail,
            ]
        )
    title = say(lang, "html.section.unread")
    heads = [say(lang, f"html.{word}") for word in ("file", "status", "reason", "message")]
    return markup(page, Section("unread", title, [Table(title, heads, rows)]))


def run(page: Page) -> str:
    """The figures of the run and the number of findings per check."""
    lang, summary = page.lang, page.result.summary
    figures = [
        ("version", __version__),
        ("found", summary.files),
        ("read", summary.read),
        ("skipped", summary.skipped),
        ("findings", len(page.shown)),
        *(() if page.view.applied is not None else fixable(page.result.findings).items()),
        ("hidden", summary.hidden),
        ("comments", summary.suppressed),
        ("known", summary.known),
        ("root", page.paths.root),
    ]
    facts = "".join(
        f"<div><dt>{say(lang, f'html.run.{name}')}</dt><dd>{escape_html(str(value))}</dd></div>"
        for name, value in figures
        if value != ""
    )
    below = len(page.result.findings) - len(page.shown)
    severity = say(lang, f"severity.{page.view.shown_from}")
    note = f"<p>{count(lang, 'html.below', below, severity=severity)}</p>" if below else ""
    return section("run", say(lang, "html.section.run"), f'<dl class="figures">{facts}</dl>\n{note}{_counts(page)}')


def _counts(page: Page) -> str:
    lang = page.lang
    found = severities_by(page, lambda finding: finding.code)
    names = {finding.code: finding.name for finding in page.shown}
    rows: list[list[Cell]] = [
        [
            CodeCell(names[code], f"#{identifier('check', code)}"),
            code,
            *(str(found[code][severity]) for severity in SEVERITIES),
            str(sum(found[code].values())),
        ]
        for code in sorted(found, key=lambda code: (-sum(found[code].values()), code))
    ]
    keys = ("html.rule", "html.code", *(f"severity.{one}" for one in SEVERITIES), "html.total")
    heading = say(lang, "html.counts")
    table = Table(heading, [say(lang, key) for key in keys], rows, "counts")
    return markup(page, Folded(heading, [table])) if rows else ""
