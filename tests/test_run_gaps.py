"""Idle time from start times and durations alone, and blocks against cores: small tables that show one fault each."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from npulint.commands.check.pipeline import run
from npulint.data.chip_cores import CHIP_CORES, CORE_COUNTS, MOST_CORES
from npulint.judge.settings import Settings
from npulint.runs.read.kernel_gaps import KernelGaps
from npulint.runs.read.kernel_words import cores_behind, waves_of
from npulint.runs.read.kernels import read
from npulint.runs.read.rows import Seen

HEAD = "Device_id,Op Name,OP Type,Task Type,Task Start Time(us),Task Duration(us),Block Dim\n"


def row(start: float, duration: float, type_: str = "Mul", core: str = "AI_VECTOR_CORE", device: int = 0) -> str:
    return f"{device},a,{type_},{core},{start:.3f}\t,{duration},40\n"


def gaps(*lines: str) -> list[KernelGaps]:
    found = read(io.BytesIO((HEAD + "".join(lines)).encode()), "op_summary_1.csv", Seen("kernel_table"))
    return [one for one in found if isinstance(one, KernelGaps)]


def told(folder: Path, **tables: str) -> list[str]:
    for name, text in tables.items():
        (folder / f"{name}.csv").write_text(text, encoding="utf-8")
    return [one.name for one in run(Settings(paths=(str(folder),), cache=False, select=("NPU53U",))).findings]


def test_short_kernels_far_apart_leave_the_device_idle(tmp_path: Path) -> None:
    lines = [row(i * 500, 25) for i in range(400)]
    (one,) = gaps(*lines)
    assert (one.kernels, one.gaps, one.median_us, one.cause) == (400, 399, 475.0, "launches")
    assert one.idle_share == 95.0
    assert one.busy_us == 400 * 25
    assert told(tmp_path, op_summary_1=HEAD + "".join(lines)) == ["device-idle-between-launches"]


def test_little_computing_in_a_long_span_is_a_pause(tmp_path: Path) -> None:
    lines = [row(1e9 + i * 8, 6.4) for i in range(5)] + [row(1e9 + 14_000, 6.6)]
    (one,) = gaps(*lines)
    assert one.busy_us == pytest.approx(38.6)
    assert (one.cause, one.span.line, one.idle_share) == ("pauses", 7, 99.7)
    assert told(tmp_path, op_summary_1=HEAD + "".join(lines)) == ["device-idle-in-pauses"]


def test_what_overlaps_counts_once() -> None:
    (one,) = gaps(row(0, 100), row(50, 100, "MatMulV2", "AI_CORE"), row(60, 10), row(200, 100))
    assert (one.span_us, one.busy_us, one.idle_us, one.gaps) == (300.0, 250.0, 50.0, 1)
    assert (one.kernel_before, one.kernel_after) == ("MatMulV2", "Mul")


def test_rows_may_come_in_any_order_and_from_several_devices() -> None:
    lines = [row(i * 100, 50, device=i % 2) for i in range(10)]
    zero, second = gaps(*reversed(lines))
    assert (zero.name, second.name) == ("0", "1")
    assert (zero.kernels, zero.gaps, zero.median_us) == (5, 4, 150.0)


def test_collectives_keep_the_device_busy_but_are_told_apart() -> None:
    (one,) = gaps(row(0, 100), row(100, 900, "hcom_allReduce_", "HCCL"), row(1000, 100))
    assert (one.idle_us, one.exposed_us, one.busy_us) == (0.0, 900.0, 1100.0)


def test_gaps_before_the_next_batch_are_due_to_data() -> None:
    lines = [part for i in range(5) for part in (row(i * 1000, 10, "GetNext", "AI_CPU"), row(i * 1000 + 10, 400))]
    assert gaps(*lines)[0].cause == "data"


def test_gaps_around_collectives_are_due_to_communication() -> None:
    lines = [part for i in range(5) for part in (row(i * 900, 100, "hcom_allReduce_", "HCCL"), row(i * 900 + 500, 100))]
    assert gaps(*lines)[0].cause == "communication"


def test_times_without_sense_are_no_gaps() -> None:
    assert gaps(row(0, 10)) == []
    text = HEAD + "0,a,Mul,AI_CORE,N/A,5,1\n0,a,Mul,AI_CORE,,5,1\n"
    found = read(io.BytesIO(text.encode()), "op_summary_1.csv", Seen("kernel_table"))
    assert not any(isinstance(one, KernelGaps) for one in found)


def test_steps_beside_the_kernels_tell_it_better(tmp_path: Path) -> None:
    steps = (
        "Step,Computing,Communication(Not Overlapped),Overlapped,Communication,Free,Stage,Bubble\n1,99,0,0,0,1,100,0\n"
    )
    table = HEAD + "".join(row(i * 500, 25) for i in range(40))
    assert told(tmp_path, kernel_details=table, step_trace_time=steps) == []


def test_slices_of_one_table_are_judged_together(tmp_path: Path) -> None:
    parts = {
        f"op_summary_slice_{part}_20240601120000": HEAD + "".join(row(part * 1e6 + i * 500, 25) for i in range(40))
        for part in range(2)
    }
    assert told(tmp_path, **parts) == ["device-idle-between-launches"]


def test_blocks_beyond_every_chip_do_not_hide_the_cores(tmp_path: Path) -> None:
    head = "Op Name,OP Type,Task Type,Task Duration(us),Block Num\n"
    table = f"{head}k,_triton_add,AI_VECTOR_CORE,300,1024\nc,Cast,AI_VECTOR_CORE,90,40\n"
    (tmp_path / "op_summary_1.csv").write_text(table, encoding="utf-8")
    (one,) = run(Settings(paths=(str(tmp_path),), cache=False, select=("NPU53U",))).findings
    assert one.name == "kernel-with-far-more-blocks-than-cores"
    assert "1,024 blocks, at least 26 for each core" in one.message


def test_cores_of_chips_are_what_tables_may_show() -> None:
    assert {one.cube for one in CHIP_CORES} | {24, 48, 40} <= CORE_COUNTS | {8, 10}
    assert MOST_CORES == 72
    assert cores_behind(40) == 40
    assert cores_behind(7) == 0
    assert (waves_of(1024, 40), waves_of(1024, 0), waves_of(40, 40)) == (26, 15, 1)
