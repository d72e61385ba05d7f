"""The findings by check: common texts once per check, then a card per finding."""

from __future__ import annotations

from collections.abc import Sequence

from npulint.core.texts import count, say
from npulint.facts.model import Span
from npulint.judge.findings import Finding, Related
from npulint.report.html.edits import change
from npulint.report.html.filters import filters
from npulint.report.html.markup import (
    attribute,
    escape_html,
    identifier,
    inline_markdown,
    outside,
    paragraph,
    section,
    topic_name,
)
from npulint.report.html.page import Page
from npulint.report.html.source import frame
from npulint.report.summary import first_steps

_HEAD = 8  # cards per check that are not collapsed
_WHOLE = Span()
_RELATED = 3  # related locations that are not collapsed
_MOST_RELATED = 40


def findings(page: Page) -> str:
    """The section with all findings, most severe checks first."""
    lang = page.lang
    groups: dict[str, list[tuple[str, Finding]]] = {}
    for name, finding in page.numbered():
        groups.setdefault(finding.code, []).append((name, finding))
    cards = _cards(page, groups)
    order = [step.first.code for step in first_steps(page.carried, len(groups))]
    body = "\n".join(_group(page, groups[code], cards) for code in order)
    cut = len(page.shown) - len(page.carried)
    parts = [
        f'<p class="cut">{count(lang, "html.findings.cut", cut)}</p>' if cut else "",
        filters(page) if page.carried else f"<p>{say(lang, 'html.findings.none')}</p>",
        f'<div id="groups">\n{body}\n</div>' if body else "",
    ]
    content = "\n".join(part for part in parts if part)
    return section("findings", say(lang, "html.section.findings"), content)


def _cards(page: Page, groups: dict[str, list[tuple[str, Finding]]]) -> dict[str, str]:
    """The card of each finding by its id, created in file order so that each file is read once."""
    first = {code: group[0][1] for code, group in groups.items()}
    return {name: _card(page, name, finding, first[finding.code]) for name, finding in page.numbered()}


def _group(page: Page, group: Sequence[tuple[str, Finding]], cards: dict[str, str]) -> str:
    lang, finding = page.lang, group[0][1]
    rule = page.view.page(finding.code)
    title = inline_markdown(rule.title) if rule is not None and rule.title else escape_html(finding.name)
    tags = [
        f"<code>{escape_html(finding.name)}</code>",
        f"<code>{escape_html(finding.code)}</code>",
        say(lang, f"category.{finding.category}"),
        escape_html(topic_name(finding.topic, lang)),
        outside(finding.url, say(lang, "html.documentation")),
    ]
    listed = " ".join(f"<span>{tag}</span>" for tag in tags if tag)
    head, rest = group[:_HEAD], group[_HEAD:]
    places = "\n".join(cards[name] for name, _ in head)
    more = ""
    if rest:
        hidden = "\n".join(cards[name] for name, _ in rest)
        summary = f"<b>{len(rest)}</b> {say(lang, 'html.rest')}"
        more = f'\n<details class="rest"><summary>{summary}</summary><div class="cards">\n{hidden}\n</div></details>'
    return (
        f'<section class="group" id="{identifier("check", finding.code)}" '
        f'data-category="{attribute(finding.category)}" data-topic="{attribute(finding.topic)}">\n'
        f'<header><h3>{title}</h3> <b class="n">{len(group)}</b>'
        f'<p class="tags">{listed}</p></header>\n<div class="advice">{_advice(page, finding)}</div>\n'
        f'<div class="cards">\n{places}\n</div>{more}\n</section>'
    )


def _advice(page: Page, finding: Finding, why: bool = True, fix: bool = True) -> str:
    lang = page.lang
    markup = ""
    if why and finding.why:
        markup += f'<p class="why"><b>{say(lang, "why")}</b> <span>{paragraph(finding.why)}</span></p>'
    if fix and finding.fix.text:
        aside = ""
        if finding.fix.applicability != "manual":
            aside = f' <span class="apply">{say(lang, f"applicability.{finding.fix.applicability}")}</span>'
        markup += f'<p class="fix"><b>{say(lang, "fix")}</b> <span>{paragraph(finding.fix.text)}{aside}</span></p>'
    return markup


def _card(page: Page, name: str, finding: Finding, first: Finding) -> str:
    """One finding, without the texts that it shares with `first`, the first finding of its check."""
    lang, span = page.lang, finding.span
    place = f"{escape_html(page.paths(finding.path))}:{span.line}:{span.column}"
    asides = []
    if finding.confidence != "high":
        asides.append(say(lang, "confidence", level=say(lang, f"confidence.{finding.confidence}")))
    if finding.places > 1:
        asides.append(count(lang, "html.covers", finding.places))
    if finding.program and finding.program != finding.path:
        asides.append(
            f'{say(lang, "html.of-program")} <span class="path">{escape_html(page.paths(finding.program))}</span>'
        )
    notes = "".join(f"<span>{aside}</span>" for aside in asides)
    mark = f'<code class="print" title="{say(lang, "html.fingerprint")}">{escape_html(finding.fingerprint)}</code>'
    own = _advice(page, finding, finding.why != first.why, finding.fix.text != first.fix.text)
    return (
        f'<article class="f {finding.severity}" id="{name}" data-s="{finding.severity}">'
        f'<h4><b class="s {finding.severity}">{say(lang, f"severity.{finding.severity}")}</b>'
        f" {inline_markdown(finding.message)}</h4>"
        f'<p class="at"><a class="path" href="#{name}">{place}</a>{_opener(page, finding)}{notes}'
        f"{mark if finding.fingerprint else ''}</p>"
        f"{_source(page, finding)}"
        f"{_related(page, finding.related)}{own}{change(page, finding)}</article>"
    )


def _opener(page: Page, finding: Finding) -> str:
    """A link to the source in the repository or editor."""
    url = page.source(finding.path, finding.span.line)
    label = say(page.lang, "html.open-source")
    return f'<a href="{attribute(url)}" target="_blank" rel="noreferrer">{label}</a>' if url else ""


def _source(page: Page, finding: Finding) -> str:
    """The lines around a finding."""
    lines, label = page.view.lines(finding.path), say(page.lang, "html.source")
    return frame(finding.path, lines, finding.span, label, syntax=page.syntax(finding.path))


def _line(page: Page, place: Related) -> str:
    """The source line of a place; empty for whole files such as graphs."""
    return "" if place.span == _WHOLE else page.line(place.path, place.span.line)


def _related(page: Page, places: Sequence[Related]) -> str:
    if not places:
        return ""
    rows = [
        f'<li><span class="path">{escape_html(page.paths(place.path))}:{place.span.line}</span> '
        f"{inline_markdown(place.message)} {_line(page, place)}</li>"
        for place in places[:_MOST_RELATED]
    ]
    shown, rest = rows[:_RELATED], rows[_RELATED:]
    more = ""
    if rest:
        cut = count(page.lang, "html.rows.cut", len(places) - len(rows)) if len(places) > len(rows) else ""
        summary = count(page.lang, "html.more", len(places) - len(shown))
        more = f"<details><summary>{summary}</summary><ul>{''.join(rest)}</ul>{cut}</details>"
    return f'<div class="related"><h5>{say(page.lang, "html.related")}</h5><ul>{"".join(shown)}</ul>{more}</div>'
