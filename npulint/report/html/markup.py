"""HTML generation. All text from outside must pass through these functions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape

from npulint.core.texts import known, say
from npulint.report.terminal import escape_control_chars

_LINKED = ("https://", "http://", "file://")  # other schemes could run a script
_UNSAFE = re.compile("[^A-Za-z0-9_-]")
_BLANKS = re.compile("[ \t\r\n]+")
_ABSOLUTE = re.compile("/|[A-Za-z]:/")


def escape_html(text: str) -> str:
    """`text` escaped for element content, on one line, control characters visible."""
    return escape(escape_control_chars(text), quote=False)


def attribute(text: str) -> str:
    """`text` escaped for a double-quoted attribute."""
    return escape(escape_control_chars(text), quote=True)


def inline_markdown(text: str) -> str:
    """`text` as `escape_html`, with backticks as code; an unpaired backtick stays."""
    if "`" not in text:
        return escape_html(text)
    parts = escape_html(text).split("`")
    if len(parts) % 2 == 0:
        parts[-2:] = ["`".join(parts[-2:])]
    return "".join(f"<code>{part}</code>" if place % 2 else part for place, part in enumerate(parts))


def paragraph(text: str) -> str:
    """`inline_markdown` of a text with line breaks replaced by blanks."""
    return inline_markdown(_BLANKS.sub(" ", text).strip(" "))


def topic_name(topic: str, lang: str) -> str:
    """The name of a topic for people; a topic of the team's own checks is its name."""
    return say(lang, f"topic.{topic}") if known(f"topic.{topic}") else topic


def identifier(prefix: str, name: str) -> str:
    """An element id from a code or fingerprint."""
    return f"{prefix}-{_UNSAFE.sub('_', name)}"


def outside(url: str, label: str) -> str:
    """An external link; only the `label` when `url` is not a web address."""
    if not url.lower().startswith(_LINKED):
        return escape_html(label) if url else ""
    return f'<a href="{attribute(url)}" target="_blank" rel="noopener noreferrer">{escape_html(label)}</a>'


def table(caption: str, heads: Sequence[str], rows: Iterable[Sequence[str]], name: str = "") -> str:
    """A table of cells that are HTML already; the first cell of each row is its header."""
    marked = f' class="{name}"' if name else ""
    top = "".join(f'<th scope="col">{head}</th>' for head in heads)
    body = "\n".join(
        f'<tr><th scope="row">{row[0]}</th>' + "".join(f"<td>{cell}</td>" for cell in row[1:]) + "</tr>" for row in rows
    )
    return (
        f'<div class="wide"><table{marked}><caption>{caption}</caption>\n'
        f"<thead><tr>{top}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>"
    )


def section(name: str, title: str, body: str, kind: str = "") -> str:
    """A section with a heading."""
    marked = f' class="{kind}"' if kind else ""
    head = f'<h2 id="{name}-title">{title}</h2>'
    return f'<section id="{name}"{marked} aria-labelledby="{name}-title">\n{head}\n{body}\n</section>'


class ShortPaths:
    """Shortens absolute paths by their common folder."""

    def __init__(self, paths: Iterable[str]) -> None:
        folders = [path.split("/")[:-1] for path in paths if _ABSOLUTE.match(path)]
        shared = _shared(min(folders), max(folders)) if folders else []
        self.root = shared[-1] if len(shared) > 1 else ""
        self._cut = len("/".join(shared)) + 1 if shared else 0

    def __call__(self, path: str) -> str:
        """The shortened path, not escaped."""
        return path[self._cut :] if self._cut and _ABSOLUTE.match(path) else path


def _shared(first: Sequence[str], last: Sequence[str]) -> Sequence[str]:
    for index, part in enumerate(first):
        if index >= len(last) or last[index] != part:
            return first[:index]
    return first
