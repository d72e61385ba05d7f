"""The charts: what kind of findings there are, which checks speak most, which readiness items fail."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable

from npulint.catalogue.check import CATEGORIES
from npulint.findings import Finding
from npulint.report.html.charts import SEVERITIES, STATUSES, Row, chart
from npulint.report.html.markup import escape_html, section
from npulint.report.html.page import Page
from npulint.report.readiness import lists
from npulint.texts import say

_TOP = 10


def overview(page: Page) -> str:
    """The charts of the run."""
    lang = page.lang
    left, right = [f"<p>{say(lang, 'html.chart.none')}</p>"], []
    if page.shown:
        left = [
            chart(say(lang, "html.chart.categories"), say(lang, "html.category"), _categories(page), SEVERITIES, lang)
        ]
        right = [chart(say(lang, "html.chart.checks"), say(lang, "html.rule"), _checks(page), SEVERITIES, lang)]
    items = _items(page)
    if items:
        left += right
        right = [chart(say(lang, "html.chart.items"), say(lang, "html.item"), items, STATUSES, lang)]
    columns = [f'<div class="column">{"".join(map(_panel, column))}</div>' for column in (left, right) if column]
    body = f'<div class="panels">{"".join(columns)}</div>'
    return section("overview", say(lang, "html.section.overview"), body)


def _panel(body: str) -> str:
    return f'<div class="panel">{body}</div>'


def severities_by(page: Page, key: Callable[[Finding], str]) -> dict[str, Counter[str]]:
    """How many findings of each severity there are for each value of `key`."""
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for one in page.shown:
        found[key(one)][one.severity] += 1
    return found


def _categories(page: Page) -> list[Row]:
    found = severities_by(page, lambda one: one.category)
    names = [(category, say(page.lang, f"category.{category}")) for category in CATEGORIES]
    return [Row(name, escape_html(name), found[category]) for category, name in names]


def _checks(page: Page) -> list[Row]:
    found = severities_by(page, lambda one: one.code)
    names = {one.code: one.name for one in page.shown}
    most = sorted(found, key=lambda code: (-sum(found[code].values()), code))[:_TOP]
    return [
        Row(names[code], page.check(code, f"<code>{escape_html(names[code])}</code>"), found[code]) for code in most
    ]


def _items(page: Page) -> list[Row]:
    """The items of all lists, most failures first; of a single list it would say nothing new."""
    programs = lists(page.result)
    if len(programs) < 2:
        return []
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for program in programs:
        for item in program.checklist:
            found[item.title][item.status] += 1
    order = sorted(found, key=lambda title: (-found[title]["failed"], -found[title]["unknown"], title))
    return [Row(title, escape_html(title), found[title]) for title in order]
