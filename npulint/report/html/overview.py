"""The charts: findings by category, most frequent checks, failing readiness items."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable

from npulint.core.texts import say
from npulint.judge.catalogue.check import CATEGORIES
from npulint.judge.findings import Finding
from npulint.report.document.model import Block, CodeCell, Paragraph
from npulint.report.html.charts import SEVERITIES, STATUSES, chart
from npulint.report.html.document import markup
from npulint.report.html.markup import identifier, section
from npulint.report.html.page import Page
from npulint.report.readiness import lists

_TOP = 10
_Row = tuple[str | CodeCell, Counter[str]]


def overview(page: Page) -> str:
    """The charts of the run."""
    lang = page.lang
    left: list[Block] = [Paragraph(say(lang, "html.chart.none"))]
    right: list[Block] = []
    if page.shown:
        left = [
            chart(say(lang, "html.chart.categories"), say(lang, "html.category"), _categories(page), SEVERITIES, lang)
        ]
        right = [chart(say(lang, "html.chart.checks"), say(lang, "html.rule"), _checks(page), SEVERITIES, lang)]
    items = _items(page)
    if items:
        left += right
        right = [chart(say(lang, "html.chart.items"), say(lang, "html.item"), items, STATUSES, lang)]

    def panel(one: Block) -> str:
        return f'<div class="panel">{markup(page, one)}</div>'

    columns = [f'<div class="column">{"".join(map(panel, column))}</div>' for column in (left, right) if column]
    body = f'<div class="panels">{"".join(columns)}</div>'
    return section("overview", say(lang, "html.section.overview"), body)


def severities_by(page: Page, key: Callable[[Finding], str]) -> dict[str, Counter[str]]:
    """Counts of findings by severity for each value of `key`."""
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for finding in page.shown:
        found[key(finding)][finding.severity] += 1
    return found


def _categories(page: Page) -> list[_Row]:
    found = severities_by(page, lambda finding: finding.category)
    names = [(category, say(page.lang, f"category.{category}")) for category in CATEGORIES]
    return [(name, found[category]) for category, name in names]


def _checks(page: Page) -> list[_Row]:
    found = severities_by(page, lambda finding: finding.code)
    names = {finding.code: finding.name for finding in page.shown}
    most = sorted(found, key=lambda code: (-sum(found[code].values()), code))[:_TOP]
    return [(CodeCell(names[code], f"#{identifier('check', code)}"), found[code]) for code in most]


def _items(page: Page) -> list[_Row]:
    """Rows of the readiness items of all programs, most failures first; none for a single program."""
    programs = lists(page.result)
    if len(programs) < 2:
        return []
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for program in programs:
        for item in program.checklist:
            found[item.title][item.status] += 1
    order = sorted(found, key=lambda title: (-found[title]["failed"], -found[title]["unknown"], title))
    return [(title, found[title]) for title in order]
