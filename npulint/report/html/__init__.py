"""The HTML report: one page that holds everything it needs, for the engineer and for who waits for him."""

from __future__ import annotations

import msgspec

from npulint import __version__
from npulint.findings import RunResult
from npulint.report.html.assets import asset, icon, policy
from npulint.report.html.charts import patterns
from npulint.report.html.closing import run, silenced, unread
from npulint.report.html.findings import findings
from npulint.report.html.fix_summary import mended
from npulint.report.html.overview import overview
from npulint.report.html.page import Page
from npulint.report.html.programs import programs
from npulint.report.html.verdict import banner, first, target, verdict
from npulint.report.view import ReportView
from npulint.texts import say

_LANGUAGES = {"en": "en", "zh": "zh-CN"}


def render(result: RunResult, view: ReportView) -> str:
    """The whole page. It can be read without scripts, asks for nothing from anywhere, and tells no time."""
    page = Page(result, view)
    top = _top(page)
    comparing = view.comparing and result.comparison is not None
    parts = [
        ("compared", _compared(page) if comparing else ""),
        ("first", first(page)),
        ("overview", overview(page) if page.shown or not comparing else ""),
        ("runs", "" if comparing else _runs(page)),
        ("programs", "" if comparing else programs(page)),
        ("graphs", "" if comparing else _graphs(page)),
        ("compared", "" if comparing else _compared(page)),
        ("findings", findings(page)),
        ("fixed", mended(page)),
        ("silenced", silenced(page)),
        ("unread", unread(page)),
        ("run", run(page)),
    ]
    lang, title = page.lang, say(page.lang, "compare.title.report" if comparing else "html.title")
    links = "".join(
        f'<li><a href="#{name}">{say(lang, f"html.section.{name}")}</a></li>' for name, body in parts if body
    )
    main = "\n".join(body for _, body in parts if body)
    style, script = asset("page.css") + (asset("runs.css") if result.runs else ""), asset("page.js")
    return f"""<!DOCTYPE html>
<html lang="{_LANGUAGES[lang]}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy(style, script)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<meta name="generator" content="npulint {__version__}">
<title>{top.heading} · {title}</title>
<link rel="icon" href="{icon(top.tone)}">
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
{top.banner}
{main}
</main>
<footer>npulint {__version__}</footer>
<script>{script}</script>
</body>
</html>
"""


class _Top(msgspec.Struct, frozen=True):
    """What stands above everything: the answer in words, its tone, and the banner."""

    heading: str
    tone: str
    banner: str


def _top(page: Page) -> _Top:
    comparison = page.result.comparison
    if page.view.comparing and comparison is not None:
        from npulint.report.html import compared_verdict

        told = compared_verdict.verdict(page, comparison)
        heading = say(page.lang, f"compare.verdict.{told.word}")
        return _Top(heading, told.tone, compared_verdict.banner(page, told))
    answer = verdict(page)
    return _Top(say(page.lang, f"html.verdict.{answer.word}"), answer.word, banner(page, answer))


def _graphs(page: Page) -> str:
    if not page.result.graphs:
        return ""
    from npulint.report.html.graphs import graphs  # most runs see none

    return graphs(page)


def _runs(page: Page) -> str:
    if not page.result.runs:
        return ""
    from npulint.report.html.runs import runs  # most projects have none

    return runs(page)


def _compared(page: Page) -> str:
    if page.result.comparison is None:
        return ""
    from npulint.report.html.compared import compared  # most runs have no reference

    return compared(page)
