"""The estimated effort: hours, shares, and the work in each file."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from npulint.core.texts import count, say
from npulint.judge.effort import Effort
from npulint.judge.findings import RunResult
from npulint.judge.verdict import verdict_of
from npulint.report.document.model import Block, Folded, Paragraph, Prose, Section, Table
from npulint.report.effort.document import by_file, formula, in_range, sentences, weight_table
from npulint.report.html.document import markup
from npulint.report.html.frame import Frame, framed
from npulint.report.html.page import Page
from npulint.report.html.verdict import ReadinessVerdict, answered
from npulint.report.verdict import told
from npulint.report.view import ReportView

_FIRST, _FILES = 10, 60  # files that are not folded, and all that are listed


def effort(page: Page, estimate: Effort) -> str:
    """The section about the effort; empty without work."""
    if not estimate.items:
        return ""
    lang = page.lang
    told: list[Block] = [Paragraph(Prose(sentence)) for sentence in sentences(estimate, lang)]
    rests_on: list[Block] = [*(Paragraph(Prose(sentence)) for sentence in formula(lang)), weight_table(lang)]
    table = by_file(estimate, lang, bars=True)
    blocks = [*told, *_in_parts(table, lang), Folded(say(lang, "effort.formula"), rests_on)]
    return markup(page, Section("effort", say(lang, "html.section.effort"), blocks))


def _in_parts(table: Table, lang: str) -> Iterator[Block]:
    """The first rows of a table, and the others below a summary."""
    yield msgspec.structs.replace(table, rows=table.rows[:_FIRST])
    rest, cut = table.rows[_FIRST:_FILES], len(table.rows) - _FILES
    if rest:
        note: list[Block] = [Paragraph(count(lang, "effort.more", cut), "cut")] if cut > 0 else []
        title = count(lang, "effort.rest", len(rest))
        blocks: list[Block] = [msgspec.structs.replace(table, title=title, rows=rest, titled=False), *note]
        yield Folded(title, blocks)


def page_of(estimate: Effort, result: RunResult, lang: str) -> str:
    """The effort of a project as a page of its own."""
    page = Page(result, ReportView(lang=lang))
    first, *more = sentences(estimate, lang)
    title = say(lang, "effort.title")
    heading = say(lang, "effort.heading", range=in_range(estimate.hours, lang)) if estimate.items else title
    banner = answered(
        ReadinessVerdict("check", "check", heading, [told(verdict_of(result), lang), first.replace("`", ""), *more]), ""
    )
    return framed(
        lang, Frame(title, heading, "check", banner), {"effort": effort(page, estimate)} if estimate.items else {}
    )
