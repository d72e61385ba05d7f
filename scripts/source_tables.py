"""Reads the CSV files of data-src, and what they say about releases."""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from typing import NoReturn

from scripts.release_ranges import Range, known, parse

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "data-src"


def rows(name: str) -> list[dict[str, str]]:
    with (SOURCES / name).open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def refused(name: str, row: int, error: ValueError) -> NoReturn:
    """End the script with the place of a mistake; the row counts as spreadsheets count it."""
    sys.exit(f"data-src/{name}, row {row + 2}: {error}")


def listed(product: str, recorded: str = "") -> list[str]:
    """The releases of a product, oldest first; with `recorded` those for which that has been recorded."""
    found = [r for r in rows("releases.csv") if r["product"] == product]
    return [r["release"] for r in found if not recorded or recorded in r["recorded"].split()]


def ranges(name: str, column: str, product: str, recorded: str) -> list[list[Range]]:
    """Per row of a table the ranges in a column; ends the script for a mistake in one."""
    releases, found = listed(product, recorded), []
    for at, row in enumerate(rows(name)):
        try:
            found.append(parse(row[column], releases))
        except ValueError as error:
            refused(name, at, error)
    return found


def checked(name: str, product: str, *columns: str, recorded: str = "") -> list[dict[str, str]]:
    """The rows of a table whose `columns` name one release each, or none; ends the script for an unknown one."""
    releases, table = listed(product, recorded), rows(name)
    for at, row in enumerate(table):
        try:
            for release in filter(None, (row[column] for column in columns)):
                known(release, releases)
        except ValueError as error:
            refused(name, at, error)
    return table
