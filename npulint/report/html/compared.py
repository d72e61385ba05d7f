"""The comparison with a reference: a card per item, then both sides of each row next to each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from npulint.core.texts import count, say
from npulint.report.compared.document import checklists
from npulint.report.compared.rows import ANSWERS, alone, differing_first, of_runs_alone
from npulint.report.document.model import (
    Checklist,
    ChecklistEntry,
    CodeCell,
    DifferenceRow,
    PlaceCell,
    ProgramEntry,
    ValueCell,
)
from npulint.report.html.document import inline, place
from npulint.report.html.markup import attribute, escape_html, identifier, inline_markdown, section
from npulint.report.html.page import Page
from npulint.report.html.source import frame

_PAIRS = 50
_ROWS = 2000  # of the page
_ROOMY = 40  # characters that fit into half of a page
_FRAMES = 100  # rows with source context; the others show one line


def compared(page: Page) -> str:
    """The section about the comparison; empty without a reference."""
    comparison = page.result.comparison
    if comparison is None:
        return ""
    lang = page.lang
    writer = _Writer(page)
    pairs = [
        writer.pair(number, checklist)
        for number, checklist in enumerate(checklists(comparison, lang, _PAIRS, rows=_ROWS))
    ]
    items = (item for pair in differing_first(comparison.pairs)[:_PAIRS] for item in pair.items)
    answers = Counter(row.answer for item in items for row in item.rows)
    cut = answers.total() - writer.shown
    runs = ""
    if comparison.runs is not None:
        from npulint.report.html.overlay import compared_runs  # most comparisons have none

        runs = compared_runs(page, comparison, comparison.runs)
    none = "change.alone.same" if comparison.change else "compare.pairs.none"
    parts = [
        writer.filters(answers) if writer.shown else "",
        *pairs,
        "" if pairs or of_runs_alone(comparison) else f"<p>{say(lang, none)}</p>",
        f'<p class="cut">{count(lang, "html.rows.cut", cut)}</p>' if cut else "",
        *(f'<p class="cut">{escape_html(line)}</p>' for line in alone(comparison, lang)),
        runs,
    ]
    return section("compared", say(lang, "html.section.compared"), "\n".join(part for part in parts if part))


class _Writer:
    """Renders the pairs one by one. `shown` counts the rows on the page."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._lang = page.lang
        self.shown = 0

    def _say(self, key: str) -> str:
        return say(self._lang, f"compare.{key}")

    def pair(self, number: int, checklist: Checklist) -> str:
        """Both programs, the cards, and the items."""
        names = {each.role: self._page.paths(each.entry) for each in checklist.programs}
        ids = [identifier(f"item-{number}", item.name) for item in checklist.items]
        why = f'<p class="at">{escape_html(checklist.why)}</p>\n' if checklist.why else ""
        cards = "".join(self._card(item, name) for item, name in zip(checklist.items, ids, strict=True))
        items = "\n".join(self._item(item, name) for item, name in zip(checklist.items, ids, strict=True))
        return (
            f'<div class="pair">\n<h3 class="unseen">{escape_html(say(self._lang, "compare.pair", **names))}</h3>\n'
            f'<dl class="both">{"".join(map(self._program, checklist.programs))}</dl>\n'
            f"{why}"
            f'<p class="tally">{checklist.tally}</p>\n<ul class="items">{cards}</ul>\n{items}\n</div>'
        )

    def _program(self, program_entry: ProgramEntry) -> str:
        entry = place(self._page, PlaceCell(program_entry.entry))
        return (
            f"<div><dt>{self._say(f'heading.{program_entry.role}')}</dt><dd>{entry} "
            f'<span class="traits">{escape_html(program_entry.traits)}</span></dd></div>'
        )

    def _head(self, item: ChecklistEntry) -> str:
        return (
            f'{inline(self._page, item.status)} <span class="title">{inline_markdown(item.title)}</span> '
            f'<span class="numbers">{item.numbers}</span>'
        )

    def _card(self, item: ChecklistEntry, name: str) -> str:
        return f'<li><a class="{item.status.word}" href="#{name}">{self._head(item)}</a></li>'

    def _item(self, item: ChecklistEntry, name: str) -> str:
        self.shown += len(item.rows) + len(item.same)
        opened = " open" if item.rows or item.status.word != "consistent" else ""
        look = f'<p class="look">{inline_markdown(item.look)}</p>' if item.look else ""
        body = f"{look}{self._failures(item)}{self._table(item, item.rows)}{self._same(item)}"
        if not body:
            return f'<div class="item bare" id="{name}" data-a="{_kind(item)}"><p>{self._head(item)}</p></div>'
        return (
            f'<details class="item" id="{name}" data-a="{_kind(item)}"{opened}><summary>{self._head(item)}</summary>\n'
            f'<div class="body">{body}</div></details>'
        )

    def _failures(self, item: ChecklistEntry) -> str:
        rows = "".join(f"<li>{self._failure(place_cell)}</li>" for place_cell in item.places[:_FRAMES])
        return f'<ul class="places">{rows}</ul>' if rows else ""

    def _failure(self, place_cell: PlaceCell) -> str:
        check = f" {inline(self._page, CodeCell(place_cell.check))}" if place_cell.check else ""
        return (
            f"{place(self._page, place_cell)}{check} {self._page.line(place_cell.path, place_cell.span.line)}".rstrip()
        )

    def _same(self, item: ChecklistEntry) -> str:
        if not item.same:
            return ""
        summary = count(self._lang, "compare.equal", max(item.equal, len(item.same)))
        return f'<details class="equal"><summary>{summary}</summary>{self._table(item, item.same)}</details>'

    def _table(self, item: ChecklistEntry, rows: Sequence[DifferenceRow]) -> str:
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

    def _row(self, row: DifferenceRow, framed: bool) -> str:
        aside = ""
        if row.answer not in ("differs", "same"):
            aside = f' <b class="status {row.answer}">{self._say(f"answer.{row.answer}")}</b>'
        sides = "".join(
            f'<td><span class="side">{self._say(f"heading.{name}")}</span>{self._side(row, side, name, framed)}</td>'
            for name, side in (("reference", row.reference), ("migrated", row.migrated))
        )
        remarks = "".join(f'<p class="at">{escape_html(text)}</p>' for text in (row.reason, row.also) if text)
        head = f'<th scope="row">{escape_html(row.what)}{aside}{remarks}</th>'
        return f'<tr data-a="{attribute(row.answer)}">{head}{sides}</tr>'

    def _side(self, row: DifferenceRow, side: ValueCell | None, name: str, framed: bool) -> str:
        """The value, the names through which it is passed, and the source where it is written."""
        if side is None:
            return f'<span class="muted">{self._say("absent")}</span>'
        value = f'<code class="value {attribute(row.answer)}">{escape_html(side.text)}</code>'
        if side.place is None:
            return value
        path, span = side.place.path, side.place.span
        steps = "".join(f' <span class="step">→ <code>{escape_html(step)}</code></span>' for step in side.steps)
        label = say(self._lang, "compare.code", side=self._say(name))
        lines = self._page.view.lines
        code = frame(path, lines(path), span, label, _ROOMY) if framed else self._page.line(path, span.line)
        return f'{value}<p class="at">{place(self._page, side.place)}{steps}</p>{code}'

    def filters(self, numbers: Counter[str]) -> str:
        """Filters by answer and text; hidden until the script runs."""
        chips = "".join(
            f'<label class="chip {word}"><input type="checkbox" name="answer" value="{word}" checked>'
            f"<span>{self._say(f'answer.{word}')} <b>{numbers[word]}</b></span></label>"
            for word in ANSWERS
        )
        template = say(self._lang, "compare.filter.shown", shown="{shown}", all="{all}")
        current = say(self._lang, "compare.filter.shown", shown=self.shown, all=self.shown)
        return f"""<form id="sides" role="search" aria-label="{self._say("filter")}" autocomplete="off" hidden>
<label class="search"><span class="unseen">{self._say("filter.search")}</span>
<input type="search" name="q" placeholder="{self._say("filter.hint")}" spellcheck="false"></label>
<fieldset><legend>{self._say("heading.result")}</legend>{chips}</fieldset>
<p class="state"><output name="shown" aria-live="polite" data-text="{template}">{current}</output>
<button type="reset">{self._say("filter.reset")}</button></p>
</form>
<p class="no-rows" hidden>{self._say("filter.none")}</p>"""


def _kind(item: ChecklistEntry) -> str:
    """The answer that an item without rows counts as."""
    return {"differs": "differs", "unknown": "unknown"}.get(item.status.word, "same")
