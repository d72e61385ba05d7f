"""Source excerpts with carets below the finding. The file may have changed since it was read, so lines and columns are
checked."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from npulint.facts.model import Span
from npulint.judge.source_lines import LineProvider, cell_line
from npulint.report.terminal import Paint, cells, cut, escape_control_chars

_TAB = "    "
_WIDTH = 120  # cells of source if the terminal width is unknown
_TALL = 4  # lines of a statement that are all shown


class _Shown(msgspec.Struct, frozen=True):
    """A printable line: its text, and the cells where the marked part begins and ends."""

    text: str
    start: int
    end: int


class Frames(msgspec.Struct, frozen=True):
    """Renders excerpts from `lines`, at most `width` cells wide; `gutter` is the width of line numbers."""

    lines: LineProvider
    paint: Paint
    width: int = 0
    gutter: int = 3

    def around(self, path: str, span: Span, color: str) -> list[str]:
        """The excerpt of `span` with one line of context on both sides; empty without source."""
        source = self.lines(path)
        if not 0 < span.line <= len(source):
            return []
        last = min(max(span.line, span.end_line), len(source))
        before, after = _context(source, span.line - 1), _context(source, last + 1)
        drawer = self._drawer(path, source, color)
        tall = last > span.line
        body = drawer.many(span, last) if tall else drawer.one(span)
        indent = "  " if tall else ""
        above = [drawer.plain(before, indent)] if before else []
        below = [drawer.plain(after, indent)] if after else []
        return [drawer.edge(), *above, *body, *below, drawer.edge()]

    def line(self, path: str, number: int) -> list[str]:
        """The line of a related location."""
        source = self.lines(path)
        return [self._drawer(path, source, "blue").plain(number)] if 0 < number <= len(source) else []

    def _drawer(self, path: str, source: Sequence[str], color: str) -> _Drawer:
        room = max(20, (self.width or _WIDTH) - self.gutter - 3)
        return _Drawer(path, source, self.paint, color, self.gutter, room)


def _context(source: Sequence[str], number: int) -> int:
    """The number of a neighbouring line, 0 if it is blank."""
    return number if 0 < number <= len(source) and source[number - 1].strip() else 0


class _Drawer:
    def __init__(self, path: str, source: Sequence[str], paint: Paint, color: str, gutter: int, room: int) -> None:
        self._notebook = path.endswith(".ipynb")
        self._source = source
        self._paint = paint
        self._color = color
        self._gutter = gutter
        self._room = room

    def edge(self) -> str:
        return self._row("", "")

    def plain(self, number: int, indent: str = "") -> str:
        return self._row(str(number), indent + self._fit(number, 1, 1, self._room - len(indent)).text)

    def one(self, span: Span) -> list[str]:
        """A line with carets below its marked part."""
        shown = self._fit(span.line, span.column, span.end_column, self._room)
        carets = self._paint(self._color, "^" * max(1, shown.end - shown.start))
        return [self._row(str(span.line), shown.text), self._row("", " " * shown.start + carets)]

    def many(self, span: Span, last: int) -> list[str]:
        """Several lines with a bar at the left; of many, the first two and the last."""
        numbers = list(range(span.line, last + 1))
        if len(numbers) > _TALL:
            numbers = [*numbers[:2], 0, numbers[-1]]
        rows = []
        for number in numbers:
            bar = self._paint(self._color, "/ " if number == span.line else "| ")
            text = self._fit(number, 1, 1, self._room - 2).text if number else "..."
            rows.append(self._row(str(number or ""), bar + text))
        end = self._fit(last, 1, max(2, span.end_column), self._room - 2).end
        return [*rows, self._row("", self._paint(self._color, "|" + "_" * max(1, end) + "^"))]

    def _row(self, number: str, text: str) -> str:
        left = self._paint("blue", f"{number:>{self._gutter}} |")
        return f"{left} {text}" if text else left

    def _fit(self, number: int, column: int, end_column: int, room: int) -> _Shown:
        """The line with control characters escaped, cut to a window around the marked columns."""
        line = self._source[number - 1]
        line = cell_line(line) if self._notebook else line
        first = min(max(column - 1, 0), len(line))
        end = min(max(end_column - 1, first), len(line))
        if len(line) > 4000:  # bounds the cost of measuring long lines
            skipped = max(0, first - 1000)
            line, first, end = line[skipped : skipped + 3000], first - skipped, min(end - skipped, 3000)
        head, marked, tail = (_seen(part) for part in (line[:first], line[first:end], line[end:]))
        start, finish = cells(head), cells(head) + cells(marked)
        text = escape_control_chars(head + marked + tail).rstrip()  # parts that are safe alone may not be safe together
        if cells(text) <= room:
            return _Shown(text, start, finish)
        return _window(text, start, finish, room)


def _seen(text: str) -> str:
    return escape_control_chars(text.replace("\t", _TAB))


def _window(text: str, start: int, end: int, room: int) -> _Shown:
    """`room` cells of a long line around the marked part, with dots where it is cut."""
    kept = min(end - start, room // 2)
    skip = 0 if start + kept <= room - 3 else start - room // 3
    lead = cut(text, skip)
    skip = cells(lead)
    rest = text[len(lead) :]
    dots = "..." if skip else ""
    inner = room - len(dots) - 3
    tail = "..." if cells(rest) > inner + 3 else ""
    shown = cut(rest, inner if tail else inner + 3)
    moved = start - skip + len(dots)
    return _Shown(dots + shown + tail, moved, min(moved + end - start, len(dots) + cells(shown)))
