"""Databases (SQLite) that profilers write instead of tables: what they contain goes to the readers of those tables.

Sources: `ascend_pytorch_profiler*.db`, `ascend_mindspore_profiler*.db` and `msprof_*.db` (tasks, kernels, calls),
`analysis.db` (steps, packets of collectives), `cluster_analysis.db` of msprof-analyze (steps of ranks)."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any, BinaryIO, cast

import msgspec

from npulint.facts.model import Fact, Span
from npulint.runs.read import communication, environment, interfaces, kernels, steps
from npulint.runs.read.database_rows import Database, Source, csv_stream
from npulint.runs.read.rows import Seen
from npulint.runs.read.source_fact import source_fact

_KERNEL_HEAD = (
    *("Name", "Type", "Accelerator Core", "Start Time(us)", "Duration(us)", "Block Num", "Step Id", "Device_id"),
    *("OP State", "HF32 Eligible", "Stream ID"),
    *("Input Shapes", "Input Data Types", "Input Formats"),
    *("Output Shapes", "Output Data Types", "Output Formats"),
)
_STEP_HEAD = (
    *("Device_id", "Step", "Computing", "Communication(Not Overlapped)", "Overlapped", "Communication", "Free"),
    *("Stage", "Bubble", "Communication(Not Overlapped and Exclude Receive)", "Preparing"),
)
_STEP_COLUMNS = (
    *("deviceId", "step", "computing", "communication_not_overlapped", "overlapped", "communication", "free"),
    *("stage", "bubble", "communication_not_overlapped_and_exclude_receive", "preparing"),
)
_CLUSTER_HEAD = ("Step", "Type", "Index", *_STEP_HEAD[2:])
_CLUSTER_COLUMNS = ("step", "type", "index", *_STEP_COLUMNS[2:])
_API_HEAD = ("Level", "API Name", "Time(us)", "Count", "Max(us)")
_PACKETS = ("hccl_op_name", "group_name", "transport_type", "transit_size", "transit_time", "package_size", "count")

_Reader = Callable[[BinaryIO, str, Seen], list[Fact]]


def read(location: str, path: str) -> list[Fact]:
    """The facts of a database, of which the first is its `run_source`. Raises `OSError` if it cannot be opened, and
    `ValueError` if it is damaged, no plain table, or takes too long."""
    seen = Seen("database")
    facts: list[Fact] = []
    with Database(location) as database:
        for source in _SOURCES:
            if database.has(source.table, source.needed):
                facts += _without_lines(source.read(database, path, seen))
    return [source_fact(path, seen, "" if seen.rows else "unread"), *facts]


def _without_lines(facts: Iterable[Fact]) -> list[Fact]:
    """The facts, all at the beginning: databases have no lines."""
    return [msgspec.structs.replace(fact, span=Span()) for fact in facts]


def _table(
    reader: _Reader, form: str, head: tuple[str, ...], rows: Iterable[Iterable[object]], path: str, seen: Seen
) -> list[Fact]:
    """What the reader of a table says of rows in the columns of `head`."""
    inner = Seen(form)
    facts = reader(csv_stream(head, rows), path, inner)
    seen.rows += inner.rows
    seen.malformed += inner.malformed
    return facts


def _kernels(database: Database, path: str, seen: Seen) -> list[Fact]:
    return _table(kernels.read, "kernel_table", _KERNEL_HEAD, _kernel_rows(database), path, seen)


def _kernel_rows(database: Database) -> Iterator[tuple[object, ...]]:
    """Kernels, then collectives, as rows of a kernel table."""
    texts, step_of = database.texts(), database.steps()
    block = database.first_of("COMPUTE_TASK_INFO", "blockNum", "blockDim")
    info = ("name", "opType", "taskType", block, "opState", "hf32Eligible", *_SHAPES)
    columns = [f"c.{column}" if database.has("COMPUTE_TASK_INFO", (column,)) else "NULL" for column in info]
    task = [f"t.{column}" if database.has("TASK", (column,)) else "NULL" for column in ("deviceId", "streamId")]
    query = (
        f"SELECT t.startNs, t.endNs, {', '.join((*task, *columns))} FROM COMPUTE_TASK_INFO c "
        "JOIN TASK t ON t.globalTaskId = c.globalTaskId ORDER BY t.startNs"
    )
    for start, end, device, stream, name, type_, core, blocks, state, hf32, *shapes in database.rows(query):
        if isinstance(start, int) and isinstance(end, int):
            head = texts(name), texts(type_), texts(core), _us(start), _us(end - start), blocks, step_of(start), device
            yield (*head, texts(state), texts(hf32), stream, *map(texts, shapes))
    if database.has("COMMUNICATION_OP", ("opName", "startNs", "endNs")):
        for name, start, end in database.rows("SELECT opName, startNs, endNs FROM COMMUNICATION_OP"):
            if isinstance(start, int) and isinstance(end, int):
                told = (texts(name), "hcom_", "COMMUNICATION", _us(start), _us(end - start), "", step_of(start))
                yield (*told, *[""] * (len(_KERNEL_HEAD) - len(told)))


_SHAPES = ("inputShapes", "inputDataTypes", "inputFormats", "outputShapes", "outputDataTypes", "outputFormats")


def _us(nanoseconds: int) -> str:
    """Nanoseconds as microseconds, exactly."""
    return f"{nanoseconds // 1000}.{nanoseconds % 1000:03}"


def _calls(database: Database, path: str, seen: Seen) -> list[Fact]:
    texts = database.texts()
    levels: dict[object, object] = {}
    if database.has("ENUM_API_TYPE", ("id", "name")):
        levels.update((row[0], row[1]) for row in database.columns("ENUM_API_TYPE", ("id", "name")))
    query = (
        "SELECT type, name, SUM(endNs - startNs) / 1000.0, COUNT(*), MAX(endNs - startNs) / 1000.0 "
        "FROM CANN_API GROUP BY type, name"
    )
    rows = ((levels.get(type_, type_), texts(name), *times) for type_, name, *times in database.rows(query))
    return _table(interfaces.read, "api_statistic", _API_HEAD, rows, path, seen)


def _steps(database: Database, path: str, seen: Seen) -> list[Fact]:
    rows = database.columns("StepTraceTime", _STEP_COLUMNS)
    return _table(steps.read_step_trace_time, "step_trace_time", _STEP_HEAD, rows, path, seen)


def _ranks(database: Database, path: str, seen: Seen) -> list[Fact]:
    rows = database.columns("ClusterStepTraceTime", _CLUSTER_COLUMNS)
    form = "cluster_step_trace_time"
    return _table(steps.read_cluster_step_trace_time, form, _CLUSTER_HEAD, rows, path, seen)


def _packets(database: Database, path: str, seen: Seen) -> list[Fact]:
    """The packets of collectives, as in `communication.json`."""
    document: dict[str, dict[str, Any]] = {}
    for name, group, transport, size, time, packet, count in database.columns("CommAnalyzerBandwidth", _PACKETS):
        operator = document.setdefault(f"{name}@{group}", {"Communication Bandwidth Info": {}})
        link = {"Transit Size(MB)": size, "Transit Time(ms)": time, "Size Distribution": {}}
        link = operator["Communication Bandwidth Info"].setdefault(str(transport), link)
        link["Size Distribution"][str(packet)] = [count, 0]
    return _document(communication.read, {"step": {"collective": document}}, path, seen)


def _metadata(database: Database, path: str, seen: Seen) -> list[Fact]:
    """What `profiler_metadata.json` has besides."""
    document = {}
    for name, value in database.columns("META_DATA", ("name", "value")):
        if name == "ENV_VARIABLES" and isinstance(value, str):
            try:
                document[name] = json.loads(value)
            except (ValueError, RecursionError):
                continue
    return _document(environment.read, document, path, seen) if document else []


def _document(reader: _Reader, document: dict[str, Any], path: str, seen: Seen) -> list[Fact]:
    inner = Seen("")
    facts = reader(cast("BinaryIO", io.BytesIO(json.dumps(document).encode())), path, inner)
    seen.rows += inner.rows
    return facts


_SOURCES = (
    Source("COMPUTE_TASK_INFO", ("globalTaskId", "name", "opType"), _kernels),
    Source("CANN_API", ("type", "name", "startNs", "endNs"), _calls),
    Source("StepTraceTime", ("step", "computing", "communication_not_overlapped", "free"), _steps),
    Source("ClusterStepTraceTime", ("type", "index", "computing", "communication_not_overlapped", "free"), _ranks),
    Source("CommAnalyzerBandwidth", _PACKETS, _packets),
    Source("META_DATA", ("name", "value"), _metadata),
)
"""What is read: a table with at least these columns, and the function that reads it."""
