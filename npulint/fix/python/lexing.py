"""Token positions of a source. Strings are single tokens; expressions in f-strings are fields of them."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right

_TOKEN = re.compile(
    r"""(?P<space>[ \t\f\n\\]+)|(?P<comment>\#[^\n]*)"""
    r"""|(?P<string>(?P<prefix>(?:[rR][bBfFtT]?|[bBfFtT][rR]?|[uU])?)(?P<quote>'''|\"\"\"|'|\"))"""
    r"""|\w+|.""",
    re.DOTALL,
)
_BODY = {quote: re.compile(r"(?:[^\\]|\\.)*?" + quote, re.DOTALL) for quote in ("'''", '"""', "'", '"')}
_OPENING, _CLOSING = "([{", ")]}"


class Lexed:
    """The tokens of a source range as (start, end) offsets in the whole source; also `comments` and `strings`. `fields`
    are the expressions in f-strings, outer ones first."""

    def __init__(self, source: str, begin: int, end: int) -> None:
        self.source = source
        self.starts: list[int] = []
        self.ends: list[int] = []
        self.comments: list[tuple[int, int]] = []
        self.strings: list[tuple[int, int]] = []
        self.fields: list[tuple[int, int]] = []
        place = begin
        while place < end:
            match = _TOKEN.match(source, place, end)
            if match is None:
                break
            place = match.end()
            if match.lastgroup == "space":
                continue
            if match.lastgroup == "comment":
                self.comments.append(match.span())
                continue
            if match["quote"]:
                place = string_end(source, match.start(), self.fields)
                self.strings.append((match.start(), place))
            self.starts.append(match.start())
            self.ends.append(place)

    def before(self, place: int) -> tuple[int, int]:
        """The last token that ends at or before `place`; (-1, -1) if none."""
        index = bisect_right(self.ends, place) - 1
        return (self.starts[index], self.ends[index]) if index >= 0 else (-1, -1)

    def after(self, place: int) -> tuple[int, int]:
        """The first token that starts at or after `place`; (-1, -1) if none."""
        index = bisect_left(self.starts, place)
        return (self.starts[index], self.ends[index]) if index < len(self.starts) else (-1, -1)

    def text(self, token: tuple[int, int]) -> str:
        """The text of a token; empty for (-1, -1)."""
        return self.source[token[0] : token[1]] if token[0] >= 0 else ""

    def between(self, start: int, end: int) -> list[tuple[int, int]]:
        """The tokens within a range."""
        first, last = bisect_left(self.starts, start), bisect_right(self.ends, end)
        return list(zip(self.starts[first:last], self.ends[first:last], strict=True))

    def comment_in(self, start: int, end: int) -> bool:
        """Whether a comment begins within a range."""
        index = bisect_left(self.comments, (start, start))
        return index < len(self.comments) and self.comments[index][0] < end


def parts_of(source: str, start: int) -> tuple[str, str]:
    """The prefix and quotes of the string literal at `start`."""
    match = _TOKEN.match(source, start)
    return (match["prefix"] or "", match["quote"] or "") if match else ("", "")


def string_end(source: str, start: int, fields: list[tuple[int, int]]) -> int:
    """The end of the string literal at `start`; appends expressions of an f-string to `fields`."""
    prefix, quote = parts_of(source, start)
    begin = start + len(prefix) + len(quote)
    if not set(prefix) & set("fFtT"):
        match = _BODY[quote].match(source, begin)
        return match.end() if match else len(source)
    return _literal(source, begin, quote, "r" in prefix.lower(), fields)


def _literal(source: str, place: int, quote: str, raw: bool, fields: list[tuple[int, int]]) -> int:
    """The end of an f-string after its closing quotes; with `quote` ``}``, of a format specification."""
    while place < len(source):
        char = source[place]
        if char == "\\":
            if source.startswith("\\N{", place) and not raw:
                place = source.find("}", place) + 1 or len(source)
            else:
                place += 1 if source[place + 1 : place + 2] in ("{", "}") else 2
        elif source.startswith(quote, place):
            return place + len(quote)
        elif source[place : place + 2] in ("{{", "}}") and quote != "}":
            place += 2
        elif char == "{":
            place = _field(source, place + 1, raw, fields)
        else:
            place += 1
    return place


def _field(source: str, begin: int, raw: bool, fields: list[tuple[int, int]]) -> int:
    """The end of a replacement field after its brace."""
    place, depth, index = begin, 0, len(fields)
    fields.append((begin, begin))
    while place < len(source):
        match = _TOKEN.match(source, place)
        if match is None:
            break
        text = match[0]
        if match["quote"]:
            place = string_end(source, place, fields)
            continue
        if depth == 0 and text == "}":
            fields[index] = (begin, fields[index][1] if fields[index][1] > begin else place)
            return place + 1
        if depth == 0 and text == ":":
            fields[index] = (begin, fields[index][1] if fields[index][1] > begin else place)
            return _literal(source, place + 1, "}", raw, fields)
        if depth == 0 and text == "!" and source[place + 1 : place + 2] != "=":
            fields[index] = (begin, place)
        depth += (text in _OPENING) - (text in _CLOSING)
        place = match.end()
    return place
