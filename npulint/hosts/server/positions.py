r"""Conversion between npulint's and LSP positions.

npulint counts lines and columns from 1 and columns in code points; LSP counts from 0, and columns in units of the
negotiated encoding. Both end a line at ``\n``, ``\r\n`` and ``\r`` only.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from lsprotocol.types import Position, PositionEncodingKind, Range

from npulint.facts.model import Span

_END = re.compile(r"\r\n|\r|\n")
_WIDTH = {"utf-16": ("utf-16-le", 2), "utf-8": ("utf-8", 1), "utf-32": ("utf-32-le", 4)}


def split(text: str) -> list[str]:
    """The lines of a text without line ends: one more than there are line ends."""
    return _END.split(text)


def line_end(text: str) -> str:
    """The line end of a text, that of its first line."""
    match = _END.search(text)
    return match[0] if match else "\n"


def units(text: str, encoding: str) -> int:
    """The length of a text in units of `encoding`."""
    if text.isascii():
        return len(text)
    codec, width = _WIDTH[encoding]
    return len(text.encode(codec, "surrogatepass")) // width


def points(line: str, limit: int, encoding: str) -> int:
    """The number of code points in the first `limit` units of a line, without a split one; at most the length of the
    line."""
    if line.isascii() or encoding == "utf-32":
        return min(limit, len(line))
    taken = 0
    for number, char in enumerate(line):
        taken += units(char, encoding)
        if taken > limit:
            return number
    return len(line)


class TextPositions:
    """The positions in one text, for `encoding` ``utf-8``, ``utf-16`` or ``utf-32``."""

    def __init__(self, lines: Sequence[str], encoding: str = "utf-16") -> None:
        self._lines = lines
        self._encoding = encoding

    def position(self, line: int, column: int) -> Position:
        """The LSP position of a line and column, clamped to the text."""
        if line > len(self._lines):
            last = self._lines[-1] if self._lines else ""
            return Position(max(0, len(self._lines) - 1), units(last, self._encoding))
        text = self._lines[line - 1] if line > 0 else ""
        return Position(max(0, line - 1), units(text[: max(0, column - 1)], self._encoding))

    def range(self, span: Span) -> Range:
        """The LSP range of a span; the end is never before the start."""
        start = self.position(span.line, span.column)
        end = self.position(span.end_line, span.end_column)
        return Range(start, end if (end.line, end.character) >= (start.line, start.character) else start)

    def place(self, position: Position) -> tuple[int, int]:
        """The line and column of an LSP position, clamped to the text."""
        if position.line >= len(self._lines):
            return max(1, len(self._lines)), len(self._lines[-1]) + 1 if self._lines else 1
        return position.line + 1, points(self._lines[position.line], position.character, self._encoding) + 1

    def span(self, lsp_range: Range) -> Span:
        """The span of an LSP range."""
        return Span(*self.place(lsp_range.start), *self.place(lsp_range.end))


def replaced(text: str, lsp_range: Range, new: str, encoding: str) -> str:
    """`text` with an LSP range replaced by `new`."""
    matches = list(_END.finditer(text))
    starts = [0, *(match.end() for match in matches)]
    ends = [*(match.start() for match in matches), len(text)]

    def offset(position: Position) -> int:
        if position.line >= len(starts):
            return len(text)
        start = starts[position.line]
        return start + points(text[start : ends[position.line]], position.character, encoding)

    start, end = sorted((offset(lsp_range.start), offset(lsp_range.end)))
    return text[:start] + new + text[end:]


def agreed(offered: Sequence[PositionEncodingKind | str] | None) -> str:
    """The position encoding for a client that supports the `offered` ones, by its preference."""
    names = [kind.value if isinstance(kind, PositionEncodingKind) else kind for kind in offered or ()]
    return next((name for name in names if name in _WIDTH), "utf-16")
