"""Syntax colours of source lines: keywords, strings and comments, told by a small scanner that any text can pass.

Tags are as short as can be, since a page has thousands of them: ``<b>`` keywords, ``<u>`` strings, ``<i>`` comments."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from functools import cache
from html import escape
from keyword import kwlist

from npulint.report.terminal import escape_control_chars

_WORDS = {
    "python": kwlist,
    "shell": "if then elif else fi for while until do done case esac in function return export local exit".split(),
    "other": ["true", "false", "null"],
}
_LANGUAGES = {".py": "python", ".ipynb": "python", ".sh": "shell", ".bash": "shell"}
_QUOTED = r"""'(?:\\.|[^'\\\n])*(?:'|$)|"(?:\\.|[^"\\\n])*(?:"|$)"""
_TRIPLE = r"""'{3}[\s\S]*?(?:'{3}|\Z)|"{3}[\s\S]*?(?:"{3}|\Z)"""
_COMMENT = r"(?<![\w$&{])\#[^\n]*"
_LONG = 500_000  # characters of a file that is searched for strings of several lines

Token = tuple[int, int, str]
"""Where a token begins and ends in its line, and its tag."""


@cache
def _scanner(language: str) -> re.Pattern[str]:
    strings = rf"(?:\b[bfruBFRU]{{1,2}})?(?:{_TRIPLE}|{_QUOTED})" if language == "python" else _QUOTED
    words = "|".join(_WORDS[language])
    return re.compile(rf"(?P<u>{strings})|(?P<i>{_COMMENT})|(?P<b>(?<![\w.$-])(?:{words})(?![\w-]))")


class Syntax:
    """The syntax of one file: `lines` are all of its lines, needed for strings that begin on lines above."""

    def __init__(self, path: str, lines: Sequence[str] = ()) -> None:
        self._language = _LANGUAGES.get(posixpath.splitext(path)[1], "other")
        self._inside = _inside(lines) if path.endswith(".py") else {}

    def tokens(self, text: str, number: int = 0) -> list[Token]:
        """The tokens of a line; `number` (0: unknown) says whether it begins within a string."""
        begin, found = 0, []
        quote = self._inside.get(number)
        if quote:
            end = text.find(quote)
            begin = len(text) if end < 0 else end + len(quote)
            found.append((0, begin, "u"))
        for match in _scanner(self._language).finditer(text, begin):
            found.append((match.start(), match.end(), match.lastgroup or ""))
        return found


def _inside(lines: Sequence[str]) -> dict[int, str]:
    """The lines that begin within a string of several lines, by number, with the quote that ends it."""
    text = "\n".join(lines)
    if len(text) > _LONG or ('"""' not in text and "'''" not in text):
        return {}
    found: dict[int, str] = {}
    number, last = 1, 0
    for match in _scanner("python").finditer(text):
        if match.lastgroup != "u" or "\n" not in match[0]:
            continue
        number += text.count("\n", last, match.start())
        rest = match[0].count("\n")
        quote = match[0].lstrip("bfruBFRU")[:3]
        found.update(dict.fromkeys(range(number + 1, number + rest + 1), quote))
        number, last = number + rest, match.end()
    return found


def colored(text: str, tokens: Sequence[Token], first: int, last: int) -> str:
    """The part of a line from `first` to `last` as HTML, its tokens in their tags."""
    pieces = []
    for begin, end, tag in tokens:
        begin, end = max(begin, first), min(end, last)
        if begin < end:
            pieces += [plain(text[first:begin]), f"<{tag}>", plain(text[begin:end]), f"</{tag}>"]
            first = end
    return "".join([*pieces, plain(text[first:last])])


def plain(text: str) -> str:
    """Source text as HTML, without colours."""
    return escape(escape_control_chars(text.replace("\t", "    ")), quote=False)
