"""The terminal back end of report documents."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from npulint.core.texts import count, say
from npulint.report.document.model import Checklist, ChecklistEntry, DifferenceRow, PlaceCell, ValueCell
from npulint.report.terminal import Paint, cells, cut, escape_control_chars, leading, linked, wrap
from npulint.report.view import ReportView

# Text columns on a terminal, wrapped within their column.

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


WIDTH = 100  # cells if the terminal width is unknown
_NARROW = 64  # cells below which both sides are stacked
_TALL = 4  # lines of one value
_INDENT = 4
_NUMBERS = 14  # minimum cells of an item's numbers
_PLACES = 5  # of an item
_ORDER = ("differs", "unknown", "consistent", "unused")
_COLOR = {"differs": "red", "unknown": "yellow", "consistent": "green", "unused": "dim", "note": "cyan", "same": "dim"}


class Checklists:
    """Renders checklists; only verbose reports list equal rows."""

    def __init__(self, view: ReportView) -> None:
        self._view = view
        self._lang = view.lang
        self._paint = Paint(view.color)
        self._width = view.width or WIDTH

    def lines(self, checklist: Checklist) -> list[str]:
        """Both programs, the items, both sides of rows that are not equal, and notes on omissions."""
        head = [self._paint("bold", checklist.title) + say(self._lang, "aside", text=checklist.tally)]
        if cells(checklist.title + say(self._lang, "aside", text=checklist.tally)) > self._width:
            head = [self._paint("bold", checklist.title), *self._folded(checklist.tally)]
        programs = [
            [[Line(self._say(each.role))], [Line(leading(each.entry), "bold")], [Line(each.traits, "dim")]]
            for each in checklist.programs
        ]
        rows = [
            [
                [Line(item.status.text, _COLOR.get(item.status.word, ""))],
                [Line(escape_control_chars(item.title))],
                [Line(item.numbers, "dim")],
            ]
            for item in checklist.items
        ]
        lines = [*head, *self._columns(programs, widths(programs, self._width - 2))]
        lines += [*(self._paint("dim", line) for line in self._folded(checklist.why)), ""] if checklist.why else [""]
        lines += [*(self._columns(rows, self._item_columns(rows)) if rows else ()), *self._details(checklist.items)]
        same = sum(item.equal for item in checklist.items)
        if same and not self._view.verbose:
            hint = self._folded(count(self._lang, "compare.rows.same.hint", same))
            lines += ["", *(self._paint("dim", line) for line in hint)]
        if checklist.hidden:
            lines += ["", *(self._paint("dim", line) for line in self._folded(checklist.hidden))]
        return lines

    def _say(self, key: str) -> str:
        return say(self._lang, f"compare.{key}")

    def _folded(self, text: str) -> list[str]:
        return [f"  {line}" for line in fold(text, self._width - 2)]

    def _columns(self, rows: Sequence[Sequence[Sequence[Line]]], columns: Sequence[int]) -> list[str]:
        return [f"  {line}" for row in rows for line in row_lines(row, columns, self._paint)]

    def _item_columns(self, rows: Sequence[Sequence[Sequence[Line]]]) -> list[int]:
        """Column widths of the items; titles are wrapped rather than numbers."""
        status, title, numbers = (max(cells(row[column][0].text) for row in rows) for column in range(3))
        room = self._width - status - 6
        title = min(title, max(room - numbers, room - _NUMBERS))
        return [status, title, max(1, min(numbers, room - title))]

    def _details(self, items: Sequence[ChecklistEntry]) -> list[str]:
        """The rows of each item, with the same column widths for all items."""
        verbose = self._view.verbose
        chosen = [(item, [self._row(row) for row in (*item.rows, *(item.same if verbose else ()))]) for item in items]
        chosen.sort(
            key=lambda drawn: (not drawn[1], _rank(drawn[0]), drawn[0].weight)
        )  # column heads precede their rows
        rows = [row for _, item_rows in chosen for row in item_rows]
        wide = self._width >= _NARROW
        heads = [[Line(self._say(f"heading.{word}"), "dim")] for word in ("what", "reference", "migrated")]
        columns = widths([heads, *rows], self._width - _INDENT)
        lines = []
        for item, lineseses in chosen:
            body = [self._paint("dim", line) for line in self._look(item)] + self._places(item.places)
            for row in lineseses:
                body += row_lines(row, columns, self._paint, _TALL) if wide else self._stacked(row)
            body += [self._paint("dim", note) for note in item.notes]
            if body:
                lines += ["", *self._heading(item), *(" " * _INDENT + line for line in body)]
        head = [" " * _INDENT + line for line in row_lines(heads, columns, self._paint)] if wide and rows else []
        return ["", *head, *lines[1:]] if head else lines

    def _heading(self, item: ChecklistEntry) -> list[str]:
        title = escape_control_chars(item.title)
        if item.status.word != "differs":
            title += say(self._lang, "aside", text=item.status.text)
        return [f"  {self._paint('bold', line)}" for line in fold(title, self._width - 2)]

    def _look(self, item: ChecklistEntry) -> list[str]:
        return fold(escape_control_chars(item.look), self._width - _INDENT) if item.look else []

    def _stacked(self, row: Sequence[Sequence[Line]]) -> list[str]:
        """A row on a narrow terminal, both sides below each other."""
        names = [Line(self._say(side), "dim") for side in ("reference", "migrated")]
        first = max(cells(name.text) for name in names)
        room = max(10, self._width - _INDENT - first - 4)
        what, *sides = row
        lines = [
            drawn(Line(part, line.color), self._paint)
            for line in what
            for part in fold(line.text, self._width - _INDENT)
        ]
        for name, side in zip(names, sides, strict=True):
            lines += [f"  {line}" for line in row_lines([[name], side], [first, room], self._paint, _TALL)]
        return lines

    def _row(self, row: DifferenceRow) -> list[list[Line]]:
        color, what = _COLOR.get(row.answer, ""), escape_control_chars(row.what)
        if row.answer == "differs":
            first = Line(what)
        else:
            first = Line(what + say(self._lang, "aside", text=self._say(f"answer.{row.answer}")), color)
        remarks = [Line(text, "dim") for text in (row.reason, row.also) if text]
        return [[first, *remarks], self._value(row.reference, ""), self._value(row.migrated, color)]

    def _value(self, value: ValueCell | None, color: str) -> list[Line]:
        """The value, its place, and the names through which it is passed."""
        if value is None:
            return [Line(self._say("absent"), "dim")]
        lines = [Line(escape_control_chars(value.text), color)]
        if value.place is not None:
            steps = [f"{value.place.label}:{value.place.span.line}", *map(escape_control_chars, value.steps)]
            lines.append(Line(f" {ARROW} ".join(steps), "dim", self._address(value.place.path)))
        return lines

    def _places(self, places: Sequence[PlaceCell]) -> list[str]:
        """The places that make an item differ without being in a row."""
        shown = places if self._view.verbose else places[:_PLACES]
        lines = [self._place(place_cell) for place_cell in shown]
        if len(places) > len(shown):
            lines.append(count(self._lang, "related.more", len(places) - len(shown)))
        return lines

    def _place(self, place_cell: PlaceCell) -> str:
        place = Line(f"{leading(place_cell.path)}:{place_cell.span.line}", "dim", self._address(place_cell.path))
        return f"{drawn(place, self._paint)}  {self._paint('dim', escape_control_chars(place_cell.check))}".rstrip()

    def _address(self, path: str) -> str:
        """The URL by which a terminal opens the file; empty without links."""
        if not self._view.links:
            return ""
        try:
            return Path(path).absolute().as_uri()
        except (OSError, ValueError):
            return ""


def _rank(item: ChecklistEntry) -> int:
    return _ORDER.index(item.status.word) if item.status.word in _ORDER else 0
