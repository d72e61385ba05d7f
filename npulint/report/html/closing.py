"""The end of the page: what was silenced, what was not read, and the figures of the run."""

from __future__ import annotations

from npulint import __version__
from npulint.report.html.charts import SEVERITIES
from npulint.report.html.markup import escape_html, inline_markdown, section, table
from npulint.report.html.overview import severities_by
from npulint.report.html.page import Page
from npulint.report.summary import fixable, reason
from npulint.texts import count, say

_ROWS = 2000  # of a table


def silenced(page: Page) -> str:
    """The findings that comments and the baseline keep out of the report; empty when there are none."""
    lang, found = page.lang, page.result.suppressed
    if not found:
        return ""
    rows = [
        [
            f'<span class="path">{page.place(one.finding.path, one.finding.span.line)}</span>',
            f"<code>{escape_html(one.finding.name)}</code>",
            inline_markdown(one.finding.message),
            say(lang, f"html.by.{one.by}"),
            _reason(one.reason, one.by, lang),
        ]
        for one in found[:_ROWS]
    ]
    heads = [say(lang, f"html.{word}") for word in ("place", "rule", "message", "by", "reason")]
    said = count(lang, "html.silenced", len(found))
    body = table(f'<span class="unseen">{said}</span>', heads, rows, "list") + _cut(len(found), lang)
    return section(
        "silenced", say(lang, "html.section.silenced"), f"<details><summary>{said}</summary>\n{body}</details>"
    )


def _reason(text: str, by: str, lang: str) -> str:
    if text:
        return inline_markdown(text)
    return f'<span class="muted">{say(lang, "html.no-reason")}</span>' if by == "comment" else ""


def unread(page: Page) -> str:
    """The files that were not read, or only in part, and why; empty when there are none."""
    lang, problems = page.lang, page.result.unreadable
    if not problems:
        return ""
    rows = []
    for problem in problems[:_ROWS]:
        kind = "fatal" if problem.fatal else "encoding" if problem.reason == "encoding" else "partly"
        rows.append(
            [
                f'<span class="path">{page.place(problem.path, problem.span.line)}</span>',
                say(lang, f"html.unread.{kind}"),
                reason(problem, lang),
                escape_html(problem.detail),
            ]
        )
    heads = [say(lang, f"html.{word}") for word in ("file", "status", "reason", "message")]
    said = f'<span class="unseen">{say(lang, "html.section.unread")}</span>'
    return section(
        "unread", say(lang, "html.section.unread"), table(said, heads, rows, "list") + _cut(len(problems), lang)
    )


def run(page: Page) -> str:
    """The figures of the run, and how many findings each check has."""
    lang, summary = page.lang, page.result.summary
    figures = [
        ("version", __version__),
        ("found", summary.files),
        ("read", summary.read),
        ("skipped", summary.skipped),
        ("findings", len(page.shown)),
        *(() if page.view.mended is not None else fixable(page.result.findings).items()),
        ("hidden", summary.hidden),
        ("comments", summary.suppressed),
        ("known", summary.known),
        ("root", page.paths.root),
    ]
    told = "".join(
        f"<div><dt>{say(lang, f'html.run.{name}')}</dt><dd>{escape_html(str(value))}</dd></div>"
        for name, value in figures
        if value != ""
    )
    below = len(page.result.findings) - len(page.shown)
    severity = say(lang, f"severity.{page.view.shown_from}")
    note = f"<p>{count(lang, 'html.below', below, severity=severity)}</p>" if below else ""
    return section("run", say(lang, "html.section.run"), f'<dl class="figures">{told}</dl>\n{note}{_counts(page)}')


def _counts(page: Page) -> str:
    lang = page.lang
    found = severities_by(page, lambda one: one.code)
    if not found:
        return ""
    names = {one.code: one.name for one in page.shown}
    rows = [
        [
            page.check(code, f"<code>{escape_html(names[code])}</code>"),
            escape_html(code),
            *(str(found[code][severity]) for severity in SEVERITIES),
            str(sum(found[code].values())),
        ]
        for code in sorted(found, key=lambda code: (-sum(found[code].values()), code))
    ]
    heads = [
        say(lang, "html.rule"),
        say(lang, "html.code"),
        *(say(lang, f"severity.{one}") for one in SEVERITIES),
        say(lang, "html.total"),
    ]
    said = say(lang, "html.counts")
    body = table(f'<span class="unseen">{said}</span>', heads, rows, "counts")
    return f"<details><summary>{said}</summary>\n{body}</details>"


def _cut(number: int, lang: str) -> str:
    return f'<p class="cut">{count(lang, "html.rows.cut", number - _ROWS)}</p>' if number > _ROWS else ""
