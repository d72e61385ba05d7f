"""The graphs that were read: what they are, and where they run."""

from __future__ import annotations

from npulint.report.graphs import alike, kind, placed, size
from npulint.report.html.markup import escape_html, section, table
from npulint.report.html.page import Page
from npulint.texts import count, say

_ROWS = 500


def graphs(page: Page) -> str:
    """The section about graphs; empty where there are none."""
    found, lang = alike(page.result.graphs), page.lang
    if not found:
        return ""
    rows = [
        [
            f'<span class="path">{escape_html(page.paths(one.graph.path))}</span>{_note(one.note(lang))}',
            escape_html(kind(one.graph, lang)),
            escape_html(size(one.graph, lang)),
            escape_html(placed(one.graph, lang)),
        ]
        for one in found[:_ROWS]
    ]
    heads = [say(lang, f"graphs.html.{word}") for word in ("place", "what", "size", "runs")]
    said = say(lang, "graphs.title")
    more = f'<p class="cut">{count(lang, "graphs.more", len(found) - _ROWS)}</p>' if len(found) > _ROWS else ""
    return section("graphs", said, table(f'<span class="unseen">{said}</span>', heads, rows, "list") + more)


def _note(text: str) -> str:
    return f'<br><span class="muted">{escape_html(text)}</span>' if text else ""
