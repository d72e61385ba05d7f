"""The comparison with a reference: a card for each item, then both sides of what was compared next to each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from npulint.findings import ComparedItem, ComparedPair, ComparedRow, ComparedSide, Comparison, Evidence
from npulint.report.compared.rows import (
    ANSWERS,
    STATUSES,
    Roots,
    alone,
    described,
    differing_first,
    of_interest,
    places_of,
    tally,
    told_answers,
    unspoken,
    way,
)
from npulint.report.html.markup import attribute, escape_html, identifier, inline_markdown, paragraph, section
from npulint.report.html.page import Page
from npulint.report.html.source import frame
from npulint.texts import count, say

_PAIRS = 50
_ROWS = 2000  # of the page
_ROOMY = 40  # characters that fit into half of a page
_FRAMES = 100  # rows with their source around them; the others show a line


def compared(page: Page) -> str:
    """The section about the comparison; empty when there was no reference."""
    comparison = page.result.comparison
    if comparison is None:
        return ""
    lang = page.lang
    writer = _Writer(page, comparison)
    pairs = [writer.pair(number, pair) for number, pair in enumerate(differing_first(comparison.pairs)[:_PAIRS])]
    parts = [
        writer.filters() if writer.shown else "",
        *pairs,
        "" if pairs else f"<p>{say(lang, 'compare.pairs.none')}</p>",
        f'<p class="cut">{count(lang, "html.rows.cut", writer.cut)}</p>' if writer.cut else "",
        *(f'<p class="cut">{escape_html(line)}</p>' for line in alone(comparison, lang)),
    ]
    return section("compared", say(lang, "html.section.compared"), "\n".join(part for part in parts if part))


class _Writer:
    """Writes the pairs one after the other. `shown` are the rows that are on the page, `cut` those that are not."""

    def __init__(self, page: Page, comparison: Comparison) -> None:
        self._page = page
        self._lang = page.lang
        self._comparison = comparison
        self._roots = Roots(comparison)
        self.shown = 0
        self.cut = 0

    def _say(self, key: str) -> str:
        return say(self._lang, f"compare.{key}")

    def pair(self, number: int, pair: ComparedPair) -> str:
        """Both programs, the cards, and the items."""
        page = self._page
        self._roots = Roots(self._comparison, pair)
        sides = "".join(self._program(pair, side) for side in ("reference", "migrated"))
        names = (page.paths(pair.reference), page.paths(pair.migrated))
        title = escape_html(say(self._lang, "compare.pair", reference=names[0], migrated=names[1]))
        ids = [identifier(f"item-{number}", item.item) for item in pair.items]
        cards = "".join(self._card(item, name) for item, name in zip(pair.items, ids, strict=True))
        items = "\n".join(self._item(item, name) for item, name in zip(pair.items, ids, strict=True))
        return (
            f'<div class="pair">\n<h3 class="unseen">{title}</h3>\n<dl class="both">{sides}</dl>\n'
            f'<p class="tally">{tally(pair, self._lang)}</p>\n<ul class="items">{cards}</ul>\n{items}\n</div>'
        )

    def _program(self, pair: ComparedPair, side: str) -> str:
        launcher = getattr(pair, f"{side}_launcher")
        started = self._roots.short(launcher, side) if launcher else ""
        traits = escape_html(described(getattr(pair, f"{side}_framework"), started, self._lang))
        path = escape_html(self._page.paths(getattr(pair, side))).replace("/", "/<wbr>")
        return (
            f'<div><dt>{self._say(f"heading.{side}")}</dt><dd><span class="path">{path}</span> '
            f'<span class="traits">{traits}</span></dd></div>'
        )

    def _card(self, item: ComparedItem, name: str) -> str:
        return (
            f'<li><a class="{item.status}" href="#{name}">{self._status(item)} '
            f'<span class="title">{inline_markdown(item.title)}</span> '
            f'<span class="numbers">{told_answers(item, self._lang)}</span></a></li>'
        )

    def _status(self, item: ComparedItem) -> str:
        return f'<b class="status {item.status}">{self._say(f"status.{item.status}")}</b>'

    def _item(self, item: ComparedItem, name: str) -> str:
        rows = self._counted(of_interest(item))
        same = self._counted([row for row in item.rows if row.answer == "same"])
        opened = " open" if rows or item.status != "consistent" else ""
        body = [
            f'<p class="look">{paragraph(item.look)}</p>' if item.status == "unknown" and item.look else "",
            self._failures(item),
            self._table(item, rows),
            self._same(item, same),
        ]
        told = "".join(body)
        head = f'{self._status(item)} <span class="title">{inline_markdown(item.title)}</span>'
        numbers = f'<span class="numbers">{told_answers(item, self._lang)}</span>'
        if not told:
            return f'<div class="item bare" id="{name}" data-a="{_kind(item)}"><p>{head} {numbers}</p></div>'
        return (
            f'<details class="item" id="{name}" data-a="{_kind(item)}"{opened}><summary>{head} {numbers}</summary>\n'
            f'<div class="body">{told}</div></details>'
        )

    def _counted(self, rows: Sequence[ComparedRow]) -> Sequence[ComparedRow]:
        kept = rows[: max(0, _ROWS - self.shown)]
        self.cut += len(rows) - len(kept)
        self.shown += len(kept)
        return kept

    def _failures(self, item: ComparedItem) -> str:
        places = unspoken(item) if item.status == "differs" else []
        rows = "".join(f"<li>{self._failure(one)}</li>" for one in places[:_FRAMES])
        return f'<ul class="places">{rows}</ul>' if rows else ""

    def _failure(self, one: Evidence) -> str:
        check = f" <code>{escape_html(one.check)}</code>" if one.check else ""
        return f"{self._page.link(one)}{check} {self._page.line(one.path, one.span.line)}".rstrip()

    def _same(self, item: ComparedItem, rows: Sequence[ComparedRow]) -> str:
        if not rows:
            return ""
        said = count(self._lang, "compare.equal", max(item.same, len(rows)))
        return f'<details class="equal"><summary>{said}</summary>{self._table(item, rows)}</details>'

    def _table(self, item: ComparedItem, rows: Sequence[ComparedRow]) -> str:
        if not rows:
            return ""
        heads = "".join(
            f'<th scope="col">{self._say(f"heading.{word}")}</th>' for word in ("what", "reference", "migrated")
        )
        framed = self.shown <= _FRAMES
        body = "\n".join(self._row(row, framed and row.answer in ("differs", "note")) for row in rows)
        return (
            f'<table class="sides"><caption><span class="unseen">{inline_markdown(item.title)}</span></caption>\n'
            f"<thead><tr>{heads}</tr></thead>\n<tbody>\n{body}\n</tbody></table>"
        )

    def _row(self, row: ComparedRow, framed: bool) -> str:
        aside = ""
        if row.answer not in ("differs", "same"):
            aside = f' <b class="status {row.answer}">{self._say(f"answer.{row.answer}")}</b>'
        sides = "".join(
            f'<td><span class="side">{self._say(f"heading.{name}")}</span>{self._side(row, side, name, framed)}</td>'
            for name, side in (("reference", row.reference), ("migrated", row.migrated))
        )
        return f'<tr data-a="{attribute(row.answer)}"><th scope="row">{escape_html(row.what)}{aside}</th>{sides}</tr>'

    def _side(self, row: ComparedRow, side: ComparedSide | None, name: str, framed: bool) -> str:
        """The value, the way that it came by, and the source where it is written."""
        if side is None:
            return f'<span class="muted">{self._say("absent")}</span>'
        value = f'<code class="value {attribute(row.answer)}">{escape_html(" ".join(side.text.split())) or "?"}</code>'
        places = places_of(side)
        if not places:
            return value
        first = places[0]
        shown = f"{escape_html(self._roots.short(first.path, name)).replace('/', '/<wbr>')}:{first.span.line}"
        at = self._page.link_as(Evidence(first.path, first.span, "", row.code), f'<span class="path">{shown}</span>')
        steps = "".join(f' <span class="step">→ <code>{escape_html(one)}</code></span>' for one in way(side))
        lines = self._page.view.lines(first.path)
        label = say(self._lang, "compare.code", side=self._say(name))
        code = (
            frame(first.path, lines, first.span, label, _ROOMY)
            if framed
            else self._page.line(first.path, first.span.line)
        )
        return f'{value}<p class="at">{at}{steps}</p>{code}'

    def filters(self) -> str:
        """Answers, search, and how much is shown: of use only to the script, which shows them."""
        pairs = differing_first(self._comparison.pairs)[:_PAIRS]
        found = Counter(row.answer for pair in pairs for item in pair.items for row in item.rows)
        chips = "".join(
            f'<label class="chip {word}"><input type="checkbox" name="answer" value="{word}" checked>'
            f"<span>{self._say(f'answer.{word}')} <b>{found[word]}</b></span></label>"
            for word in ANSWERS
        )
        wanted = say(self._lang, "compare.filter.shown", shown="{shown}", all="{all}")
        told = say(self._lang, "compare.filter.shown", shown=self.shown, all=self.shown)
        return f"""<form id="sides" role="search" aria-label="{self._say("filter")}" autocomplete="off" hidden>
<label class="search"><span class="unseen">{self._say("filter.search")}</span>
<input type="search" name="q" placeholder="{self._say("filter.hint")}" spellcheck="false"></label>
<fieldset><legend>{self._say("heading.result")}</legend>{chips}</fieldset>
<p class="state"><output name="shown" aria-live="polite" data-text="{wanted}">{told}</output>
<button type="reset">{self._say("filter.reset")}</button></p>
</form>
<p class="no-rows" hidden>{self._say("filter.none")}</p>"""


def _kind(item: ComparedItem) -> str:
    """The answer that an item without rows stands for."""
    return {"differs": "differs", "unknown": "unknown"}.get(item.status, "same") if item.status in STATUSES else "same"
