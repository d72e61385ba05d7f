"""Rewrites what Python 3.12 has added to statements for the older Python that npulint may run on: aliases of types
(``type Row = list[int]``) and parameters for types (``def first[T](rows)``, ``class Box[T]``). Nothing else moves."""

from __future__ import annotations

import io
import tokenize
from collections.abc import Iterator

from npulint.core.lazy_regex import lazy_compile

_NEWER = lazy_compile(r"(?m)^[ \t]*(?:(?:async[ \t]+)?def|class|type)[ \t]+\w+[ \t]*[\[=]")
_LAYOUT = frozenset((tokenize.COMMENT, tokenize.NL, tokenize.INDENT, tokenize.DEDENT))

Edit = tuple[int, int, int, str]
"""Line (from 1), first column, end column, replacement of the same length."""


def older(text: str) -> str:
    """The source with such statements rewritten; unchanged where there are none."""
    if _NEWER.search(text) is None:
        return text
    lines = text.split("\n")
    for line, start, end, new in _edits(text):
        lines[line - 1] = lines[line - 1][:start] + new + lines[line - 1][end:]
    return "\n".join(lines)


def _edits(text: str) -> Iterator[Edit]:
    for statement in _statements(text):
        words = [token.string for token in statement]
        at = 1 if words[0] == "async" else 0
        if len(words) < at + 3 or words[at] not in ("def", "class", "type") or not words[at + 1].isidentifier():
            continue
        if words[at] == "type" and words[at + 2] in ("[", "="):
            first, name = statement[0], statement[1]
            if first.end[0] == name.end[0]:
                yield (*first.start, name.end[1], name.string.ljust(name.end[1] - first.start[1]))
        end = _closing(words, at + 2)
        if words[at + 2] == "[" and end and statement[at + 2].start[0] == statement[end].end[0]:
            (line, start), stop = statement[at + 2].start, statement[end].end[1]
            yield line, start, stop, " " * (stop - start)


def _statements(text: str) -> Iterator[list[tokenize.TokenInfo]]:
    """The words of each logical line, as far as the source can be read."""
    statement: list[tokenize.TokenInfo] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.NEWLINE:
                if statement:
                    yield statement
                statement = []
            elif token.type not in _LAYOUT:
                statement.append(token)
    except (tokenize.TokenError, SyntaxError, ValueError):
        return


def _closing(words: list[str], start: int) -> int:
    """The index of the bracket that closes the one at `start`; 0 if there is none."""
    depth = 0
    for index in range(start, len(words)):
        depth += (words[index] in ("[", "(", "{")) - (words[index] in ("]", ")", "}"))
        if depth <= 0:
            return index if words[start] == "[" else 0
    return 0
