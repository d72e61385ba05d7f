"""The HTML back end of report documents."""

from __future__ import annotations

from collections.abc import Sequence

from npulint.core.texts import count
from npulint.judge.findings import Evidence
from npulint.report.document import model
from npulint.report.html.markup import attribute, escape_html, inline_markdown, section
from npulint.report.html.markup import table as table_markup
from npulint.report.html.page import Page

ROWS = 2000  # of a table


def markup(page: Page, table: model.Block) -> str:
    """The HTML of a block."""
    match table:
        case model.Table():
            return _table(page, table)
        case model.Facts(rows):
            listed = "".join(f"<dt>{escape_html(label)}</dt><dd>{cell(page, text)}</dd>" for label, text in rows)
            return f'<dl class="panel notes">{listed}</dl>'
        case model.Paragraph(text, style):
            return f'<p class="{style}">{cell(page, text)}</p>' if style else f"<p>{cell(page, text)}</p>"
        case model.Folded(summary, blocks):
            return f"<details><summary>{escape_html(summary)}</summary>\n{_blocks(page, blocks)}</details>"
        case model.Section(name, title, blocks):
            return section(name, title, _blocks(page, blocks))


def _blocks(page: Page, blocks: Sequence[model.Block]) -> str:
    return "\n".join(markup(page, block) for block in blocks)


def _table(page: Page, table: model.Table) -> str:
    """The HTML of a table, scrollable by keyboard; rows beyond `ROWS` are only counted."""
    rows = [[cell(page, each) for each in row] for row in table.rows[:ROWS]]
    heads = [cell(page, each) for each in table.heads]
    title, note = (
        escape_html(table.title),
        f' <span class="muted">{escape_html(table.note)}</span>' if table.note else "",
    )
    caption = f"{title}{note}" if table.titled else f'<span class="unseen">{title}</span>'
    text = table_markup(caption, heads, rows, table.style)
    if table.wide:
        text = f'<div class="across" tabindex="0" role="region" aria-label="{attribute(table.title)}">{text}</div>'
    cut = len(table.rows) - len(rows)
    return text + (f'<p class="cut">{count(page.lang, table.more, cut)}</p>' if cut else "")


def cell(page: Page, content: model.Cell) -> str:
    """The HTML of a cell or line."""
    if not isinstance(content, Sequence) or isinstance(content, str):
        return inline(page, content)
    first, *rest = content
    parts = (f"{'<br>' if isinstance(part, model.Note) and part.text else ' '}{inline(page, part)}" for part in rest)
    return f"{inline(page, first)}{''.join(parts)}".rstrip()


def inline(page: Page, content: model.Inline) -> str:
    """The HTML of a text, a place or a bar."""
    match content:
        case str():
            return escape_html(content)
        case model.Prose(text):
            return inline_markdown(text)
        case model.CodeCell(text, url):
            shown = f"<code>{escape_html(text)}</code>" if text else ""
            return f'<a href="{attribute(url)}">{shown}</a>' if url.startswith("#") else shown
        case model.Note(text):
            return f'<span class="muted">{inline_markdown(text)}</span>' if text else ""
        case model.Label(text, style):
            return f'<span class="{attribute(style)}">{escape_html(text)}</span>'
        case model.Status(word, text):
            return f'<b class="status {attribute(word)}">{escape_html(text)}</b>'
        case model.PlaceCell():
            return place(page, content)
        case model.StackedBar():
            return _bar(content)
        case model.ValueCell(text):
            return f"<code>{escape_html(text)}</code>"


def place(page: Page, place_cell: model.PlaceCell) -> str:
    """The HTML of a place, linked to its finding if that is on the page."""
    path = escape_html(place_cell.label or page.paths(place_cell.path)).replace("/", "/<wbr>")
    shown = f'<span class="path">{path}{f":{place_cell.span.line}" if place_cell.span.line else ""}</span>'
    return page.link_as(Evidence(place_cell.path, place_cell.span, "", place_cell.code), shown)


def _bar(stacked_bar: model.StackedBar) -> str:
    """The HTML of a bar; the `whole` is the full width."""
    rects, begin = [], 0.0
    full_width = max(stacked_bar.whole, sum(share for _, share in stacked_bar.parts)) or 1.0
    for name, share in stacked_bar.parts:
        if share > 0:
            x, width = (f"{round(100 * each / full_width, 3):g}%" for each in (begin, share))
            rects.append(f'<rect class="{attribute(name)}" x="{x}" width="{width}"/>')
        begin += share
    return f'<svg class="bar" role="img" aria-label="{attribute(stacked_bar.text)}">{"".join(rects)}</svg>'
