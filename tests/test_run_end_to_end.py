"""Whole runs over projects with what their runs left behind."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from npulint.commands.check.pipeline import facts_of, run
from npulint.judge.findings import RunResult
from npulint.judge.settings import Settings

TRAIN = """import tensorflow as tf

loss = tf.reduce_sum(tf.square(x))
train_op = tf.train.AdamOptimizer(1e-3).minimize(loss)
with tf.Session() as session:
    session.run(train_op)
"""
TABLE = """Op Name,OP Type,Task Type,Task Duration(us),Block Dim,Input Shapes,Input Data Types
MatMul_1,MatMulV2,AI_CORE,3000,24,"256,256",DT_FLOAT16
Sum_1,ReduceSumD,AI_CORE,1500,1,"1,256,256,3",DT_FLOAT16
"""
PROFILE = "PROF_000001_20240601120000000_ABCDEFGH/mindstudio_profiler_output"
NAME = "op_summary_20240601120000.csv"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for path, text in (("src/train.py", TRAIN), (f"{PROFILE}/{NAME}", TABLE)):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    return tmp_path


def checked(*paths: str, **settings: Any) -> RunResult:
    return run(Settings(paths=paths, cache=False, select=("NPU5",), **settings))


@pytest.mark.parametrize("paths", [("src", PROFILE.split("/", 1)[0]), (".",), ("src", f"{PROFILE}/{NAME}")])
def test_a_row_of_the_profile_leads_to_the_line_of_the_program(folder: Path, paths: tuple[str, ...]) -> None:
    (one,) = checked(*paths).findings
    assert (one.code, one.path, one.span.line) == ("NPU5301", f"{PROFILE}/{NAME}", 3)
    assert [(place.path, place.span.line) for place in one.related] == [("src/train.py", 3)]


def test_a_profile_alone_is_judged_alone(folder: Path) -> None:
    (one,) = checked(f"{PROFILE}/{NAME}").findings
    assert (one.code, one.related) == ("NPU5301", ())


def test_with_several_projects_nobody_knows_whose_run_it_was(folder: Path) -> None:
    for name in ("one", "two"):
        (folder / name).mkdir()
        (folder / name / "train.py").write_text(TRAIN, encoding="utf-8")
        (folder / name / "requirements.txt").write_text("tensorflow\n", encoding="utf-8")
    (one,) = checked("one", "two", PROFILE.split("/", 1)[0]).findings
    assert one.related == ()


def test_other_tables_of_a_project_are_passed_over(folder: Path) -> None:
    (folder / "src/data.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    (folder / "src" / NAME).write_text(TABLE, encoding="utf-8")
    assert checked("src").findings == []
    (problem,) = checked("src/data.csv").unreadable
    assert (problem.path, problem.reason) == ("src/data.csv", "unsupported")


def test_raw_slices_are_not_entered(folder: Path) -> None:
    below = folder / PROFILE.split("/", 1)[0] / "device_0" / "data"
    below.mkdir(parents=True)
    (below / NAME).write_text(TABLE, encoding="utf-8")
    assert len(checked(".").findings) == 1


def test_remembered_runs_say_the_same(folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("NPULINT_CACHE_DIR", str(tmp_path / "cache"))
    first, second = (run(Settings(paths=(".",), select=("NPU5",))).findings for _ in range(2))
    assert first == second
    (folder / PROFILE / NAME).write_text(TABLE.replace("ReduceSumD,AI_CORE,1500", "ReduceSumD,AI_CORE,3"))
    assert run(Settings(paths=(".",), select=("NPU5",))).findings == []


def test_facts_of_a_table_are_shown(folder: Path) -> None:
    kinds = {fact.kind for fact in facts_of(f"{PROFILE}/{NAME}")}
    assert {"run_source", "run_kernels", "run_op"} <= kinds
