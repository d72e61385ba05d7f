"""What was read of a file at all."""

from __future__ import annotations

from npulint.facts.kinds import fact_kind
from npulint.facts.model import FileFact, Span
from npulint.runs.read.rows import Note, Seen


@fact_kind("run_source")
class RunSource(FileFact):
    """A file of a run; the name is its form (`npulint/discover/artifacts.py` lists them). Every file has one."""

    form: str
    generation: int
    """The year of the tools that wrote it, by the headings: 2020 2021 2023 2024 2025 2026, 0 unknown."""
    rows: int
    malformed: int
    """Rows that cannot be read."""
    first_malformed: int
    """The line of the first of these."""
    missing: str
    """Required columns that it does not have."""
    note: Note
    """Empty: no row; header: a required column is missing; first: a step trace has only first iterations; unread:
    nothing more is read from this form, or from so large a document; older: the folder has a newer export of the table;
    no-npu: a log without a sign of an NPU; gpu: a log of a run on GPUs."""


def source_fact(path: str, seen: Seen, note: Note, span: Span | None = None) -> RunSource:
    """The `run_source` of a file, at its first malformed row unless `span` is another place."""
    return RunSource(
        seen.form,
        path,
        span or Span.at(seen.first_malformed or 1),
        seen.form,
        seen.generation,
        seen.rows,
        seen.malformed,
        seen.first_malformed,
        ", ".join(seen.missing),
        note,
    )
