"""Databases of profilers: their tables with any columns, kinds of values, views in the place of tables, and damage."""

from __future__ import annotations

import contextlib
import functools
import sqlite3
import tempfile
from pathlib import Path

from hypothesis import strategies as st

from scripts.fuzzing.mutation import mutated, nasty

_TABLES = {
    "STRING_IDS": ("id", "value"),
    "TASK": ("startNs", "endNs", "deviceId", "globalTaskId", "streamId"),
    "COMPUTE_TASK_INFO": ("name", "globalTaskId", "blockDim", "taskType", "opType", "inputShapes", "inputDataTypes"),
    "COMMUNICATION_OP": ("opName", "startNs", "endNs"),
    "STEP_TIME": ("id", "startNs", "endNs"),
    "ENUM_API_TYPE": ("id", "name"),
    "CANN_API": ("startNs", "endNs", "type", "name"),
    "META_DATA": ("name", "value"),
    "StepTraceTime": ("deviceId", "step", "computing", "communication_not_overlapped", "overlapped", "free"),
    "ClusterStepTraceTime": ("step", "type", "index", "computing", "communication", "free"),
    "CommAnalyzerBandwidth": ("hccl_op_name", "group_name", "transport_type", "transit_size", "package_size", "count"),
}
_NAMES = (
    *("ascend_pytorch_profiler_0.db", "ascend_mindspore_profiler_0.db", "msprof_20250101.db", "analysis.db"),
    *("cluster_analysis.db", "ASCEND_PROFILER_OUTPUT/ascend_pytorch_profiler_1.db"),
)
_VALUES = st.one_of(
    st.integers(0, 9),
    st.integers(0, 9),
    st.integers(1_736_408_883_704_643_000, 1_736_408_883_804_643_000),
    st.sampled_from([None, -1, 2**63 - 1, -(2**63), 1e308, float("inf"), 0.5, b"\xff\0", "ENV_VARIABLES", "{}", "1;2"]),
    nasty.map(lambda text: text.encode("utf-8", "replace").decode()),
)
_Contents = tuple[tuple[str, tuple[str, ...], bool, tuple[tuple[object, ...], ...]], ...]


@functools.lru_cache(maxsize=64)
def _written(contents: _Contents) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "x.db")
        with contextlib.closing(sqlite3.connect(path)) as connection:
            for table, columns, view, rows in contents:
                real = f"{table}_" if view else table
                quoted = ", ".join(f'"{one}"' for one in columns)
                connection.execute(f"CREATE TABLE {real} ({quoted})")
                connection.executemany(f"INSERT INTO {real} VALUES ({', '.join('?' * len(columns))})", rows)
                if view:
                    connection.execute(f"CREATE VIEW {table} AS SELECT * FROM {real}")
            connection.commit()
        return path.read_bytes()


@st.composite
def databases(draw: st.DrawFn) -> dict[str, bytes]:
    """A database under some name, perhaps damaged."""
    contents = []
    for table in draw(st.lists(st.sampled_from(sorted(_TABLES)), unique=True)):
        columns = _TABLES[table]
        if draw(st.integers(0, 9)) == 0:
            columns = columns[: draw(st.integers(1, len(columns)))]
        rows = draw(st.lists(st.tuples(*[_VALUES for _ in columns]), max_size=5))
        times = draw(st.sampled_from([1, 1, 1, 300]))
        contents.append((table, columns, draw(st.integers(0, 14)) == 0, tuple(rows * times)))
    data = _written(tuple(contents))
    if draw(st.integers(0, 2)) == 0:
        data = draw(mutated(data, data))
    return {draw(st.sampled_from(_NAMES)): data}
