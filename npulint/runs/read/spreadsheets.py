"""Comparisons saved as spreadsheets (msprobe, ptdbg, msaccucmp): the sheet with a comparison goes to their reader.

This needs openpyxl (the extra ``xlsx``); without it npulint asks for the CSV form."""

from __future__ import annotations

import importlib.util
import zipfile
from collections.abc import Iterator
from itertools import chain
from typing import Any

from npulint.core.lazy_regex import lazy_compile
from npulint.discover.safe_open import NotRegularError, is_regular
from npulint.facts.model import Fact
from npulint.runs.read import comparison
from npulint.runs.read.compared_columns import layout
from npulint.runs.read.database_rows import csv_stream
from npulint.runs.read.rows import Seen, header_cells
from npulint.runs.read.source_fact import source_fact

OF_ANALYSIS = lazy_compile(r"(?:performance_comparison_result|mstt_advisor)\w*\.xlsx")
"""Results of msprof-analyze, which say again what the profile says."""

_PACKED, _UNPACKED = 64 << 20, 512 << 20  # bytes
_SHEETS, _ROWS, _COLUMNS = 50, 200_000, 200
_CELL = 2000
_BROKEN = (ValueError, KeyError, TypeError, AttributeError, IndexError, SyntaxError, zipfile.BadZipFile, EOFError)


def can_read() -> bool:
    """Whether openpyxl is installed."""
    return importlib.util.find_spec("openpyxl") is not None


def read(location: str, path: str) -> list[Fact]:
    """The facts of a spreadsheet, of which the first is its `run_source`. Raises `OSError`, and `ValueError` if it is
    damaged or too large."""
    if not is_regular(location):
        raise NotRegularError(location)
    seen = Seen("comparison")
    facts: list[Fact] = []
    try:
        for rows in _sheets(location):
            first = next(rows, ())
            if layout(header_cells(",".join(str(cell or "").replace(",", " ") for cell in first))) is not None:
                facts = comparison.read(csv_stream([], chain([first], rows)), path, seen)
                break
    except _BROKEN as error:
        raise ValueError(f"spreadsheet: {error}") from None
    return [source_fact(path, seen, "" if seen.rows else "unread"), *facts]


def _sheets(location: str) -> Iterator[Iterator[tuple[object, ...]]]:
    """The rows of each sheet."""
    with zipfile.ZipFile(location) as archive:
        entries = archive.infolist()
        if (
            sum(entry.compress_size for entry in entries) > _PACKED
            or sum(entry.file_size for entry in entries) > _UNPACKED
        ):
            raise ValueError("larger than such files are")
    from openpyxl import load_workbook

    book: Any = load_workbook(location, read_only=True, data_only=True, keep_links=False)
    try:
        for sheet in book.worksheets[:_SHEETS]:
            yield _rows(sheet)
    finally:
        book.close()


def _rows(sheet: Any) -> Iterator[tuple[object, ...]]:
    for row in sheet.iter_rows(max_row=_ROWS, max_col=_COLUMNS, values_only=True):
        yield tuple(str(cell)[:_CELL] if isinstance(cell, str) else cell for cell in row)
