"""The measures of releases: `history.csv`, with ratios to what was measured in the same run, which are the same on slow
and fast machines."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

FILE = Path(__file__).with_name("history.csv")


class Row(NamedTuple):
    """One release on one Python: CPU seconds of a check without and with a filled cache, each divided by those of
    `ast.parse` of the same files, and those of a check of one file divided by those of ``python -c pass``."""

    version: str
    date: str
    python: str
    cold: float
    cached: float
    single: float


def read(file: Path = FILE) -> list[Row]:
    """The rows of a history, oldest first; none without the file."""
    if not file.exists():
        return []
    with file.open(encoding="utf-8", newline="") as stream:
        rows = [
            Row(one["version"], one["date"], one["python"], *(float(one[name]) for name in Row._fields[3:]))
            for one in csv.DictReader(stream)
        ]
    return sorted(rows, key=lambda row: row.date)


def written(rows: Iterable[Row]) -> str:
    """A history as CSV, oldest rows first."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(Row._fields)
    for row in sorted(rows, key=lambda row: (row.date, row.python)):
        writer.writerow([*row[:3], *(f"{ratio:.2f}" for ratio in row[3:])])
    return stream.getvalue()


def record(row: Row, file: Path = FILE) -> None:
    """Add a row; it replaces the one of the same day, release and Python."""
    others = [one for one in read(file) if one[:3] != row[:3]]
    file.write_text(written([*others, row]), encoding="utf-8")
