"""The HTML report: one self-contained page."""

from __future__ import annotations

from collections.abc import Iterator

from npulint import __version__
from npulint.findings import RunResult
from npulint.report.document.html import markup
from npulint.report.document.model import Section
from npulint.report.html.assets import asset, icon, policy
from npulint.report.html.charts import patterns
from npulint.report.html.closing import fixed, run, silenced, unread
from npulint.report.html.findings import findings
from npulint.report.html.overview import overview
from npulint.report.html.page import Page
from npulint.report.html.programs import programs
from npulint.report.html.verdict import banner, compared_verdict, first, target, verdict
from npulint.report.view import ReportView
from npulint.texts import say

_LANGUAGES = {"en": "en", "zh": "zh-CN"}


def render(result: RunResult, view: ReportView) -> str:
    """The whole page. It is readable without scripts, loads nothing, and contains no timestamp."""
    page = Page(result, view)
    comparing = result.comparison if view.comparing else None
    answer = verdict(page) if comparing is None else compared_verdict(page, comparing)
    optional = dict(_optional(page))
    order = ("compared first overview" if comparing else "first overview step runs programs graphs compared").split()
    order += "findings fixed silenced unread run".split()
    parts = optional | {
        "first": first(page),
        "overview": overview(page) if page.shown or not comparing else "",
        "programs": "" if comparing else programs(page),
        "findings": findings(page),
        "fixed": fixed(page),
        "silenced": silenced(page),
        "unread": unread(page),
        "run": run(page),
    }
    shown = {name: parts[name] for name in order if parts.get(name)}
    lang, title = page.lang, say(page.lang, "compare.title.report" if comparing else "html.title")
    links = "".join(f'<li><a href="#{name}">{say(lang, f"html.section.{name}")}</a></li>' for name in shown)
    main = "\n".join(shown.values())
    of_runs = result.runs or result.step or (result.comparison is not None and result.comparison.runs is not None)
    more = [*(["runs.css"] if of_runs else []), *(["step.css"] if result.step else [])]
    style, script = "".join(map(asset, ("page.css", *more))), asset("page.js")
    return f"""<!DOCTYPE html>
<html lang="{_LANGUAGES[lang]}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy(style, script)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<meta name="generator" content="npulint {__version__}">
<title>{answer.heading} · {title}</title>
<link rel="icon" href="{icon(answer.tone)}">
<style>{style}</style>
</head>
<body>
<a class="skip" href="#findings">{say(lang, "html.skip")}</a>
{patterns()}
<header class="top"><div>
<h1>{title}</h1>
{target(page)}
</div></header>
<nav aria-label="{say(lang, "html.sections")}"><ul>{links}</ul></nav>
<main>
{banner(page, answer)}
{main}
</main>
<footer>npulint {__version__}</footer>
<script>{script}</script>
</body>
</html>
"""


def _optional(page: Page) -> Iterator[tuple[str, str]]:
    """The optional sections with their names."""
    if page.result.step is not None:
        from npulint.report.html.step import step

        yield "step", step(page, page.result.step)
    if page.result.runs:
        from npulint.report.html.runs import runs

        yield "runs", runs(page)
    if page.result.graphs:
        from npulint.report.graphs import table

        title = say(page.lang, "graphs.title")
        yield "graphs", markup(page, Section("graphs", title, [table(page.result.graphs, page.lang)]))
    if page.result.comparison is not None:
        from npulint.report.html.compared import compared

        yield "compared", compared(page)
