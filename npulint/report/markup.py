"""Escapes text for Markdown on GitHub and GitLab."""

from __future__ import annotations

import re

from npulint.core.lazy_regex import lazy_compile
from npulint.report.terminal import escape_control_chars

_MARKUP = str.maketrans({char: f"\\{char}" for char in "\\*_[]~|$`"} | {"<": "&lt;", ">": "&gt;", "&": "&amp;"})
_APART = "&#8203;"  # zero-width space; breaks mentions, issue references and URLs
_CALL = lazy_compile(r"(?<=[@#!])(?=\w)|(?<=:)(?=//)|(?<=\bwww)(?=\.)", re.IGNORECASE | re.ASCII)
_ADDRESS = lazy_compile(r"https?://[!-~]+")
_UNSAFE = lazy_compile(r"[^A-Za-z0-9_.~/?#=&:@%+,;-]")


def prose(text: str, *, cell: bool = False) -> str:
    """`text` on one line, escaped for a paragraph or a table `cell`; backticks stay code."""
    parts = escape_control_chars(text).split("`")
    if len(parts) % 2 == 0:  # the last backtick is unpaired
        parts[-2:] = ["`".join(parts[-2:])]
    last = len(parts) - 1
    pieces = []
    for place, part in enumerate(parts):
        if place % 2:
            pieces.append(code(part, cell=cell))
        else:
            pieces.append(_escaped(part) or (_APART if 0 < place < last else ""))
    return "".join(pieces)


def code(text: str, *, cell: bool = False) -> str:
    """`text` as code, backticks included; in a table cell bars are escaped."""
    text = escape_control_chars(text)
    if not text:
        return ""
    fence = "`"
    while fence in text:
        fence += "`"
    edges = text[0] + text[-1]
    pad = " " if "`" in edges or (edges == "  " and text.strip(" ")) else ""
    text = text.replace("|", "\\|") if cell else text
    return f"{fence}{pad}{text}{pad}{fence}"


def link(shown: str, url: str) -> str:
    """A Markdown link if `url` is a web address, else `shown`."""
    if not _ADDRESS.fullmatch(url):
        return shown
    return f"[{shown}]({_UNSAFE.sub(lambda match: f'%{ord(match.group()):02X}', url)})"


def _escaped(text: str) -> str:
    apart = _CALL.sub("\0", text)
    return apart.translate(_MARKUP).replace("\0", _APART)
