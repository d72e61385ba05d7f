"""The results of a survey as tables: Parquet, if pyarrow is installed, and CSV. Rows are in the order of the projects
and of the results of each."""

from __future__ import annotations

import csv
import importlib
import importlib.util
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from typing import Any, get_type_hints

import msgspec

from npulint.core.atomic_files import Folder, temporary
from npulint.survey.model import FindingRow, Job, Part, ProjectRow, ReadinessRow
from npulint.survey.parts import read_part
from npulint.survey.rows import failed

TABLES: dict[str, type[msgspec.Struct]] = {
    "projects": ProjectRow,
    "findings": FindingRow,
    "readiness": ReadinessRow,
}
_ROWS = 50_000  # of a table that are written together
_FORMULA = tuple("=+-@\t\r")
"""What makes a spreadsheet take a text for a formula."""


def parts_of(out: str, jobs: Iterable[Job]) -> Iterator[Part]:
    """The parts of all projects, in order, one in memory at a time."""
    for job in jobs:
        yield read_part(out, job.identity) or failed(job, "internal", "no part")


def has_parquet() -> bool:
    """Whether Parquet files can be written."""
    return importlib.util.find_spec("pyarrow") is not None


def columns(name: str) -> dict[str, str]:
    """The columns of a table with their types: text, texts, integer, number or number or none."""
    words = {str: "text", tuple[str, ...]: "texts", int: "integer", float: "number", float | None: "number or none"}
    return {column: words[hint] for column, hint in get_type_hints(TABLES[name]).items()}


def write_tables(out: str, parts: Iterable[Part]) -> Iterator[Part]:
    """Write all tables while parts pass through; they are there when all have passed. Raises `OSError`."""
    with ExitStack() as stack:
        forms: tuple[type[_Table], ...] = (_Csv, _Parquet) if has_parquet() else (_Csv,)
        writers = [(name, form(stack, out, name)) for form in forms for name in TABLES]
        for part in parts:
            rows = {"projects": (part.project,), "findings": part.findings, "readiness": part.readiness}
            for name, writer in writers:
                writer.add(rows[name])
            yield part
        for _, writer in writers:
            writer.finish()


class _Table:
    """A table that is written next to its place and moved there at the end."""

    ending: str

    def __init__(self, stack: ExitStack, out: str, name: str) -> None:
        self.columns = columns(name)
        self._folder = stack.enter_context(Folder(out))
        self._name = f"{name}.{self.ending}"
        self._made = stack.enter_context(temporary(self._folder, self._name, b"", 0o644))
        self.path = os.path.join(out, self._made)

    def add(self, rows: Sequence[msgspec.Struct]) -> None:
        """Write rows."""
        raise NotImplementedError

    def finish(self) -> None:
        """End the file."""
        raise NotImplementedError

    def moved(self) -> None:
        """Give the file its name."""
        self._folder.replace(self._made, self._name)

    def values(self, row: msgspec.Struct) -> list[Any]:
        """The values of a row in the order of the columns."""
        return [getattr(row, column) for column in self.columns]


class _Csv(_Table):
    ending = "csv"

    def __init__(self, stack: ExitStack, out: str, name: str) -> None:
        super().__init__(stack, out, name)
        text = open(self.path, "w", encoding="utf-8", errors="backslashreplace", newline="")  # noqa: SIM115
        self._stream = stack.enter_context(text)
        self._writer = csv.writer(self._stream)
        self._writer.writerow(self.columns)

    def add(self, rows: Sequence[msgspec.Struct]) -> None:
        """Write rows."""
        self._writer.writerows([_cell(value) for value in self.values(row)] for row in rows)

    def finish(self) -> None:
        """End the file."""
        self._stream.flush()
        os.fsync(self._stream.fileno())
        self.moved()


def _cell(value: Any) -> Any:
    text = " ".join(value) if isinstance(value, tuple) else value
    if isinstance(text, str) and text.startswith(_FORMULA):
        return f"'{text}"
    return "" if text is None else text


class _Parquet(_Table):
    ending = "parquet"

    def __init__(self, stack: ExitStack, out: str, name: str) -> None:
        super().__init__(stack, out, name)
        self._arrow: Any = importlib.import_module("pyarrow")
        self._schema = self._arrow.schema(list(map(self._field, self.columns.items())))
        parquet: Any = importlib.import_module("pyarrow.parquet")
        self._writer = stack.enter_context(parquet.ParquetWriter(self.path, self._schema, compression="zstd"))
        self._held: list[list[Any]] = []

    def _field(self, column: tuple[str, str]) -> Any:
        arrow, (name, word) = self._arrow, column
        types = {"text": arrow.string(), "integer": arrow.int64(), "texts": arrow.list_(arrow.string())}
        return arrow.field(name, types.get(word, arrow.float64()), nullable=word == "number or none")

    def add(self, rows: Sequence[msgspec.Struct]) -> None:
        """Write rows, many together."""
        self._held += map(self.values, rows)
        if len(self._held) >= _ROWS:
            self._flush()

    def finish(self) -> None:
        """End the file."""
        self._flush()
        self._writer.close()
        self.moved()

    def _flush(self) -> None:
        arrays = zip(*self._held, strict=True) if self._held else [()] * len(self.columns)
        fields = zip(arrays, self._schema, strict=True)
        columns = [self._arrow.array(list(values), type=field.type) for values, field in fields]
        self._writer.write_table(self._arrow.Table.from_arrays(columns, schema=self._schema))
        self._held.clear()
