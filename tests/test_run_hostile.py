"""What a run left behind, damaged or made to harm: it is told, quickly, and nothing is reckoned with it."""

from __future__ import annotations

import gzip
import io
import json
import math
import struct
from pathlib import Path

import pytest

from npulint.facts.model import Fact, Problem
from npulint.runs.read import read_artifact
from npulint.runs.read.quantities import share
from npulint.runs.read.rows import Row, Seen, rows
from tests.fact_support import attrs_of
from tests.growth import ended_if_stuck

KERNELS = "Op Name,OP Type,OP State,Task Type,Task Duration(us),Task Wait Time(us),Block Dim\n"


def facts(name: str, data: bytes | str) -> list[Fact]:
    found = read_artifact(name, name, data.encode() if isinstance(data, str) else data)
    assert isinstance(found, list)
    return found


def problem(name: str, data: bytes) -> tuple[str, str]:
    found = read_artifact(name, name, data)
    assert isinstance(found, Problem)
    return found.reason, found.detail


def kernels(*lines: str) -> tuple[list[tuple[int, Row]], Seen]:
    seen = Seen("kernel_table")
    stream = io.BytesIO((KERNELS + "\n".join(lines)).encode())
    return list(rows(stream, "kernel_table", ("type", "duration_us", "wait_us", "block"), seen)), seen


def test_a_kernel_of_less_than_no_time_is_a_malformed_row() -> None:
    found, seen = kernels("a,Add,dynamic,AI_CORE,10,1,8", "b,Mul,dynamic,AI_CORE,-5000,1,8")
    assert [line for line, _ in found] == [2]
    assert (seen.rows, seen.malformed, seen.first_malformed) == (1, 1, 3)


@pytest.mark.parametrize("cells", ["-7,8", "7,-8"])
def test_what_a_row_may_lack_it_lacks_when_it_is_below_zero(cells: str) -> None:
    ((_, row),), seen = kernels(f"a,Add,dynamic,AI_CORE,10,{cells}")
    assert sorted(row.number.values()) == sorted([10.0, 7.0 if cells.startswith("7") else 8.0])
    assert seen.malformed == 0


def test_no_share_is_infinite() -> None:
    assert share(1e300, 5e-324) == 1e9
    assert share(-1e300, 5e-324) == -1e9
    assert share(1.0, 4.0) == 25.0


@pytest.mark.parametrize("huge", ["1e308", "-1e308", "9" * 300])
def test_losses_next_to_the_end_of_numbers_stay_numbers(huge: str) -> None:
    lines = [f"[NPU] step {step} loss = {huge if step % 2 else 1.5}" for step in range(40)]
    (series,) = [one for one in facts("train.log", "\n".join(lines)) if one.kind == "run_series"]
    numbers = [one for one in attrs_of(series).values() if isinstance(one, float)]
    assert len(numbers) > 5
    assert all(map(math.isfinite, [*numbers, *series.get("curve")]))
    assert series.get("bad") == 0


def test_a_damaged_gzip_file_is_told_to_be_one() -> None:
    packed = gzip.compress(KERNELS.encode() + b"a,Add,dynamic,AI_CORE,10,1,8\n" * 999)
    assert problem("op_summary.csv.gz", packed[:-9]) == ("artifact-damaged", "gzip")
    broken = bytearray(packed)
    broken[-6] ^= 1  # the checksum
    assert problem("op_summary.csv.gz", bytes(broken)) == ("artifact-damaged", "gzip")


def test_a_gzip_file_is_not_unpacked_without_end() -> None:
    packed = gzip.compress(KERNELS.encode() + bytes(100 << 20))
    assert problem("op_summary.csv.gz", packed) == ("artifact-damaged", "gzip")


@pytest.mark.slow
def test_a_log_that_repeats_itself_is_read_from_gzip() -> None:
    lines = b"".join(b"[NPU] epoch %d step %d loss %d.25\n" % (step // 90, step, step % 7) for step in range(50_000))
    (source, *_) = facts("train.log.gz", gzip.compress(lines))
    assert source.get("rows") == 50_000


@pytest.mark.parametrize("name", ["fusion_result.json", "dump.json"])
@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_what_is_nested_without_end_is_told_in_words(name: str, opening: str) -> None:
    key = "graph_fusion" if name == "fusion_result.json" else "dump_data_dir"
    reason, detail = problem(name, f'{{"{key}":{opening * 100_000}'.encode())
    assert (reason, "recursion" in detail) == ("artifact-damaged", False)


def test_each_of_many_long_lines_is_searched_by_itself() -> None:
    line = b"[NPU] " + b"1234567890 " * 1500 + b"\n"
    with ended_if_stuck():
        (source, *_) = facts("train.log", line * 800)
    assert source.get("rows") == 800


def test_event_files_of_nothing_are_left_soon() -> None:
    (source,) = facts("events.out.tfevents.1700000000.host", bytes(16) * 100_000)
    assert source.get("malformed") == source.get("rows") == 1000


def test_one_broken_record_does_not_end_an_event_file() -> None:
    def record(data: bytes) -> bytes:
        return struct.pack("<QI", len(data), 0) + data + bytes(4)

    def loss(step: int) -> bytes:
        scalar = b"\x0a\x04loss\x15" + struct.pack("<f", 1.0 + step)
        summary = b"\x0a" + bytes([len(scalar)]) + scalar
        return b"\x10" + bytes([step]) + b"\x2a" + bytes([len(summary)]) + summary

    data = b"".join(map(record, [loss(1), b"\xff" * 9, b"", loss(2), loss(3), loss(4)]))
    source, series = facts("events.out.tfevents.1700000000.host", data)
    assert (source.get("rows"), source.get("malformed"), source.get("first_malformed")) == (6, 2, 2)
    assert (series.name, series.get("points"), series.get("last")) == ("loss", 4, 5.0)


def test_numbers_that_are_none_give_no_fact(tmp_path: Path) -> None:
    document = {
        "step1": {
            "collective": {
                "hcom_allReduce__1_0": {
                    "Communication Time Info": {
                        "Elapse Time(ms)": "nan",
                        "Wait Time(ms)": -1,
                        "Transit Time(ms)": 1e400,
                        "Idle Time(ms)": None,
                    }
                }
            }
        }
    }
    path = tmp_path / "communication.json"
    path.write_text(json.dumps(document))
    found = read_artifact(str(path), "communication.json")
    assert isinstance(found, list)
    numbers = [one for fact in found for one in attrs_of(fact).values() if isinstance(one, float)]
    assert all(math.isfinite(one) and one >= 0 for one in numbers)
