"""Quotes text of a project for a language model: it is data and cannot be taken for an instruction.

A quotation is on one line between ``«`` and ``»``, which it cannot contain itself. Control characters, the delimiters
of chat templates, tags and code fences are escaped, and its length is limited."""

from __future__ import annotations

import re

from npulint.core.lazy_regex import lazy_compile
from npulint.report.terminal import escape_control_chars

PATH, MESSAGE, SOURCE = 200, 400, 240
"""Most characters of a quoted path, message and source line."""

_MARKUP = lazy_compile(r"[«»]|<(?=[A-Za-z/|!?])|\[(?=/?[A-Z_]{3,}\])|```|~~~|!\[|\]\(")


def quoted(text: str, most: int = SOURCE) -> str:
    """The text as a quotation of at most about `most` characters; the middle of a longer one is left out."""
    if len(text) > most:
        half = most // 2
        text = f"{text[:half]} … {text[len(text) - half :]}"
    return f"«{_MARKUP.sub(_escaped, escape_control_chars(text))}»"


def _escaped(match: re.Match[str]) -> str:
    """The first character as an escape, which breaks the sign."""
    return f"\\x{ord(match.group()[0]):02x}{match.group()[1:]}"
