"""The findings by check: common texts once per check, then a card per finding."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from npulint.core.texts import count, say
from npulint.facts.model import Span
from npulint.judge.catalogue.check import CATEGORIES
from npulint.judge.findings import Finding, Related
from npulint.judge.priorities import first_steps
from npulint.report.changed import ChangedLines
from npulint.report.changed import blocks as changed
from npulint.report.html.charts import SEVERITIES
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
from npulint.report.html.source import Syntax, colored, frame

# The filters above the findings; hidden until the script runs.


def filters(page: Page) -> str:
    """Search, severities, categories, topics, grouping, and the number of matching findings."""
    lang, carried = page.lang, page.carried
    severities = Counter(finding.severity for finding in carried)
    has_important = bool(severities["error"] or severities["warning"])
    on = [word for word in SEVERITIES if word != "note" or not has_important]
    shown = sum(severities[word] for word in on)
    categories = Counter(finding.category for finding in carried if finding.severity in on)
    listed = Counter(finding.topic for finding in carried if finding.severity in on)
    names = {finding.topic: topic_name(finding.topic, lang) for finding in carried}
    options = "".join(
        f'<option value="{attribute(topic)}" data-name="{attribute(name)}">'
        f"{escape_html(name)} ({listed[topic]})</option>"
        for topic, name in sorted(names.items(), key=lambda pair: pair[1])
    )
    left = say(lang, "html.shown", shown=shown, all=len(carried))
    template = say(lang, "html.shown", shown="{shown}", all="{all}")
    return f"""<form id="filters" role="search" aria-label="{say(lang, "html.filter")}" autocomplete="off" hidden>
<label class="search"><span class="unseen">{say(lang, "html.search")}</span>
<input type="search" name="q" placeholder="{say(lang, "html.search.hint")}" spellcheck="false"></label>
<fieldset class="group-by"><legend>{say(lang, "html.group")}</legend>
<span aria-hidden="true">{say(lang, "html.group")}</span>
<label><input type="radio" name="group" value="check" checked><span>{say(lang, "html.group.check")}</span></label>
<label><input type="radio" name="group" value="file"><span>{say(lang, "html.group.file")}</span></label></fieldset>
<p class="state"><output name="shown" aria-live="polite" data-text="{template}">{left}</output>
<button type="reset">{say(lang, "html.reset")}</button></p>
<span class="break"></span>
{_choice("severity", say(lang, "html.severity"), SEVERITIES, on, severities, lang)}
{_choice("category", say(lang, "html.category"), CATEGORIES, CATEGORIES, categories, lang)}
<label class="topic"><span>{say(lang, "html.topic")}</span> <select name="topic">
<option value="">{say(lang, "html.all-topics")}</option>{options}</select></label>
</form>
<p class="no-match" hidden>{say(lang, "html.no-match")}</p>
<template id="about" data-rest="{say(lang, "html.rest")}"><details class="about">
<summary>{say(lang, "html.about")}</summary></details></template>"""


def _choice(name: str, legend: str, values: Sequence[str], on: Sequence[str], counts: Counter[str], lang: str) -> str:
    boxes = "".join(
        f'<label class="chip {value}"><input type="checkbox" name="{name}" value="{value}"'
        f"{' checked' if value in on else ''}><span>{say(lang, f'{name}.{value}')} "
        f'<b data-n="{value}">{counts[value]}</b></span></label>'
        for value in values
    )
    return f"<fieldset><legend>{legend}</legend>{boxes}</fieldset>"


# The fix of a finding as removed and added lines.

_TALL = 40  # lines of a change that are shown
_WIDE = 400  # characters of a line
_BLOCKS = 2  # changes of a finding that are not folded
_MOST = 20  # changes of a finding


def change(page: Page, finding: Finding) -> str:
    """The edits of a finding's fix; empty when it has none or the lines have changed."""
    changed_lineses = changed(finding.fix.edits, page.view.lines)
    if not changed_lineses:
        return ""
    blocks = [_block(page, changed_lines, finding) for changed_lines in changed_lineses[:_MOST]]
    more = ""
    if len(changed_lineses) > _BLOCKS:
        cut = count(page.lang, "html.rows.cut", len(changed_lineses) - _MOST) if len(changed_lineses) > _MOST else ""
        summary = count(page.lang, "html.more", len(changed_lineses) - _BLOCKS)
        more = f"<details><summary>{summary}</summary>{''.join(blocks[_BLOCKS:])}{cut}</details>"
    return f'<div class="edits"><h5>{say(page.lang, "html.edits")}</h5>{"".join(blocks[:_BLOCKS])}{more}</div>'


def _block(page: Page, changed_lines: ChangedLines, finding: Finding) -> str:
    """Adjacent changed lines, below their place if that is not the one of the finding."""
    here = (changed_lines.path, changed_lines.line) == (finding.path, finding.span.line)
    head = "" if here else f'<p class="path">{page.place(changed_lines.path, changed_lines.line)}</p>'
    syntax = page.syntax(changed_lines.path)
    lines = _diff(changed_lines.old, changed_lines.new, syntax, changed_lines.line)
    return f'{head}<pre class="diff"><code>{lines}</code></pre>'


def _diff(old: Sequence[str], new: Sequence[str], syntax: Syntax, first: int) -> str:
    rows = [
        f"<del>- {_edit_line(text, syntax, first + at)}</del>" for at, text in enumerate(old) if text or len(old) > 1
    ]
    rows += [f"<ins>+ {_edit_line(text, syntax, 0)}</ins>" for text in new if text or len(new) > 1]
    return "\n".join(rows if len(rows) <= _TALL else [*rows[:_TALL], "⋯"])


def _edit_line(text: str, syntax: Syntax, number: int) -> str:
    text = text[:_WIDE]
    return colored(text, syntax.tokens(text, number), 0, len(text))


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
    order = [step.first.code for step in first_steps(page.carried, len(groups), page.result.programs)]
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
