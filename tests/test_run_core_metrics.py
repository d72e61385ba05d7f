"""Folders of msopprof: where their tables are found, and what they say of a kernel."""

from __future__ import annotations

from pathlib import Path

from npulint.commands.check.pipeline import run
from npulint.facts.model import Fact
from npulint.judge.settings import Settings
from npulint.runs.read import read_artifact

FOLDER = "OPPROF_20260301120000_ABCDEF"
PIPES = (
    "block_id,sub_block_id,aic_time(us),aic_total_cycles,aiv_time(us),aiv_total_cycles,aiv_vec_ratio,aic_cube_ratio,"
    "aic_scalar_ratio,aiv_scalar_ratio,aic_mte1_ratio,aic_mte2_ratio,aiv_mte2_ratio,aiv_mte3_ratio\n"
    "0,cube0,40.5,74000,NA,NA,NA,0.85,0.1,NA,0.3,0.62,NA,NA\n"
    "0,vector0,NA,NA,20,37000,0.2,NA,NA,0.1,NA,NA,0.91,0.2\n"
    "0,vector1,NA,NA,30,55500,0.1,NA,NA,0.1,NA,NA,0.93,0.2\n"
)
BASIC = (
    "Op Name,Op Type,Task Duration(us),Block Dim,Mix Block Dim,Device Id,Pid,Current Freq,Rated Freq\n"
    "add_custom,vector,86.3,2,NA,0,3311,1500,1650\n"
)


def write(folder: Path, **tables: str) -> Path:
    folder.mkdir(parents=True)
    for name, text in tables.items():
        (folder / f"{name}.csv").write_text(text, encoding="utf-8")
    return folder


def facts(path: Path) -> list[Fact]:
    found = read_artifact(str(path), f"{FOLDER}/{path.name}")
    assert isinstance(found, list)
    return found


def test_kinds_of_cores_are_told_apart(tmp_path: Path) -> None:
    folder = write(tmp_path / FOLDER, PipeUtilization=PIPES)
    cube, vector = (one for one in facts(folder / "PipeUtilization.csv") if one.kind == "run_pipes")
    assert (cube.name, cube.get("bound"), cube.get("bound_share"), cube.get("mean_us")) == ("cube", "cube", 85.0, 40.5)
    assert (vector.name, vector.get("bound"), vector.get("bound_share")) == ("vector", "mte2", 92.0)
    assert (vector.get("cores"), vector.get("longest_us"), vector.get("uneven")) == (2, 30.0, 20.0)
    assert vector.get("op") == FOLDER


def test_a_measured_kernel_has_its_blocks_and_clock(tmp_path: Path) -> None:
    folder = write(tmp_path / FOLDER, OpBasicInfo=BASIC)
    (one,) = (one for one in facts(folder / "OpBasicInfo.csv") if one.kind == "run_measured")
    assert (one.name, one.get("type"), one.get("block"), one.get("slowed")) == ("add_custom", "vector", 2, 9.1)


def test_folders_are_found_in_a_project_with_their_kernels(tmp_path: Path) -> None:
    write(tmp_path / FOLDER / "device0" / "add_custom" / "0", PipeUtilization=PIPES, OpBasicInfo=BASIC)
    (tmp_path / FOLDER / "dump").mkdir()
    (tmp_path / FOLDER / "dump" / "PipeUtilization.csv").write_text(PIPES, encoding="utf-8")
    (tmp_path / "main.py").write_text("print(1)\n", encoding="utf-8")
    result = run(Settings(paths=(str(tmp_path),), cache=False, select=("NPU53",)))
    by_name = {one.name: one for one in result.findings}
    assert set(by_name) == {"measured-kernel-waits-for-copies", "measured-kernel-on-few-cores"}
    assert "`add_custom`" in by_name["measured-kernel-waits-for-copies"].message
    assert not by_name["measured-kernel-waits-for-copies"].related
    assert {one.form for one in result.runs[0].files} == {"pipe_utilization", "op_basic_info"}


def test_tables_of_inference_chips_have_no_blocks(tmp_path: Path) -> None:
    head = "aic_time(us),aic_total_cycles,aic_cube_ratio,aic_scalar_ratio,aic_mte2_ratio,aic_vec_ratio\n"
    folder = write(tmp_path / FOLDER, PipeUtilization=f"{head}50,90000,0.01,0.7,0.2,0.1\n")
    (one,) = (one for one in facts(folder / "PipeUtilization.csv") if one.kind == "run_pipes")
    assert (one.name, one.get("bound"), one.get("compute")) == ("cube", "scalar", 10.0)


def test_tables_without_numbers_say_nothing(tmp_path: Path) -> None:
    empty = PIPES.split("\n")[0] + "\n0,vector0" + ",NA" * 12 + "\n"
    folder = write(tmp_path / FOLDER, PipeUtilization=empty)
    assert [one.kind for one in facts(folder / "PipeUtilization.csv")] == ["run_source"]
