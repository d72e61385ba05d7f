"""The sections of the HTML report in their order."""

from __future__ import annotations

from collections.abc import Iterator

from npulint.core.texts import say
from npulint.judge.effort import estimate
from npulint.judge.findings import RunResult
from npulint.report.document.model import Section
from npulint.report.html.changes import changes
from npulint.report.html.charts import patterns
from npulint.report.html.closing import fixed, run, silenced, unread
from npulint.report.html.document import markup
from npulint.report.html.effort import effort
from npulint.report.html.findings import findings
from npulint.report.html.frame import Frame, framed
from npulint.report.html.overview import overview
from npulint.report.html.page import Page
from npulint.report.html.programs import programs
from npulint.report.html.verdict import banner, compared_verdict, first, target, verdict
from npulint.report.view import ReportView


def whole(result: RunResult, view: ReportView) -> str:
    """The whole page. It is readable without scripts and loads nothing."""
    page = Page(result, view)
    comparing = result.comparison if view.comparing else None
    answer = verdict(page) if comparing is None else compared_verdict(page, comparing)
    optional = dict(_optional(page))
    order = ("compared first overview" if comparing else "first changes overview effort step runs programs").split()
    order += "graphs compared findings fixed silenced unread run".split()
    parts = optional | {
        "first": first(page),
        "overview": overview(page) if page.shown or not comparing else "",
        "changes": "" if comparing else changes(page),
        "effort": "" if comparing else effort(page, estimate(result)),
        "programs": "" if comparing else programs(page),
        "findings": findings(page),
        "fixed": fixed(page),
        "silenced": silenced(page),
        "unread": unread(page),
        "run": run(page),
    }
    shown = {name: parts[name] for name in order if parts.get(name)}
    title = say(page.lang, "compare.title.report" if comparing else "html.title")
    of_runs = result.runs or result.step or (result.comparison is not None and result.comparison.runs is not None)
    styles = [*(["runs.css"] if of_runs else []), *(["step.css"] if result.step else [])]
    around = Frame(
        title, answer.heading, answer.tone, banner(page, answer), target(page), patterns(), styles, view.project
    )
    return framed(page.lang, around, shown)


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
