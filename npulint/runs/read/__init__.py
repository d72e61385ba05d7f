"""Reads artifacts of training runs (profiler tables, comparisons, records, logs) into aggregated facts."""

from __future__ import annotations

import gzip
import io
import os
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from importlib import import_module
from typing import Any, BinaryIO, cast

from npulint.data.run_columns import FORMS
from npulint.discover.artifacts import form_of, form_of_text
from npulint.discover.graphs import HEAD
from npulint.discover.safe_open import open_regular
from npulint.facts.model import Fact, Problem
from npulint.runs.read.rows import Note, Seen
from npulint.runs.read.source_fact import source_fact

_Counted = Callable[[BinaryIO, str, Seen], list[Fact]]
_Plain = Callable[[BinaryIO, str], list[Fact]]

_BUFFER = 1 << 20
_UNPACKED = 1 << 26  # decompressed bytes that are always allowed
_RATIO = 200  # maximum compression ratio beyond these; logs that repeat one line reach about 100

_COUNTED = {
    "kernel_table": "kernels:read",
    "op_statistic": "statistics:read_op_statistic",
    "aicpu": "statistics:read_aicpu",
    "api_statistic": "interfaces:read",
    "operator_details": "python_lines:read",
    "step_trace_time": "steps:read_step_trace_time",
    "cluster_step_trace_time": "steps:read_cluster_step_trace_time",
    "step_trace": "steps:read_step_trace",
    "comparison": "comparison:read",
    "trace": "trace:read",
    "communication": "communication:read",
    "communication_matrix": "routes:read",
    "communication_group": "misc_files:read_json",
    "sample_info": "misc_files:read_json",
    "construct": "misc_files:read_json",
    "trace_summary": "misc_files:read_summary",
    "comparison_advice": "misc_files:read_advice",
    "l2_cache": "misc_files:read_table",
    "profiler_info": "environment:read",
    "profiler_metadata": "environment:read",
    "device_info": "environment:read",
    "training_trace": "steps:read_training_trace",
    "memory_record": "memory:read_components",
    "module_memory": "memory:read_components",
    "operator_memory": "misc_files:read_table",
    "static_memory": "misc_files:read_table",
    "series_table": "series.tables:read",
    "op_basic_info": "core_metrics:read_basic",
    "pipe_utilization": "core_metrics:read_pipes",
    "resource_conflict": "core_metrics:read_conflicts",
    "arithmetic_utilization": "core_metrics:read_arithmetic",
    "core_l2_cache": "core_metrics:read_cache",
    "core_memory": "core_metrics:read_memory",
    "core_memory_ub": "misc_files:read_table",
    "core_memory_l0": "misc_files:read_table",
}
"""Readers that take a stream, a path and a `Seen`, by form: (module, function)."""

_MAY_BE_BARE = frozenset(
    """communication_matrix communication_group construct comparison_advice operator_memory static_memory""".split()
)
"""Forms in which a missing row does not indicate a failed run."""

_PLAIN = {
    "fusion_result": "fusion:read",
    "machine": "machine.reader:read",
    "fusion_switch": "fusion_switches:read_switches",
    "overflow": "overflow:read",
    "statistics_dump": "statistics_dump:read",
    "anomaly": "statistics_dump:read_anomalies",
    "precision_console": "precision_console:read",
    "events": "series.events:read_events",
}
"""Readers that take a stream and a path, by form: (module, function)."""


def read_artifact(location: str, path: str, content: bytes | None = None) -> list[Fact] | Problem:
    """The facts of a run artifact, or the problem of an unreadable one. `content` overrides the file; `path` is for
    display. The first fact is the `run_source`. Never raises for malformed content; memory is bounded except for small
    documents, which have a size limit."""
    form = form_of(location) if content is None else form_of_text(path, content[:HEAD])
    if not form:
        return Problem(path, "not-an-artifact")
    try:
        if form == "spreadsheet":
            return _spreadsheet(location, path, content)
        if form == "database" and content is None and not location.endswith(".gz"):
            from npulint.runs.read.databases import read

            return read(location, path)
        with open_artifact(location, content) as stream:
            return _read(form, stream, path)
    except (EOFError, zlib.error, gzip.BadGzipFile):
        return Problem(path, "artifact-damaged", "gzip")
    except OSError as error:
        return Problem(path, "unreadable", error.strerror or "")
    except ValueError as error:
        return Problem(path, "artifact-damaged", str(error)[:200])
    except RecursionError:
        return Problem(path, "artifact-damaged", "nested too deeply")


@contextmanager
def open_artifact(location: str, content: bytes | None = None) -> Iterator[BinaryIO]:
    """Open an artifact as a buffered stream, decompressing gzip. Raises `OSError`."""
    with ExitStack() as opened:
        if content is not None:
            stream: BinaryIO = io.BytesIO(content)
        else:
            raw = opened.enter_context(open_regular(location))
            stream = opened.enter_context(io.BufferedReader(cast("io.RawIOBase", raw), _BUFFER))
        magic = stream.read(2)
        stream.seek(0)
        if magic == b"\x1f\x8b":
            packed = opened.enter_context(_Unpacked(stream))
            stream = opened.enter_context(io.BufferedReader(cast("io.RawIOBase", packed), _BUFFER))
        yield stream


class _Unpacked(gzip.GzipFile):
    """A gzip stream limited to a plausible size. Raises `EOFError` beyond."""

    def __init__(self, packed: BinaryIO) -> None:
        super().__init__(fileobj=packed)
        self._packed, self._unpacked = packed, 0

    def read(self, size: int | None = -1) -> bytes:
        data = super().read(size)
        self._unpacked += len(data)
        if self._unpacked > _UNPACKED and self._unpacked > _RATIO * self._packed.tell():
            raise EOFError
        return data


def _read(form: str, stream: BinaryIO, path: str) -> list[Fact]:
    seen, facts = Seen(form), []
    if form in _COUNTED:
        counted: _Counted = _function(_COUNTED[form])
        facts = counted(stream, path, seen)
        bare: Note = "" if seen.rows or form in _MAY_BE_BARE else "empty"
        return [source_fact(path, seen, "header" if seen.missing else seen.note or bare), *facts]
    if form == "log":
        return _log(stream, path)
    if form == "overflow_dump":
        return _overflow_dump(stream, path)
    if form in _PLAIN:
        plain: _Plain = _function(_PLAIN[form])
        facts = plain(stream, path)
    elif form in FORMS:
        _function("misc_files:read_table")(stream, path, seen)
    if any(fact.kind == "run_source" for fact in facts):
        return facts
    return [source_fact(path, seen, "" if form in _PLAIN else "unread"), *facts]


def _spreadsheet(location: str, path: str, content: bytes | None) -> list[Fact] | Problem:
    from npulint.runs.read.spreadsheets import OF_ANALYSIS, can_read, read

    if OF_ANALYSIS.fullmatch(os.path.basename(path)):
        return Problem(path, "artifact-of-analysis")
    if content is not None or not can_read():
        return Problem(path, "artifact-spreadsheet")
    return read(location, path)


def _log(stream: BinaryIO, path: str) -> list[Fact]:
    from npulint.runs.read.logs import read
    from npulint.runs.read.series import SeriesWatcher

    return read(stream, path, [SeriesWatcher()])


def _overflow_dump(stream: BinaryIO, path: str) -> list[Fact]:
    """Only the name of a binary record is read."""
    from npulint.runs.read.overflow import of_name

    return [source_fact(path, Seen("overflow_dump"), ""), *of_name(path)]


def _function(place: str) -> Any:
    """The reader function for ``module:function``, imported on demand."""
    module, _, function = place.partition(":")
    return getattr(import_module(f"npulint.runs.read.{module}"), function)
