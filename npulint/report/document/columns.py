"""Text columns on a terminal, wrapped within their column."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from npulint.report.terminal import Paint, cells, cut, linked, wrap

ARROW = "->"
_GAP = 2  # cells between two columns
_BREAKS = ("/\\", "_.,;:=-")  # characters after which to break a long word, best first


class Line(msgspec.Struct, frozen=True):
    """A line of escaped text in a colour of `Paint` (empty: none), linked to an URL if not empty."""

    text: str
    color: str = ""
    url: str = ""


def fold(text: str, room: int, most: int = 0) -> list[str]:
    """The text wrapped to `room` cells, at most `most` lines (0: all); longer words are broken, and an arrow stays with
    what follows it."""
    lines = [part for way in _ways(text, room) for line in wrap(way, room) for part in _broken(line, room)] or [""]
    if not most or len(lines) <= most:
        return lines
    return [*lines[: most - 1], cut(lines[most - 1], max(1, room - 3)) + "..."]


def _ways(text: str, room: int) -> list[str]:
    """The text split before arrows into as few parts as fit `room`."""
    first, *rest = text.split(f" {ARROW} ")
    lines = [first]
    for name in rest:
        longer = f"{lines[-1]} {ARROW} {name}"
        if cells(longer) <= room:
            lines[-1] = longer
        else:
            lines.append(f"{ARROW} {name}")
    return lines


def _broken(line: str, room: int) -> list[str]:
    parts = []
    while cells(line) > room:
        head = cut(line, room) or line[:1]
        ends = (max(map(head.rfind, signs)) + 1 for signs in _BREAKS)
        end = next((end for end in ends if end > len(head) // 2), len(head))
        parts.append(line[:end])
        line = line[end:]
    return [*parts, line]


def widths(rows: Sequence[Sequence[Sequence[Line]]], room: int) -> list[int]:
    """The width of each column: its longest line if everything fits, else the wider columns share the rest."""
    longest = [
        max((cells(line.text) for cell in column for line in cell), default=1) for column in zip(*rows, strict=True)
    ]
    left = room - _GAP * (len(longest) - 1)
    order = sorted(range(len(longest)), key=longest.__getitem__)
    columns = [0] * len(longest)
    for place, column in enumerate(order):
        share = max(1, left // (len(order) - place))
        columns[column] = min(longest[column], share)
        left -= columns[column]
    return columns


def row_lines(row: Sequence[Sequence[Line]], columns: Sequence[int], paint: Paint, tall: int = 0) -> list[str]:
    """The lines of a row; each cell has at most `tall` lines (0: any number)."""
    folded = [
        [Line(part, line.color, line.url) for line in cell for part in fold(line.text, width, tall)]
        for cell, width in zip(row, columns, strict=True)
    ]
    lines = []
    for number in range(max(map(len, folded), default=0)):
        pieces = []
        for cell, width in zip(folded, columns, strict=True):
            line = cell[number] if number < len(cell) else Line("")
            pieces.append(drawn(line, paint) + " " * (width - cells(line.text) + _GAP))
        lines.append("".join(pieces).rstrip())
    return lines


def drawn(line: Line, paint: Paint) -> str:
    """A line with its colour and link."""
    text = paint(line.color, line.text) if line.color else line.text
    return linked(text, line.url) if line.url else text
