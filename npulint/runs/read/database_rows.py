"""Reads rows of an untrusted SQLite file: without writing, views, triggers or extensions, within limits."""

from __future__ import annotations

import csv
import io
import sqlite3
import time
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import TracebackType
from typing import BinaryIO, NamedTuple, cast
from urllib.parse import quote

from npulint.discover.safe_open import NotRegularError, is_regular
from npulint.facts.model import Fact
from npulint.runs.read.rows import Seen

_MOST = 2_000_000  # rows of a query
_TEXTS = 1_000_000
_CELL = 500  # characters of a text
_SECONDS = 60.0
_STEPS = 100_000  # of the virtual machine between two looks at the clock
_BATCH = 1024
_LENGTH = 1 << 20  # bytes of a value or a statement


class Source(NamedTuple):
    """A table with the columns it needs, and the function that reads it."""

    table: str
    needed: tuple[str, ...]
    read: Callable[[Database, str, Seen], list[Fact]]


class Database:
    """An SQLite file, opened for reading as it lies on the disk: neither locks nor journals are looked at."""

    def __init__(self, location: str) -> None:
        if not is_regular(location):
            raise NotRegularError(location)
        self._connection = sqlite3.connect(f"file:{quote(location)}?mode=ro&immutable=1", uri=True)
        self._end = time.monotonic() + _SECONDS
        self._columns: dict[str, frozenset[str]] = {}
        try:
            self._prepare()
        except (sqlite3.Error, OverflowError) as error:
            self._connection.close()
            raise ValueError(f"SQLite: {error}") from None

    def __enter__(self) -> Database:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._connection.close()

    def _prepare(self) -> None:
        connection = self._connection
        connection.text_factory = lambda data: data[: 4 * _CELL].decode("utf-8", "replace")[:_CELL]
        connection.set_progress_handler(self._late, _STEPS)
        if hasattr(connection, "setlimit"):  # since Python 3.11
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LENGTH)
            connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        for pragma in ("query_only=1", "trusted_schema=0", "cell_size_check=1", "temp_store=2", "mmap_size=0"):
            connection.execute(f"PRAGMA {pragma}")
        query = "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%' LIMIT 1000"
        for (name,) in connection.execute(query).fetchall():
            if isinstance(name, str) and name.isidentifier():
                rows = connection.execute(f'PRAGMA table_info("{name}")').fetchall()
                self._columns[name] = frozenset(str(row[1]) for row in rows)

    def _late(self) -> bool:
        return time.monotonic() > self._end

    def has(self, table: str, columns: Iterable[str]) -> bool:
        """Whether there is a plain table with these columns."""
        return table in self._columns and self._columns[table].issuperset(columns)

    def first_of(self, table: str, *columns: str) -> str:
        """The first of some columns that a table has, else the last."""
        return next((column for column in columns if self.has(table, (column,))), columns[-1])

    def columns(self, table: str, wanted: Sequence[str]) -> Iterator[tuple[object, ...]]:
        """The wanted columns of a table, None where it has none."""
        chosen = (f'"{column}"' if self.has(table, (column,)) else "NULL" for column in wanted)
        return self.rows(f'SELECT {", ".join(chosen)} FROM "{table}"')

    def rows(self, query: str) -> Iterator[tuple[object, ...]]:
        """The rows of a query, at most two million. Raises `ValueError`."""
        try:
            cursor = self._connection.execute(f"{query} LIMIT {_MOST}")
            while batch := cursor.fetchmany(_BATCH):
                yield from batch
        except (sqlite3.Error, OverflowError) as error:
            late = isinstance(error, sqlite3.OperationalError) and self._late()
            raise ValueError("takes too long to read" if late else f"SQLite: {error}") from None

    def texts(self) -> Callable[[object], str]:
        """A function that gives the text of a number in STRING_IDS; empty if there is none."""
        text_of: dict[object, object] = {}
        if self.has("STRING_IDS", ("id", "value")):
            for number, text in self.rows("SELECT id, value FROM STRING_IDS"):
                if len(text_of) >= _TEXTS:
                    break
                text_of[number] = text
        return lambda number: str(text_of.get(number) or "")

    def steps(self) -> Callable[[int], object]:
        """A function that gives the step in which a time in nanoseconds lies; empty if it is in none."""
        steps: list[tuple[int, int, object]] = []
        if self.has("STEP_TIME", ("id", "startNs", "endNs")):
            for number, start, end in self.rows("SELECT id, startNs, endNs FROM STEP_TIME"):
                if isinstance(start, int) and isinstance(end, int):
                    steps.append((start, end, number))
        steps.sort(key=lambda step: step[:2])
        starts = [start for start, _, _ in steps]

        def step_of(moment: int) -> object:
            place = bisect_right(starts, moment) - 1
            return steps[place][2] if place >= 0 and moment < steps[place][1] else ""

        return step_of


class _Lines(io.RawIOBase):
    """A stream of CSV made on demand."""

    def __init__(self, rows: Iterator[Iterable[object]]) -> None:
        self._rows = rows
        self._rest = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        view = memoryview(cast("bytearray", buffer))
        while not self._rest:
            text = io.StringIO()
            writer = csv.writer(text, lineterminator="\n")
            for _, row in zip(range(_BATCH), self._rows, strict=False):
                writer.writerow(["" if cell is None else cell for cell in row])
            self._rest = text.getvalue().encode("utf-8", "replace")
            if not self._rest:
                return 0
        count = min(len(view), len(self._rest))
        view[:count], self._rest = self._rest[:count], self._rest[count:]
        return count


def csv_stream(head: Sequence[str], rows: Iterable[Iterable[object]]) -> BinaryIO:
    """A table with this header (empty: the first row is one) as the readers of tables expect it, in constant memory."""

    def everything() -> Iterator[Iterable[object]]:
        if head:
            yield head
        yield from rows

    return cast("BinaryIO", io.BufferedReader(_Lines(everything()), 1 << 16))
