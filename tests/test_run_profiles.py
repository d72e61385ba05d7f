"""What files of one profile say of each other: its level, who tells a thing twice, what was never exported."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from npulint.commands.check.pipeline import run
from npulint.discover.artifacts import form_of_text
from npulint.facts.model import Fact, Span
from npulint.judge.findings import RunResult
from npulint.judge.settings import Settings
from npulint.runs.facts.profiles import raw_profiles, steps_once, told_once, with_levels
from npulint.runs.read import read_artifact
from npulint.runs.read.environment import ProfileOptions
from npulint.runs.read.interfaces import HostActivity
from npulint.runs.read.kernels import KernelTable
from npulint.runs.read.rows import Seen
from npulint.runs.read.source_fact import source_fact
from npulint.runs.read.steps import StepBreakdown
from npulint.runs.read.trace import TraceRead

PROF = "PROF_000001_20240601120000000_ABCDEFGH"
TORCH = "node1_12_20240601120000000_ascend_pt"
OUTPUT = "ASCEND_PROFILER_OUTPUT"
DEVICE = '{"DeviceInfo": [{"id": 0, "ai_core_num": 24}]}'
SAMPLE = '{"ai_core_profiling": "on"}'


def source(path: str, form: str) -> Fact:
    return source_fact(path, Seen(form), "")


def step_of(path: str, *, traced: bool = False) -> Fact:
    names = ("computing", "exposed", "exchange", "free")
    parts: dict[str, Any] = {f"{part}_{unit}": 0.0 for part in names for unit in ("us", "share")}
    return StepBreakdown("step", path, Span(), traced=traced, steps=1, step_us=1.0, **parts)


def options(path: str, level: str) -> Fact:
    return ProfileOptions("torch_npu", path, Span(), level, *[None] * 5)


@pytest.mark.parametrize(
    ("profile", "expected"),
    [
        ("a/profiler_info_0.json", "level1"),
        ("a/b/profiler_info_0.json", "level1"),
        ("profiler_info_0.json", "unknown"),
        ("c/profiler_info_0.json", "unknown"),
    ],
)
def test_a_step_knows_the_level_of_its_profile(profile: str, expected: str) -> None:
    (_, told) = with_levels([options(profile, "level1"), step_of("a/b/step_trace_time.csv")])
    assert told.get("level") == expected


def test_a_table_without_types_tells_the_level_too() -> None:
    step = step_of("a/s.csv")
    kernels = KernelTable("kernel_table", "a/k.csv", Span(), "times", 1, 0, 1, 1.0, None, None, 0.0, 0.0, 0.0)
    assert with_levels([step, kernels])[0].get("level") == "level0"
    assert with_levels([step, kernels, options("a/profiler_info.json", "level2")])[0].get("level") == "level2"


def host(name: str, path: str) -> Fact:
    figures: dict[str, Any] = {"calls": 1, "total_us": 1.0, "mean_us": 1.0, "max_us": 1.0}
    return HostActivity(name, path, Span(), traced="trace" in path, example="", **figures)


def test_a_trace_and_a_table_tell_calls_once() -> None:
    traced, tabled = host("compile", "a/trace_view.json"), host("compile", "a/api.csv")
    other, loader = host("copy", "a/api.csv"), host("dataloader", "a/trace_view.json")
    elsewhere = host("compile", "b/api.csv")
    whole = TraceRead("trace", "a/trace_view.json", Span(), False)
    facts = [traced, tabled, other, loader, elsewhere]
    assert told_once([whole, *facts]) == [whole, traced, other, loader, elsewhere]
    cut = TraceRead("trace", "a/trace_view.json", Span(), True)
    assert told_once([cut, *facts]) == [cut, tabled, other, loader, elsewhere]


def test_steps_of_a_trace_speak_where_no_table_does() -> None:
    traced, tabled = step_of("a/trace_view.json", traced=True), step_of("a/step_trace_time.csv")
    assert steps_once([traced]) == [traced]
    assert steps_once([traced, tabled]) == [tabled]


@pytest.mark.parametrize("name", ["info.json", "info.json.0", "sample.json.3"])
def test_files_beside_raw_data_are_known_by_what_they_hold(name: str) -> None:
    form = "sample_info" if name.startswith("sample") else "device_info"
    assert form_of_text(name, (SAMPLE if name.startswith("sample") else DEVICE).encode()) == form
    assert form_of_text(name, b'{"images": []}') == ""


RAW = [source(f"x/{PROF}/device_0/info.json.0", "device_info"), source(f"x/{PROF}/host/sample.json", "sample_info")]
TORCH_RAW = [
    source(f"{TORCH}/profiler_info_0.json", "profiler_info"),
    source(f"{TORCH}/{PROF}/host/i.json", "device_info"),
]


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        (RAW, [("msprof", PROF)]),
        ([*RAW, source(f"x/{PROF}/host/host_start.log", "log")], [("msprof", PROF)]),
        (RAW[:1], []),  # who names one file has perhaps not named the tables
        ([*RAW, source(f"x/{PROF}/mindstudio_profiler_output/op_summary_1.csv", "kernel_table")], []),
        ([*RAW, source(f"x/{PROF}/msprof_20240601120000.db", "database")], []),
        ([*RAW, source("x/train.log", "log")], [("msprof", PROF)]),
        (TORCH_RAW, [("torch_npu", TORCH)]),
        ([*TORCH_RAW, source(f"{TORCH}/{OUTPUT}/step_trace_time.csv", "step_trace_time")], []),
        (TORCH_RAW[:1], []),
        ([TORCH_RAW[1], source(f"{TORCH}/{PROF}/host/sample.json", "sample_info")], []),  # the part of a profile
    ],
)
def test_a_profile_without_tables_is_told(facts: list[Fact], expected: list[tuple[str, str]]) -> None:
    assert [(one.name, one.get("folder")) for one in raw_profiles(facts)] == expected


def test_a_name_that_a_shell_would_read_is_not_put_into_a_command() -> None:
    folder = "x'; touch y; '_ascend_pt"
    facts = [source(one.path.replace(TORCH, folder), one.name) for one in TORCH_RAW]
    assert [one.get("folder") for one in raw_profiles(facts)] == ["FOLDER"]


def checked(folder: Path, files: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> RunResult:
    monkeypatch.chdir(folder)
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    return run(Settings(paths=(".",), cache=False, select=("NPU533", "NPU54")))


def test_a_folder_of_raw_data_is_not_called_fine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {f"{PROF}/device_0/info.json.0": DEVICE, f"{PROF}/device_0/sample.json": SAMPLE}
    (one,) = checked(tmp_path, files, monkeypatch).findings
    assert (one.code, one.severity) == ("NPU5405", "note")
    assert f"msprof --export=on --output={PROF}" in one.fix.text


STEP = (
    "Step,Computing,Communication(Not Overlapped),Overlapped,Communication,Free,Stage,Bubble,"
    "Communication(Not Overlapped and Exclude Receive),Preparing\n,8000,100000,0,100000,25000,108000,0,100000,0\n"
)


def test_ranks_with_the_same_trouble_are_one_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {f"rank{rank}_ascend_pt/{OUTPUT}/step_trace_time.csv": STEP for rank in range(4)}
    found = checked(tmp_path, files, monkeypatch).findings
    assert sorted((one.code, len(one.related)) for one in found) == [("NPU5333", 3), ("NPU5334", 3)]


def test_what_the_profile_says_of_the_environment_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {
        "profiler_metadata.json": json.dumps({"ENV_VARIABLES": {"ASCEND_GLOBAL_LOG_LEVEL": "0"}}),
        f"{OUTPUT}/step_trace_time.csv": STEP,
    }
    codes = [one.code for one in checked(tmp_path, files, monkeypatch).findings]
    assert sorted(codes) == ["NPU5333", "NPU5334", "NPU5408"]


def rank_of(rank: int, communication: int, free: int, number: object = None) -> dict[str, str]:
    text = STEP.replace(",8000,100000,0,100000,25000", f",80000,{communication},0,{communication},{free}")
    profile = {"config": {"common_config": {}}, "rank_id": rank if number is None else number}
    folder = f"rank{rank}_ascend_pt"
    return {f"{folder}/{OUTPUT}/step_trace_time.csv": text, f"{folder}/profiler_info_{rank}.json": json.dumps(profile)}


def test_ranks_side_by_side_are_held_against_each_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = rank_of(0, 40000, 2000) | rank_of(1, 20000, 3000) | rank_of(2, 39000, 2500)
    (one,) = [one for one in checked(tmp_path, files, monkeypatch).findings if one.code == "NPU5336"]
    assert one.path == f"rank0_ascend_pt/{OUTPUT}/step_trace_time.csv"
    assert "Rank 0 spends 40 ms" in one.message
    assert "wait for rank 1, which is idle for 2.9 %" in one.message


@pytest.mark.parametrize("number", [0, "x"])
def test_profiles_of_one_rank_are_not_compared(number: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = rank_of(0, 40000, 2000) | rank_of(1, 20000, 3000, number)
    assert "NPU5336" not in [one.code for one in checked(tmp_path, files, monkeypatch).findings]


def test_a_step_trace_of_first_iterations_alone_says_so() -> None:
    header = "Iteration ID,FP Start(us),BP End(us),Iteration End(us),Iteration Time(us),Model ID\n"
    first, later = "1,10.000,20.000,30.000,20,11\n", "2,40.000,50.000,60.000,30,11\n"
    for text, note in ((header + first, "first"), (header + first + later, ""), (header, "empty")):
        facts = read_artifact("", "step_trace_20240601120000.csv", text.encode())
        assert isinstance(facts, list)
        assert facts[0].get("note") == note
