"""The one place where npulint's places become an editor's and back.

npulint counts lines and columns from 1 and columns in code points; editors count from 0, and columns in the units
of the encoding that was agreed on. Both end a line at ``\\n``, ``\\r\\n`` and ``\\r`` only.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from lsprotocol.types import Position, PositionEncodingKind, Range

from npulint.facts.model import Span

_END = re.compile(r"\r\n|\r|\n")
_WIDTH = {"utf-16": ("utf-16-le", 2), "utf-8": ("utf-8", 1), "utf-32": ("utf-32-le", 4)}


def split(text: str) -> list[str]:
    """The lines of a text without their ends; there is one more than there are ends."""
    return _END.split(text)


def line_end(text: str) -> str:
    """What ends the lines of a text, by its first one."""
    found = _END.search(text)
    return found[0] if found else "\n"


def units(text: str, encoding: str) -> int:
    """The length of a text as the editor counts it."""
    if text.isascii():
        return len(text)
    codec, width = _WIDTH[encoding]
    return len(text.encode(codec, "surrogatepass")) // width


def points(line: str, wanted: int, encoding: str) -> int:
    """How many code points of a line the first `wanted` units are; one that is cut in two does not count, and
    what lies behind the end of the line is its end."""
    if line.isascii() or encoding == "utf-32":
        return min(wanted, len(line))
    taken = 0
    for number, char in enumerate(line):
        taken += units(char, encoding)
        if taken > wanted:
            return number
    return len(line)


class Places:
    """The places of one text, for an editor that counts in `encoding` (``utf-8``, ``utf-16`` or ``utf-32``)."""

    def __init__(self, lines: Sequence[str], encoding: str = "utf-16") -> None:
        self._lines = lines
        self._encoding = encoding

    def position(self, line: int, column: int) -> Position:
        """The editor's position of a place of npulint; one outside the text moves to its border."""
        if line > len(self._lines):
            last = self._lines[-1] if self._lines else ""
            return Position(max(0, len(self._lines) - 1), units(last, self._encoding))
        text = self._lines[line - 1] if line > 0 else ""
        return Position(max(0, line - 1), units(text[: max(0, column - 1)], self._encoding))

    def range(self, span: Span) -> Range:
        """The editor's range of a span; it never ends before it begins."""
        start = self.position(span.line, span.column)
        end = self.position(span.end_line, span.end_column)
        return Range(start, end if (end.line, end.character) >= (start.line, start.character) else start)

    def place(self, position: Position) -> tuple[int, int]:
        """Line and column of npulint at a position of the editor; one outside the text moves to its border."""
        if position.line >= len(self._lines):
            return max(1, len(self._lines)), len(self._lines[-1]) + 1 if self._lines else 1
        return position.line + 1, points(self._lines[position.line], position.character, self._encoding) + 1

    def span(self, given: Range) -> Span:
        """The span of a range of the editor."""
        return Span(*self.place(given.start), *self.place(given.end))


def replaced(text: str, given: Range, new: str, encoding: str) -> str:
    """`text` with `new` instead of what stands at a range of the editor."""
    found = list(_END.finditer(text))
    starts = [0, *(one.end() for one in found)]
    ends = [*(one.start() for one in found), len(text)]

    def offset(position: Position) -> int:
        if position.line >= len(starts):
            return len(text)
        start = starts[position.line]
        return start + points(text[start : ends[position.line]], position.character, encoding)

    start, end = sorted((offset(given.start), offset(given.end)))
    return text[:start] + new + text[end:]


def agreed(wanted: Sequence[PositionEncodingKind | str] | None) -> str:
    """The encoding of positions for an editor that lists those it can count in, the best first."""
    names = [kind.value if isinstance(kind, PositionEncodingKind) else kind for kind in wanted or ()]
    return next((name for name in names if name in _WIDTH), "utf-16")
