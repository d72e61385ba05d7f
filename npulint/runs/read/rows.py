"""Reads profiler tables row by row: all generations of headings, tolerating later edits of the file."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from math import hypot
from operator import itemgetter
from typing import BinaryIO, Literal, NamedTuple

import msgspec

from npulint.data.run_columns import Header, understand

LINE = 1 << 20
"""Maximum bytes of a line; the rest is skipped."""

CELL = 1 << 14
"""Maximum characters of a cell."""

_EDGES = ' \t\r\n"'
_LARGEST = 1e300  # larger values are infinities and NaN
_COUNTED = frozenset(("duration_us", "total_us", "max_us", "wait_us", "count", "block", "mix_block"))
"""Columns without negative values, which would reduce the totals of shares."""

_BLOCK = 1 << 18
_NOTHING = frozenset(("", "N/A", "NA", "n/a", "-", "None"))


class Row(NamedTuple):
    """The requested cells of a row by key: `text`, and `number` for numeric columns. Missing columns are in neither,
    missing numbers (``N/A``) not in `number`."""

    text: dict[str, str]
    number: dict[str, float]


Note = Literal["", "empty", "header", "unread", "older", "first", "no-npu", "gpu"]


class Seen(msgspec.Struct):
    """What was found out about a table, complete after its rows. `generation` is the year of the tools that wrote it
    (0: no header), `columns` are the requested keys that it has, `headings` all headings as written, `missing` required
    keys that it lacks, in which case there are no rows. `malformed` counts rows with a wrong number of cells, or
    without a required number, the first of them in line `first_malformed`; they are not counted in `rows`. Readers may
    set a `note`."""

    form: str
    rows: int = 0
    malformed: int = 0
    first_malformed: int = 0
    generation: int = 0
    columns: tuple[str, ...] = ()
    headings: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    note: Note = ""

    def reject(self, line: int) -> None:
        """Count an unusable row."""
        self.malformed += 1
        self.first_malformed = self.first_malformed or line


def rows(stream: BinaryIO, form: str, wanted: Sequence[str], seen: Seen) -> Iterator[tuple[int, Row]]:
    """(first line, row) of a table of `form`, with the cells of the keys `wanted` (listed per form in
    data-src/run_columns.csv). Malformed rows are counted in `seen` and skipped. Raises only what reading `stream`
    raises."""
    lines = texts(stream)
    first, skipped = _first(lines)
    cells = header_cells(first)
    header = understand(form, cells)
    seen.generation = header.generation if first else 0
    seen.missing = header.missing
    seen.headings = tuple(cells)
    seen.columns = tuple(key for key in wanted if key in header.positions)
    if first and not header.missing:
        needed = len(cells)
        pick = _Picked(header, seen.columns).row
        for line, record in _records(lines, delimiter_of(first), skipped, seen):
            if len(record) != needed and not _same_width(record, needed):
                seen.reject(line)
                continue
            row = pick(record)
            if row is not None:
                seen.rows += 1
                yield line, row
            elif [cell.strip(_EDGES) for cell in record] != cells:  # concatenated tables repeat the header
                seen.reject(line)


def texts(stream: BinaryIO) -> Iterator[str]:
    """The decoded lines of a file with line ends: UTF-8, else GB18030, without NUL, truncated at `LINE` bytes."""
    return chain.from_iterable(map(_decoded, _blocks(stream)))


def _blocks(stream: BinaryIO) -> Iterator[bytes]:
    """Blocks of whole lines without NUL and byte order mark, truncated at `LINE` bytes."""
    rest, start = b"", True
    while data := stream.read(_BLOCK):
        data = rest + data
        end = data.find(b"\n") + 1
        if (end or len(data)) > LINE:  # only the first line of a block may be so long
            data = data[:LINE] + b"\n" + (data[end:] if end else _line_skipped(stream))
        cut = data.rfind(b"\n") + 1
        block, rest = data[:cut], data[cut:]
        if b"\0" in block:
            block = block.replace(b"\0", b"")
        if start and block:
            block, start = block.removeprefix(b"\xef\xbb\xbf"), False
        yield block
    if rest:
        rest = rest.replace(b"\0", b"")
        yield rest.removeprefix(b"\xef\xbb\xbf") if start else rest


def _line_skipped(stream: BinaryIO) -> bytes:
    """Skip the rest of a long line; returns the data read beyond it."""
    while data := stream.read(_BLOCK):
        if end := data.find(b"\n") + 1:
            return data[end:]
    return b""


def _decoded(block: bytes) -> Iterable[str]:
    try:
        return io.StringIO(block.decode(), newline="\n")
    except UnicodeDecodeError:
        return map(_line_decoded, io.BytesIO(block))


def _line_decoded(line: bytes) -> str:
    try:
        return line.decode()
    except UnicodeDecodeError:
        return line.decode("gb18030", "replace")


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
    """The delimiter of a header: in some locales spreadsheets save with ``;`` or tabs."""
    return max(",\t;", key=line.count)


def _first(lines: Iterator[str]) -> tuple[str, int]:
    """The first non-blank line, and the number of lines read."""
    number = 0
    for line in lines:
        number += 1
        if line.strip(_EDGES + ",;"):
            return line, number
    return "", number


def _records(lines: Iterable[str], delimiter: str, skipped: int, seen: Seen) -> Iterator[tuple[int, list[str]]]:
    """(first line, cells) of each non-blank row."""
    reader = csv.reader(lines, delimiter=delimiter)
    line = skipped + 1
    while True:
        try:
            for cells in reader:
                if cells:
                    yield line, cells
                line = skipped + reader.line_num + 1
            return
        except csv.Error:  # e.g. an unterminated quote; continues with the next line
            seen.reject(line)
            line = skipped + reader.line_num + 1


def _same_width(cells: list[str], width: int) -> bool:
    """Whether a row has as many cells as the header, ignoring empty ones at its end."""
    return len(cells) > width and not any(cell.strip(_EDGES) for cell in cells[width:])


class _Picked:
    """Extracts the requested cells from the rows of one table."""

    def __init__(self, header: Header, keys: Sequence[str]) -> None:
        places = header.positions
        self._texts = [(key, places[key]) for key in keys if key not in header.numbers]
        self._numbers = [(key, places[key]) for key in keys if key in header.numbers]
        self._required = header.required
        self._keys = [key for key, _ in self._numbers]
        self._of_numbers = _at([place for _, place in self._numbers])

    def row(self, cells: list[str]) -> Row | None:
        """The row; None if a required number is missing."""
        numbers: dict[str, float] | None
        try:
            values = [*map(float, self._of_numbers(cells))]
        except ValueError:
            numbers = self._one_by_one(cells)
        else:  # a NaN, an infinity or a huge value makes the sum of squares one too
            usual = hypot(*values) < _LARGEST and min(values, default=0.0) >= 0.0
            numbers = dict(zip(self._keys, values)) if usual else self._one_by_one(cells)  # noqa: B905
        if numbers is None:
            return None
        texts = {key: cells[place][:CELL].strip(_EDGES) for key, place in self._texts}
        return tuple.__new__(Row, (texts, numbers))

    def _one_by_one(self, cells: list[str]) -> dict[str, float] | None:
        """The numbers of a row in which some cells are not numeric."""
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
            if number < 0.0 and key in _COUNTED:
                if key in self._required:
                    return None
                continue
            numbers[key] = number
        return numbers


def _at(places: list[int]) -> Callable[[list[str]], Sequence[str]]:
    """A function that picks the cells at these positions."""
    if len(places) < 2:
        return lambda cells: [cells[place] for place in places]
    return itemgetter(*places)
