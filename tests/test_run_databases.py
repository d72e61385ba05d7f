"""Databases of profilers: the same answers as the tables, and no harm from files that someone made to do some."""

from __future__ import annotations

import os
import sqlite3
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from npulint.commands.check.pipeline import run
from npulint.facts.model import Fact, Problem
from npulint.judge.settings import Settings
from npulint.runs.read import read_artifact
from npulint.runs.read.database_rows import Database

NAME = "ascend_pytorch_profiler_0.db"
TEXTS = ["", "aclnnAdd_1", "Add", "AI_VECTOR_CORE", "4096", "FLOAT", "Cast", "AI_CPU", "hcom_allReduce__1"]
TABLES = """
CREATE TABLE STRING_IDS (id INTEGER, value TEXT);
CREATE TABLE TASK (startNs INTEGER, endNs INTEGER, deviceId INTEGER, globalTaskId INTEGER, streamId INTEGER);
CREATE TABLE COMPUTE_TASK_INFO (name INTEGER, globalTaskId INTEGER, blockDim INTEGER, taskType INTEGER,
    opType INTEGER, inputShapes INTEGER, inputDataTypes INTEGER);
CREATE TABLE COMMUNICATION_OP (opName INTEGER, startNs INTEGER, endNs INTEGER);
CREATE TABLE STEP_TIME (id INTEGER, startNs INTEGER, endNs INTEGER);
CREATE TABLE ENUM_API_TYPE (id INTEGER, name TEXT);
CREATE TABLE CANN_API (startNs INTEGER, endNs INTEGER, type INTEGER, name INTEGER);
CREATE TABLE META_DATA (name TEXT, value TEXT);
"""


def database(path: Path, script: str, rows: Mapping[str, Sequence[tuple[object, ...]]] | None = None) -> Path:
    connection = sqlite3.connect(path)
    connection.executescript(script)
    for table, found in (rows or {}).items():
        marks = ", ".join("?" * len(found[0]))
        connection.executemany(f"INSERT INTO {table} VALUES ({marks})", found)
    connection.commit()
    connection.close()
    return path


def profile(path: Path, kernels: int = 40, step: int = 500_000) -> Path:
    start = 1_736_408_883_704_643_212
    rows: dict[str, Sequence[tuple[object, ...]]] = {
        "STRING_IDS": list(enumerate(TEXTS)),
        "TASK": [(start + i * step, start + i * step + 25_000, 0, i, 3) for i in range(kernels)],
        "COMPUTE_TASK_INFO": [(1, i, 40, 3, 2, 4, 5) for i in range(kernels - 1)] + [(1, kernels - 1, 1, 7, 6, 4, 5)],
        "COMMUNICATION_OP": [(8, start + 30_000, start + 40_000)],
        "STEP_TIME": [
            (7, start, start + kernels * step // 2),
            (8, start + kernels * step // 2, start + kernels * step),
        ],
        "ENUM_API_TYPE": [(0, "acl"), (1, "node")],
        "CANN_API": [(0, 9_000_000, 0, 2), (9_000_000, 20_000_000, 0, 2)],
        "META_DATA": [("ENV_VARIABLES", '{"ASCEND_LAUNCH_BLOCKING": "1"}'), ("other", "{")],
    }
    return database(path, TABLES, rows)


def facts(path: Path) -> list[Fact]:
    found = read_artifact(str(path), str(path))
    assert isinstance(found, list)
    return found


def of(found: list[Fact], kind: str) -> list[Fact]:
    return [one for one in found if one.kind == kind]


def told(*paths: Path) -> set[str]:
    return {one.name for one in run(Settings(paths=tuple(map(str, paths)), cache=False, select=("NPU5",))).findings}


def test_a_database_says_what_the_tables_say(tmp_path: Path) -> None:
    found = facts(profile(tmp_path / NAME))
    (source,), (table,), (gaps,) = of(found, "run_source"), of(found, "run_kernels"), of(found, "run_gaps")
    assert (source.get("form"), source.get("note"), table.get("kernels"), table.get("steps")) == ("database", "", 40, 2)
    assert (gaps.get("cause"), gaps.get("median_us")) == ("launches", 475.0)
    assert {one.name for one in of(found, "run_op")} == {"Add", "Cast"}
    assert [one.name for one in of(found, "run_environment")] == ["ASCEND_LAUNCH_BLOCKING"]
    names = told(tmp_path / NAME)
    assert {"device-idle-between-launches", "operator-on-ai-cpu", "run-was-synchronous"} <= names


def test_steps_and_packets_of_the_analysis(tmp_path: Path) -> None:
    columns = "deviceId, step, computing, communication_not_overlapped, overlapped, communication, free, stage, bubble"
    packets = (
        "CREATE TABLE CommAnalyzerBandwidth (hccl_op_name, group_name, transport_type, transit_size, transit_time, "
        "bandwidth, large_packet_ratio, package_size, count, total_duration, step, type);"
    )
    path = database(
        tmp_path / "analysis.db",
        f"CREATE TABLE StepTraceTime ({columns}); {packets}",
        {
            "StepTraceTime": [(0, "1", 6000, 0, 0, 0, 3000, 9000, 0)],
            "CommAnalyzerBandwidth": [("hcom", "g", "HCCS", 100.0, 3.0, 33, 1, 0.5, 30, 1, "1", "collective")],
        },
    )
    found = facts(path)
    (step,), (link,) = of(found, "run_step"), of(found, "run_link")
    assert (step.get("free_share"), link.name, link.get("packets"), link.get("below_1_mb")) == (33.3, "HCCS", 30, 100.0)
    assert "device-idle-in-steps" in told(path)


def test_ranks_of_a_cluster(tmp_path: Path) -> None:
    columns = "step, type, 'index', computing, communication_not_overlapped, overlapped, communication, free"
    rows = [("1", "rank", str(rank), 1000 * (1 + rank), 10, 0, 10, 5) for rank in range(2)]
    path = database(
        tmp_path / "cluster_analysis.db",
        f"CREATE TABLE ClusterStepTraceTime ({columns});",
        {"ClusterStepTraceTime": rows},
    )
    assert {one.name for one in of(facts(path), "run_skew")} == {"computing", "communication"}


def test_tables_beside_a_database_speak_alone(tmp_path: Path) -> None:
    folder = tmp_path / "ASCEND_PROFILER_OUTPUT"
    folder.mkdir()
    profile(folder / NAME)
    table = "Name,Type,Accelerator Core,Start Time(us),Duration(us)\n"
    table += "".join(f"a,Mul,AI_CORE,{i * 30}.0,25\n" for i in range(30))
    (folder / "kernel_details.csv").write_text(table, encoding="utf-8")
    names = told(tmp_path)
    assert "device-idle-between-launches" not in names
    assert "run-was-synchronous" in names  # only the database knows


def test_a_database_without_known_tables_is_not_used(tmp_path: Path) -> None:
    (source,) = facts(database(tmp_path / "analysis.db", "CREATE TABLE x (y);"))
    assert source.get("note") == "unread"


@pytest.mark.parametrize("content", [b"", b"\xff" * 4096, b"\0" * 4096])
def test_damaged_databases_are_problems(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / NAME
    path.write_bytes(b"SQLite format 3\0" + content)
    found = read_artifact(str(path), str(path))
    assert isinstance(found, Problem)
    assert found.reason == "artifact-damaged"


def test_a_cut_database_is_a_problem_or_gives_less(tmp_path: Path) -> None:
    path = profile(tmp_path / NAME)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    found = read_artifact(str(path), str(path))
    assert isinstance(found, Problem | list)


def test_views_are_no_tables(tmp_path: Path) -> None:
    endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n"
    views = "".join(
        f"CREATE VIEW {table} AS SELECT {columns} FROM ({endless});"
        for table, columns in (
            ("TASK", "x startNs, x endNs, x globalTaskId"),
            ("COMPUTE_TASK_INFO", "x globalTaskId, x name, x opType"),
            ("CANN_API", "x type, x name, x startNs, x endNs"),
        )
    )
    (source,) = facts(database(tmp_path / NAME, views))
    assert source.get("note") == "unread"


def test_endless_queries_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("npulint.runs.read.database_rows._SECONDS", 0.0)
    path = profile(tmp_path / NAME, kernels=20_000)
    found = read_artifact(str(path), str(path))
    assert isinstance(found, Problem)
    assert "takes too long" in found.detail


def test_cells_of_odd_types_and_sizes_are_skipped(tmp_path: Path) -> None:
    rows: dict[str, Sequence[tuple[object, ...]]] = {
        "STRING_IDS": [(1, "x" * 100_000), (2, b"\xff\xfe"), (3, None), ("k", 5)],
        "TASK": [("a", b"b", 0, 1, 1), (5, 10, None, 2, None), (2**62, 2**62 + 5, 0, 3, 1), (None, None, 0, 4, 1)],
        "COMPUTE_TASK_INFO": [(1, 1, "x", 3, 2, 4, 5), (1, 2, -5, 1, 2, 1, 1), (1, 3, 2**60, 1, 1, 1, 1)],
    }
    found = facts(database(tmp_path / NAME, TABLES, rows))
    assert of(found, "run_source")[0].get("form") == "database"


def test_a_database_is_neither_changed_nor_locked(tmp_path: Path) -> None:
    path = profile(tmp_path / NAME)
    before = path.read_bytes(), sorted(os.listdir(tmp_path))
    holder = sqlite3.connect(path)
    holder.execute("BEGIN EXCLUSIVE")
    assert of(facts(path), "run_kernels")
    holder.rollback()
    holder.close()
    assert (path.read_bytes(), sorted(os.listdir(tmp_path))) == before
    with Database(str(path)) as opened, pytest.raises(ValueError, match="SQLite"):
        list(opened.rows("DELETE FROM TASK RETURNING startNs, 1"))


def test_odd_names_of_files_are_no_options(tmp_path: Path) -> None:
    folder = tmp_path / "a?mode=rwc&cache=shared #%"
    folder.mkdir()
    assert of(facts(profile(folder / NAME)), "run_kernels")


@pytest.mark.skipif(sys.platform == "win32", reason="FIFOs")
def test_a_pipe_is_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / NAME)
    with pytest.raises(OSError, match="profiler"):
        Database(str(tmp_path / NAME))
