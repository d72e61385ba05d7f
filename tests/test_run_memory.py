"""Tables of memory: what allocators held, how much of it was in use, and by what."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npulint.commands.check.pipeline import run
from npulint.discover.artifacts import form_of
from npulint.facts.model import Fact
from npulint.judge.findings import Finding
from npulint.judge.settings import Settings
from npulint.runs.read import memory, read_artifact
from npulint.runs.read.rows import Seen
from tests.fact_support import attrs_of, check_declared
from tests.samples import sample

MSINSIGHT = "Ascend+msinsight"
RANKS = f"{MSINSIGHT}/server/src/test/test_data"
WHOLE = f"{MSINSIGHT}/test/data/pytorch/text/level1/rank0_ascend_pt/ASCEND_PROFILER_OUTPUT"

OLD = "Component,Timestamp(us),Total Allocated(MB),Total Reserved(MB),Device Type\n"
NEW = "Component,Timestamp(us),Total Allocated(MB),Total Reserved(MB),Total Active(MB),Stream Ptr,Device Type\n"
MSPROF = "Device_id,Component,Timestamp(us),Total Allocated(KB),Total Reserved(KB),Device\n"


def facts_of(text: str, name: str = "memory_record.csv") -> tuple[dict[str, Any], list[Fact]]:
    """What the file tells: its source, and the facts about memory, all of them declared."""
    facts = read_artifact(name, name, text.encode())
    assert isinstance(facts, list), facts
    check_declared(facts)
    return attrs_of(facts[0]), facts[1:]


def test_the_most_in_use_counts_while_the_most_is_reserved() -> None:
    source, (app, both, own) = facts_of(
        NEW
        + "APP,1736408883573957.920\t,,9000.5,,,NPU:0\n"
        + "PTA,1736408883694624.810\t,4000.0,4100.0,4000.0,897357296,NPU:0\n"
        + "PTA,1736408883694625.810\t,1000.0,8000.0,1000.0,897357296,NPU:0\n"
        + "PTA,1736408883702735.700\t,3000.0,8000.0,5000.0,897357296,NPU:0\n"
        + "PTA+GE,1736408883702735.700\t,3000.0,8002.0,5000.0,897357296,NPU:0\n"
        + "PTA,1736408883736793.940\t,2000.0,8000.0,2000.0,897357296,NPU:0\n"
        + "PTA,1736408883736794.940\t,900.0,900.0,900.0,897357296,NPU:0\n"
    )
    assert (source["note"], source["rows"], source["generation"]) == ("", 7, 2024)
    assert (app.name, app.span.line, app.get("reserved_mb")) == ("APP", 2, 9000.5)
    assert app.get("used_mb") is None
    assert (both.name, own.name, own.span.line) == ("PTA+GE", "PTA", 5)
    assert attrs_of(own) == {
        "form": "memory_record",
        "reserved_mb": 8000.0,
        "used_mb": 5000.0,
        "unused_mb": 3000.0,
        "unused_share": 37.5,
        "swing_share": 51.2,
    }


def test_the_first_generation_has_no_active_memory() -> None:
    source, (own, graphs) = facts_of(
        OLD
        + "PTA,1695115378714622.8,4599.74072265625,8664.0,NPU:0\n"
        + "PTA,1695115378721880.0,4599.86572265625,8664.0,NPU:0\n"
        + "GE,1695115378979271.0,0.25,242.0,NPU:0\n"
    )
    assert source["generation"] == 2021
    assert (own.name, own.span.line, own.get("unused_share"), own.get("swing_share")) == ("PTA", 3, 46.9, 0.0)
    assert (graphs.name, graphs.get("unused_mb")) == ("GE", 241.75)


def test_msprof_measures_in_kilobytes() -> None:
    _, (graphs,) = facts_of(MSPROF + "0,GE,1695115378979271.0,524288,2097152,NPU:0\n")
    assert (graphs.get("reserved_mb"), graphs.get("used_mb")) == (2048.0, 512.0)
    source, (module,) = facts_of(
        "Device_id,Component,Timestamp(us),Total Reserved(KB),Device\n0,HCCL,1724670453385978.290\t,835708,NPU:0\n"
        "0,SLOG,1724670453385978.290\t,0.0,NPU:0\n"
    )
    assert (source["form"], module.name, module.get("reserved_mb")) == ("module_memory", "HCCL", 816.121)


def test_a_small_segment_more_does_not_hide_what_was_in_use() -> None:
    _, (own,) = facts_of(
        OLD + "PTA,1,7000.0,8000.0,NPU:0\n" + "PTA,2,1000.0,8002.0,NPU:0\n" + "PTA,3,1100.0,8002.0,NPU:0\n"
    )
    assert (own.span.line, own.get("reserved_mb"), own.get("unused_mb")) == (2, 8002.0, 1002.0)


def test_what_only_grows_slowly_lies_at_its_last_peak() -> None:
    _, (app,) = facts_of(OLD + "APP,1,,8000.0,NPU:0\n" + "APP,2,,8002.0,NPU:0\n" + "APP,3,,8001.0,NPU:0\n")
    assert (app.span.line, app.get("reserved_mb")) == (3, 8002.0)


def test_devices_are_told_apart() -> None:
    _, facts = facts_of(OLD + "PTA,1,10.0,20.0,NPU:0\n" + "PTA,2,30.0,50.0,NPU:1\n")
    assert [(one.get("reserved_mb"), one.span.line) for one in facts] == [(50.0, 3), (20.0, 2)]


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(0, 100)), min_size=1, max_size=60))
def test_what_is_unused_by_definition(steps: list[tuple[int, int]]) -> None:
    table = [(1000.0 * reserved, 10.0 * reserved * percent) for reserved, percent in steps]
    text = OLD + "".join(f"PTA,{at},{used},{reserved},NPU:0\n" for at, (reserved, used) in enumerate(table))
    (own,) = memory.read_components(io.BytesIO(text.encode()), "m.csv", Seen("memory_record"))
    peak = max(reserved for reserved, _ in table)
    used = max(used for reserved, used in table if reserved == peak)
    assert (own.get("reserved_mb"), own.get("used_mb"), own.get("unused_mb")) == (peak, used, peak - used)
    assert own.span.line == 2 + table.index((peak, used))


def test_allocations_of_operators_are_counted() -> None:
    source, facts = facts_of(
        "Name,Size(KB),Allocation Time(us),Release Time(us),Duration(us),Allocation Total Allocated(MB),"
        "Allocation Total Reserved(MB),Release Total Allocated(MB),Release Total Reserved(MB),Device Type\n"
        "aten::add,192,1695115378723902.5,1695115378723939.2,36.73,0.25,242.0,0.0625,242.0,NPU:0\n"
        "aten::mm,147456,1695115378736209.5,,,80.125,242.0,,,NPU:0\n"
        ",-4096,,1695115378736355.0,,,,0.0625,242.0,NPU:0\n",
        "operator_memory.csv",
    )
    assert (source["note"], source["rows"], source["malformed"], facts) == ("", 3, 0, [])


def test_rows_that_are_none_are_counted() -> None:
    source, (own,) = facts_of(OLD + "PTA,1,10.0,oops,NPU:0\n" + "PTA,2,-5.0,20.0,NPU:0\n" + "PTA,3,nan,1e400,NPU:0\n")
    assert (source["rows"], source["malformed"], source["first_malformed"]) == (1, 2, 2)
    assert own.get("reserved_mb") == 20.0
    assert own.get("used_mb") is None


def test_a_table_without_rows() -> None:
    source, facts = facts_of(OLD)
    assert (source["form"], source["note"], facts) == ("memory_record", "empty", [])


def test_no_operator_need_have_allocated_anything() -> None:
    source, facts = facts_of("Name,Size(KB),Allocation Time(us),Release Time(us),Duration(us)\n")
    assert (source["form"], source["note"], facts) == ("operator_memory", "", [])


def test_ever_new_names_take_little() -> None:
    lines = "".join(f"module{at},1,{at},NPU:0\n" for at in range(3000))
    source, facts = facts_of("Component,Timestamp(us),Total Reserved(MB),Device\n" + lines)
    assert (source["rows"], len(facts), facts[0].name) == (3000, 20, "module999")


TRAIN = """import torch
import torch_npu

for x in loader:
    model(x).mean().backward()
    optimizer.step()
"""


def findings(folder: Path, text: str, *, metadata: str = "", shell: str = "") -> list[Finding]:
    """What the check says about a profile beside a project."""
    profile = folder / "host_7_20250109_ascend_pt"
    (profile / "ASCEND_PROFILER_OUTPUT").mkdir(parents=True)
    (profile / "ASCEND_PROFILER_OUTPUT" / "memory_record.csv").write_text(text)
    (folder / "train.py").write_text(TRAIN)
    (folder / "run.sh").write_text(f"{shell}\npython train.py\n")
    if metadata:
        (profile / "profiler_metadata.json").write_text(
            json.dumps({"distributed_args": {}, "ENV_VARIABLES": {"PYTORCH_NPU_ALLOC_CONF": metadata}}, indent=1)
        )
    return list(run(Settings(paths=(str(folder),), cache=False, select=("NPU5349",))).findings)


STEP = OLD + "PTA,1,{low},{peak},NPU:0\n" + "PTA,2,{high},{peak},NPU:0\n" + "PTA,3,{low},{peak},NPU:0\n"


@pytest.mark.parametrize(
    ("low", "high", "peak", "told"),
    [
        (1000.0, 5600.0, 8000.0, True),
        (1000.0, 5700.0, 8000.0, False),
        (1000.0, 2800.0, 4096.0, True),
        (1000.0, 2800.0, 4095.0, False),
        (5300.0, 5600.0, 8000.0, False),
    ],
)
def test_where_the_check_begins_to_speak(tmp_path: Path, low: float, high: float, peak: float, told: bool) -> None:
    found = findings(tmp_path, STEP.format(low=low, high=high, peak=peak))
    assert [(one.code, one.span.line) for one in found] == ([("NPU5349", 3)] if told else [])


@pytest.mark.parametrize("value", ["expandable_segments:True", "max_split_size_mb:64, expandable_segments: true"])
@pytest.mark.parametrize("place", ["metadata", "shell"])
def test_expandable_segments_keep_it_silent(tmp_path: Path, place: str, value: str) -> None:
    said = value if place == "metadata" else f"export PYTORCH_NPU_ALLOC_CONF='{value}'"
    assert findings(tmp_path, STEP.format(low=1000, high=4000, peak=9000), **{place: said}) == []


def test_another_setting_of_the_allocator_is_named(tmp_path: Path) -> None:
    shell = "export PYTORCH_NPU_ALLOC_CONF=expandable_segments:False"
    (one,) = findings(tmp_path, STEP.format(low=1000, high=4000, peak=9000), shell=shell)
    assert "9,000 MB" in one.message
    assert "55.6 % (5,000 MB)" in one.message
    assert [(place.path.rpartition("/")[2], place.span.line) for place in one.related] == [("run.sh", 1)]


@pytest.mark.parametrize(
    ("relative", "form", "line", "name", "figures"),
    [
        (f"{WHOLE}/memory_record.csv", "memory_record", 894, "PTA", {"unused_share": 18.2}),
        (f"{WHOLE}/npu_module_mem.csv", "module_memory", 44, "HCCL", {"reserved_mb": 404.062}),
        (f"{RANKS}/test_rank_0/ASCEND_PROFILER_OUTPUT/memory_record.csv", "memory_record", 8, "PTA", {}),
    ],
)
def test_real_tables(relative: str, form: str, line: int, name: str, figures: dict[str, object]) -> None:
    path = str(sample(relative))
    assert form_of(path) == form
    facts = read_artifact(path, relative)
    assert isinstance(facts, list)
    assert (facts[0].get("note"), facts[0].get("malformed")) == ("", 0)
    (one, *_) = [fact for fact in facts if fact.name == name]
    assert one.span.line == line
    assert {key: one.get(key) for key in figures} == figures


@pytest.mark.parametrize("relative", [WHOLE, f"{RANKS}/test_rank_0", f"{RANKS}/test_rank_1"])
def test_real_profiles_give_no_cause(relative: str) -> None:
    assert not run(Settings(paths=(str(sample(relative)),), cache=False, select=("NPU5349",))).findings
