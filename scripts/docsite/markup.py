"""Pieces of Markdown and HTML that several kinds of pages are made of."""

from __future__ import annotations

import html
import posixpath
import re
from collections.abc import Iterable, Sequence
from typing import Protocol

from npulint.judge.catalogue.page import word
from npulint.judge.postprocess.select import Identity
from scripts.docsite.words import say

_CODE = re.compile(r"(?P<ticks>`+)(?P<code>.+?)(?P=ticks)(?!`)", re.DOTALL)
_SPECIAL = {ord(char): f"&#{ord(char)};" for char in "\\`*_{}[]()#+-.!|~^=:<>&\"'"}


class Rated(Identity, Protocol):
    """What checks of the catalogue and those of the engine have in common."""

    @property
    def severity(self) -> str: ...
    @property
    def confidence(self) -> str: ...


def plain(text: str) -> str:
    """A text that means nothing to Markdown or HTML, wherever it stands."""
    return " ".join(text.split()).translate(_SPECIAL)


def inline(text: str) -> str:
    """The text of a check as HTML that Markdown leaves alone too: code spans are code, everything else is taken by
    the letter."""
    parts, end = [], 0
    for match in _CODE.finditer(text):
        parts += [escaped(text[end : match.start()]), f"<code>{escaped(match['code'].strip())}</code>"]
        end = match.end()
    return "".join([*parts, escaped(text[end:])])


def escaped(text: str) -> str:
    """The text by the letter, its blanks kept."""
    return text.translate(_SPECIAL)


def front(**values: object) -> str:
    """The front matter of a page; JSON is YAML too."""
    import json

    lines = [f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in values.items()]
    return "\n".join(["---", *lines, "---"])


def link(here: str, there: str) -> str:
    """From one Markdown file of the site to another, as Markdown links are written."""
    return posixpath.relpath(there, posixpath.dirname(here) or ".")


def url(here: str, there: str) -> str:
    """From one page of the site to another as HTML links are written; both are named by their Markdown files."""
    relative = posixpath.relpath(_folder(there), _folder(here))
    return "./" if relative == "." else relative + "/"


def _folder(page: str) -> str:
    """The folder that a page becomes: ``checks/a.md`` is ``checks/a/``, ``checks/index.md`` is ``checks/``."""
    stem = page.removesuffix(".md")
    return posixpath.dirname(stem) if posixpath.basename(stem) == "index" else stem


def pill(text: str, kind: str = "", tip: str = "") -> str:
    """A badge; `kind` chooses its colour."""
    title = f' title="{html.escape(tip, quote=True)}"' if tip else ""
    return f'<span class="np-pill {kind}"{title}>{plain(text)}</span>'


def pills(rule: Rated, lang: str) -> str:
    """Severity, category and confidence of a check as badges."""
    confidence = say(lang, "confidence", word=word(rule.confidence, lang))
    return " ".join(
        [
            pill(word(rule.severity, lang), f"np-{rule.severity}"),
            pill(word(rule.category, lang), f"np-{rule.category}"),
            pill(confidence, f"np-sure-{rule.confidence}"),
        ]
    )


def cards(rows: Iterable[tuple[str, str, str]]) -> str:
    """Links with a line below each, as a grid: address, title and the line, which is HTML."""
    items = [
        f'<a class="np-card" href="{where}"><b>{plain(title)}</b><span>{below}</span></a>'
        for where, title, below in rows
    ]
    return "\n".join(['<div class="np-cards">', *items, "</div>"])


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table; bars in cells are escaped."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(
        "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in line) + " |" for line in lines
    )


def indented(text: str) -> str:
    """One level deeper, for what stands in tabs."""
    return "\n".join(f"    {line}" if line else "" for line in text.split("\n"))
