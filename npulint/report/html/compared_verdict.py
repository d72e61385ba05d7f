"""The top of the page of a run that compares: whether the migrated programs are consistent with the reference."""

from __future__ import annotations

from collections import Counter

import msgspec

from npulint.findings import Comparison
from npulint.report.compared.rows import items_of
from npulint.report.html.charts import SEVERITIES
from npulint.report.html.markup import escape_html
from npulint.report.html.page import Page
from npulint.report.html.verdict import drawn
from npulint.texts import count, say

_TONES = {"differs": "open", "unsure": "check", "same": "ready", "nothing": "nothing"}


class Compared(msgspec.Struct, frozen=True):
    """The answer in a word (a key of the texts ``compare.verdict.``), its tone (a class of the banner), and how many
    items have which status."""

    word: str
    tone: str
    items: Counter[str]


def verdict(page: Page, comparison: Comparison) -> Compared:
    """Judge by all items, and by all findings, shown or not."""
    items = items_of(comparison.pairs)
    found = any(one.severity != "note" for one in page.result.findings)
    if not comparison.pairs:
        word = "nothing"
    elif items["differs"]:
        word = "differs"
    else:
        word = "unsure" if items["unknown"] or found else "same"
    grave = any(one.severity == "error" for one in page.result.findings)
    return Compared(word, "blocked" if grave and word == "differs" else _TONES[word], items)


def banner(page: Page, answer: Compared) -> str:
    """The verdict, the reasons for it, and the figures of the run."""
    return drawn(
        answer.tone, say(page.lang, f"compare.verdict.{answer.word}"), _sentences(page, answer), _tiles(page, answer)
    )


def _sentences(page: Page, answer: Compared) -> list[str]:
    lang, items = page.lang, answer.items
    if answer.word == "nothing":
        told = [say(lang, "compare.pairs.none") + say(lang, "compare.end")]
    elif answer.word == "differs":
        told = [count(lang, "compare.said.differs", items["differs"])]
    elif answer.word == "unsure":
        found = any(one.severity != "note" for one in page.result.findings)
        told = [say(lang, "compare.said.findings" if found else "compare.said.unsure")]
    else:
        told = [say(lang, "compare.said.same")]
    if items["unknown"]:
        told.append(count(lang, "compare.said.persons", items["unknown"]))
    unread = len({problem.path for problem in page.result.unreadable if problem.fatal})
    return [*told, *([count(lang, "html.unjudged", unread)] if unread else [])]


def _tiles(page: Page, answer: Compared) -> str:
    lang, summary = page.lang, page.result.summary
    shown = Counter(one.severity for one in page.shown)
    tiles = [(word, str(shown[word]), count(lang, f"html.tile.{word}", shown[word])) for word in SEVERITIES]
    total = sum(answer.items.values())
    part = say(lang, "html.of", part=answer.items["consistent"], n=total)
    tiles.append(("programs", part, say(lang, "compare.tile.items")))
    files = max(summary.files, summary.read)
    tiles.append(("files", say(lang, "html.of", part=summary.read, n=files), say(lang, "html.tile.files")))
    return "".join(f'<li class="{name}"><b>{value}</b> {escape_html(label)}</li>' for name, value, label in tiles)
