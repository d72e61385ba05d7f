"""Foreign texts in Markdown: they are shown and nothing else, on GitHub and on GitLab."""

from __future__ import annotations

import re

from npulint.lazy_regex import lazy_compile
from npulint.report.terminal import escape_control_chars

_MARKUP = str.maketrans({char: f"\\{char}" for char in "\\*_[]~|$`"} | {"<": "&lt;", ">": "&gt;", "&": "&amp;"})
_APART = "&#8203;"  # a blank without width: what it parts is no longer a user, an issue or an address
_CALL = lazy_compile(r"(?<=[@#!])(?=\w)|(?<=:)(?=//)|(?<=\bwww)(?=\.)", re.IGNORECASE | re.ASCII)
_ADDRESS = lazy_compile(r"https?://[!-~]+")
_UNSAFE = lazy_compile(r"[^A-Za-z0-9_.~/?#=&:@%+,;-]")


def prose(text: str, *, cell: bool = False) -> str:
    """`text` on one line, safe in a paragraph or, as a `cell`, in a table; what stands in backticks stays code."""
    parts = escape_control_chars(text).split("`")
    if len(parts) % 2 == 0:  # the last backtick has no partner
        parts[-2:] = ["`".join(parts[-2:])]
    last = len(parts) - 1
    told = []
    for place, part in enumerate(parts):
        if place % 2:
            told.append(code(part, cell=cell))
        else:
            told.append(_escaped(part) or (_APART if 0 < place < last else ""))
    return "".join(told)


def code(text: str, *, cell: bool = False) -> str:
    """`text` as code, its backticks included; in the cell of a table its bars would end the cell."""
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
    """Markup that leads to `url`, if that is an address of the web; else `shown` as it is."""
    if not _ADDRESS.fullmatch(url):
        return shown
    return f"[{shown}]({_UNSAFE.sub(lambda match: f'%{ord(match.group()):02X}', url)})"


def _escaped(text: str) -> str:
    apart = _CALL.sub("\0", text)
    return apart.translate(_MARKUP).replace("\0", _APART)
