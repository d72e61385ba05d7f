"""What happens to each page when MkDocs has made HTML of it: it becomes lean, and its words go to the search."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any

_HEADING = re.compile(r"<h2(?P<attributes>[^>]*)>(?P<title>.*?)</h2>", re.DOTALL)
_FIRST = re.compile(r"<h1[^>]*>.*?</h1>", re.DOTALL)
_TAG = re.compile(r"<[^>]+>")
_REFERENCE = re.compile(r"&#(\d+);")
_PLAIN_TOKEN = re.compile(r'<span class="(?:n|p|o|w|nn|nf|nb|nc|ne|na|nl|nx|nd|bp|fm|vm|x|l|err|ow)">([^<]*)</span>')
_SPACED = re.compile(r"(<pre[\s>].*?</pre>)|\s*\n\s*", re.DOTALL)
_REPEATED = re.compile(  # what repeats the texts of the page of a check, or stands on each
    r'<pre>.*?</pre>|<ul class="np-says">.*?</ul>|<p class="np-(?:name|pills|applies)">.*?</p>|<nav.*?</nav>', re.DOTALL
)
_EXCLUDED = "data-search-exclude"

_pages: list[tuple[str, str, str, float, str]] = []


def on_page_content(html: str, *, page: Any, **_: Any) -> str:
    """The content of a page with what styles and search do not need left out."""
    leaner = lean(html)
    if not page.meta.get("search", {}).get("exclude"):
        _pages.extend(entries(leaner, page.url, page.title, page.meta))
    return leaner.replace(f" {_EXCLUDED}", "")


def on_post_page(output: str, **_: Any) -> str:
    """The page without the blanks of its template."""
    return _SPACED.sub(lambda match: match[1] or "\n", output).strip() + "\n"


def on_post_build(*, config: Any) -> None:
    """Write the words of all pages as a script, which a copy on a disk can load too."""
    folder = Path(config.site_dir) / "search"
    folder.mkdir()
    said = {name: config.extra["words"][name] for name in ("none", "some", "more")}
    rows, sentences = (json.dumps(one, ensure_ascii=False, separators=(",", ":")) for one in (_pages, said))
    (folder / "pages.js").write_text(f"npulintPages({rows},{sentences});\n", encoding="utf-8", newline="\n")
    _pages.clear()


def lean(content: str) -> str:
    """The same to a reader: characters instead of references where HTML allows it, and no markup for tokens of code
    that have no colour."""
    content = _REFERENCE.sub(lambda match: html.escape(chr(int(match[1]))), content)
    return _PLAIN_TOKEN.sub(r"\1", content).replace("<pre><span></span>", "<pre>")


def entries(content: str, url: str, title: str, meta: dict[str, Any]) -> list[tuple[str, str, str, float, str]]:
    """What search knows of a page: address, title, codes and names, weight and words; a page without tags gives an
    entry for each section."""
    tags = " ".join(meta.get("tags", ()))
    weight = float(meta.get("search", {}).get("boost", 1))
    content = _FIRST.sub("", content, count=1)
    parts = _sections(_REPEATED.sub("", content) if tags else content)
    if tags:
        text = " ".join(text for _, heading, text in parts if heading is not None)
        return [(url, title, tags, weight, text)]
    found = [(url, title, "", weight, parts[0][2])]
    for anchor, heading, text in parts[1:]:
        if heading is not None:
            found.append((f"{url}#{anchor}", f"{title}: {heading}", "", 1.0, text))
    return found


def _sections(content: str) -> list[tuple[str, str | None, str]]:
    """Anchor, heading and words of the beginning and of each section; no heading where search leaves it out."""
    matches = list(_HEADING.finditer(content))
    ends = [*(match.start() for match in matches), len(content)]
    found: list[tuple[str, str | None, str]] = [("", "", words(content[: ends[0]]))]
    for match, end in zip(matches, ends[1:], strict=True):
        anchor = re.search(r'\bid="([^"]*)"', match["attributes"])
        title = None if _EXCLUDED in match["attributes"] else words(match["title"])
        found.append((anchor[1] if anchor else "", title, words(content[match.end() : end])))
    return found


def words(content: str) -> str:
    """The text of HTML on one line."""
    return " ".join(html.unescape(_TAG.sub(" ", content)).split())
