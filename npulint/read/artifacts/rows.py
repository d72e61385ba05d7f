"""Tables that profilers wrote, row by row: all generations of headings, whatever people did to the file since."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from typing import BinaryIO, NamedTuple

import msgspec

from npulint.data.run_columns import Header, understand

LINE = 1 << 20
"""Bytes of a line that are read; the rest of a longer one is passed over."""

CELL = 1 << 14
"""Characters of a cell that are kept."""

_EDGES = ' \t\r\n"'
_LARGEST = 1e300  # beyond are only infinities and NaN
_SKIP = 1 << 16
_NOTHING = frozenset(("", "N/A", "NA", "n/a", "-", "None"))


class Row(NamedTuple):
    """The wanted cells of a row by key: `text`, and `number` for columns of numbers. A column that the table lacks is
    in neither, a number that is not given (``N/A``) is not in `number`."""

    text: dict[str, str]
    number: dict[str, float]


class Seen(msgspec.Struct):
    """What a table turned out to be, complete once its rows are through. `generation` is the year of the tools that
    wrote it (0: no header), `columns` are the wanted keys that it has, `missing` needed ones that it lacks; no row is
    given then. `malformed` counts rows with cells too many or too few, or without a number where one belongs, the
    first of them in line `first_malformed`; they are not among `rows`."""

    form: str
    rows: int = 0
    malformed: int = 0
    first_malformed: int = 0
    generation: int = 0
    columns: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()

    def reject(self, line: int) -> None:
        """Count a row that cannot be used."""
        self.malformed += 1
        self.first_malformed = self.first_malformed or line


def rows(stream: BinaryIO, form: str, wanted: Sequence[str], seen: Seen) -> Iterator[tuple[int, Row]]:
    """The rows of a table of `form`, each with its first line in the file (from 1), and only the cells of the keys
    `wanted` (data-src/run_columns.csv lists them per form). Malformed rows are counted in `seen` and left out. Raises
    only what reading `stream` raises."""
    lines = texts(stream)
    first, skipped = _first(lines)
    cells = header_cells(first)
    header = understand(form, cells)
    seen.generation = header.generation if first else 0
    seen.missing = header.missing
    seen.columns = tuple(key for key in wanted if key in header.positions)
    if first and not header.missing:
        needed = len(cells)
        picked = _Picked(header, seen.columns)
        for line, found in _records(lines, delimiter_of(first), skipped, seen):
            if len(found) != needed and not _same_width(found, needed):
                seen.reject(line)
                continue
            row = picked.row(found)
            if row is not None:
                seen.rows += 1
                yield line, row
            elif [cell.strip(_EDGES) for cell in found] != cells:  # tables that were put together repeat the header
                seen.reject(line)


def texts(stream: BinaryIO) -> Iterator[str]:
    """The lines of a file as text, each with its end: UTF-8, else GB18030, without NUL, none beyond `LINE` bytes."""
    start = True
    while raw := stream.readline(LINE):
        if len(raw) == LINE and not raw.endswith(b"\n"):
            while (rest := stream.readline(_SKIP)) and not rest.endswith(b"\n"):
                pass
            raw += b"\n"
        if b"\0" in raw:
            raw = raw.replace(b"\0", b"")
        if start:
            raw, start = raw.removeprefix(b"\xef\xbb\xbf"), False
        try:
            yield raw.decode()
        except UnicodeDecodeError:
            yield raw.decode("gb18030", "replace")


def header_cells(line: str) -> list[str]:
    """The headings in the first line of a table."""
    try:
        cells = next(csv.reader([line], delimiter=delimiter_of(line)), [])
    except csv.Error:
        return []
    cells = [cell.strip(_EDGES) for cell in cells]
    while cells and not cells[-1]:
        cells.pop()
    return cells


def delimiter_of(line: str) -> str:
    """What stands between the cells of a header: spreadsheets save with ``;`` or tabs in some countries."""
    return max(",\t;", key=line.count)


def _first(lines: Iterator[str]) -> tuple[str, int]:
    """The first line with text in it, and the number of lines so far."""
    number = 0
    for line in lines:
        number += 1
        if line.strip(_EDGES + ",;"):
            return line, number
    return "", number


def _records(lines: Iterable[str], delimiter: str, skipped: int, seen: Seen) -> Iterator[tuple[int, list[str]]]:
    """The cells of each row that is not blank, with its first line."""
    reader = csv.reader(lines, delimiter=delimiter)
    line = skipped + 1
    while True:
        try:
            for cells in reader:
                if cells:
                    yield line, cells
                line = skipped + reader.line_num + 1
            return
        except csv.Error:  # a quote that never ends, for one; the reader goes on with the line after
            seen.reject(line)
            line = skipped + reader.line_num + 1


def _same_width(cells: list[str], width: int) -> bool:
    """Whether a row has as many cells as the header but for empty ones at its end."""
    return len(cells) > width and not any(cell.strip(_EDGES) for cell in cells[width:])


class _Picked:
    """Takes the wanted cells out of the rows of one table."""

    def __init__(self, header: Header, keys: Sequence[str]) -> None:
        places = header.positions
        self._texts = [(key, places[key]) for key in keys if key not in header.numbers]
        self._numbers = [(key, places[key]) for key in keys if key in header.numbers]
        self._required = header.required

    def row(self, cells: list[str]) -> Row | None:
        """The row; None when there is no number where one belongs."""
        numbers = {}
        for key, place in self._numbers:
            try:
                number = float(cells[place])
            except ValueError:
                cell = cells[place].strip(_EDGES)
                if cell in _NOTHING and key not in self._required:
                    continue
                try:
                    number = float(cell)
                except ValueError:
                    return None
            if not -_LARGEST < number < _LARGEST:
                return None
            numbers[key] = number
        return Row({key: cells[place][:CELL].strip(_EDGES) for key, place in self._texts}, numbers)
