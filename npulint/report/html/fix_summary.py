"""What --fix mended before the report was made, and what it could not mend."""

from __future__ import annotations

from npulint.report.html.markup import escape_html, section, table
from npulint.report.html.page import Page
from npulint.texts import count, say

_ROWS = 2000  # of a table


def mended(page: Page) -> str:
    """The list of both, folded away; empty for a run that fixed nothing."""
    lang, done = page.lang, page.view.mended
    if done is None:
        return ""
    from npulint.report.fix_summary import headline, why

    rows = [
        [
            _place(page, one.path, one.line),
            _rule(one.name),
            say(lang, "html.fixed.done"),
            _safety(one.applicability, lang),
        ]
        for one in done.fixed
    ]
    rows += [
        [
            _place(page, one.path, one.line),
            _rule(one.name),
            say(lang, "html.fixed.refused"),
            escape_html(why(one.reason, lang)),
        ]
        for one in done.refused
    ]
    heads = [say(lang, f"html.{word}") for word in ("place", "rule", "status", "reason")]
    said = escape_html(headline(done, 0, page.view))
    cut = f'<p class="cut">{count(lang, "html.rows.cut", len(rows) - _ROWS)}</p>' if len(rows) > _ROWS else ""
    body = table(f'<span class="unseen">{said}</span>', heads, rows[:_ROWS], "list") + cut if rows else ""
    return section("fixed", say(lang, "html.section.fixed"), f"<details><summary>{said}</summary>\n{body}</details>")


def _place(page: Page, path: str, line: int) -> str:
    return f'<span class="path">{page.place(path, line) if line else escape_html(page.paths(path))}</span>'


def _rule(name: str) -> str:
    return f"<code>{escape_html(name)}</code>" if name else ""


def _safety(applicability: str, lang: str) -> str:
    return say(lang, "applicability.unsafe") if applicability == "unsafe" else ""
