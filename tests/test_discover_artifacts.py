"""Which files are what a run left behind, and of which form."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npulint.core.texts import table
from npulint.data.run_columns import FORMS
from npulint.discover.artifacts import form_of, form_of_text, is_artifact_folder, is_unread_folder
from npulint.discover.files import discover
from npulint.facts.model import Problem
from npulint.runs.read import read_artifact
from tests.growth import ended_if_stuck

TABLE = b"Name,Type,Accelerator Core,Duration(us),Block Dim\nx,Add,AI_CORE,1,1\n"
CASES = [
    ("op_summary_0_1.csv", b"op_type,block_dim,task_duration\n", "kernel_table"),
    ("kernel_details.csv", TABLE, "kernel_table"),
    ("anything.csv", b"\xef\xbb\xbf" + TABLE, "kernel_table"),
    ("kernel_details.csv", b"OP Type,Core Type,Count,Total Time(us)\n", "op_statistic"),
    ("op_summary_0_1.csv", b"Op Name,Unheard Of\n", "kernel_table"),
    ("op_summary_0_1.csv", b"", ""),
    ("data.csv", b"x,y\n1,2\n", ""),
    ("result_0.csv", b"x,y\n1,2\n", ""),
    ("api_statistic.csv", b"Device_id,Level,API Name,Time(us),Count,Avg(us)\n", "api_statistic"),
    ("a.csv", b"Step,Computing,Communication(Not Overlapped),Overlapped,Free\n", "step_trace_time"),
    ("a.csv", b"Step,Type,Index,Computing,Communication(Not Overlapped),Free\n", "cluster_step_trace_time"),
    ("a.csv", b"Iteration ID,FP Start(us),BP End(us),Iteration End(us),Iteration Time(us)\n", "step_trace"),
    ("a.csv", b"Name,Size(KB),Allocation Time(us),Release Time(us),Duration(us)\n", "operator_memory"),
    ("result_0.csv", b"Index,LeftOp,RightOp,TensorIndex,CosineSimilarity\n", "comparison"),
    ("x.csv", b"NPU Name,Bench Name,NPU MD5,BENCH MD5,Result\n", "comparison"),
    ("compare_result_20240101.xlsx", b"PK\x03\x04", "spreadsheet"),
    ("prices.xlsx", b"PK\x03\x04", ""),
    ("a.json", b'{"graph_fusion": {"P": {"match_times": "1"}}}', "fusion_result"),
    ("fusion_switch.cfg", b'{"Switch": {"GraphFusion": {"ALL": "off"}}}', "fusion_switch"),
    ("settings.cfg", b"[metadata]\nname = x\n", ""),
    ("x.output.0.json", b'{"DHA Atomic Add": {"status": 0}, "AI Core": {"status": 32}}', "overflow"),
    ("x.json", b'{"magic": "0x5a5a5a5a", "acc_list": {"valid": 1}}', "overflow"),
    ("trace_view.json", b'[{"ph": "X", "name": "aten::empty"}]', "trace"),
    ("communication.json", b'{"step1": {"p2p": {}, "collective": {}}}', "communication"),
    ("profiler_metadata.json", b'{"ENV_VARIABLES": {}}', "profiler_metadata"),
    ("info.json", b'{"DeviceInfo": [{"ai_core_num": 8}]}', "device_info"),
    ("dump.json", b'{"task": "statistics", "dump_data_dir": null}', "statistics_dump"),
    ("package.json", b'{"name": "x"}', ""),
    ("profiler_info_0.json", b"no JSON at all", ""),
    ("train_0.log", b"anything", "log"),
    ("train.txt", b"epoch 1 step 10 loss = 3.4\n", "log"),
    ("x.txt", b"[ERROR] GE(12,python):2022-01-01-00:00:00.000.000 [a.cc:1]1 f: x\n", "log"),
    ("train.log", "epoch 1 loss 3.4\n".encode("utf-16"), "log"),
    ("out.txt", b"\xfe\xff" + "epoch 1 step 10 loss = 3.4\n".encode("utf-16-be"), "log"),
    ("notes.txt", "Dear reader\n".encode("utf-16"), ""),
    ("notes.txt", b"Dear reader\n", ""),
    ("core.log", b"\x7fELF\0\0", ""),
    ("console.log", b"  - [AI Core][Status:32][TaskId:327] ['x']\n", "precision_console"),
    ("vcs.log", "╭── [578] head/TopKV2 ───╮\n".encode(), "precision_console"),
    ("rich.log", "╭── Traceback (most recent call last) ───╮\n".encode(), "log"),
    ("training_trace.46.dev", b"cp_add.FP_stream =66\ncp_add.FP_start =8967967781234\n", "training_trace"),
    ("events.out.tfevents.1612921774.host", b"\x18\0\0\0", "events"),
    ("Opdebug.Node_OpDebug.12.1619347786532995", b"\0\1\2", "overflow_dump"),
    ("Cast.a_b.12.1619347786532995.output.0.npy", b"\x93NUMPY", "tensor_dump"),
    ("weights.npy", b"\x93NUMPY", ""),
    ("ascend_pytorch_profiler_0.db", b"SQLite format 3\0", "database"),
    ("app.db", b"SQLite format 3\0", ""),
]


@pytest.mark.parametrize(("name", "head", "form"), CASES)
def test_form(name: str, head: bytes, form: str, tmp_path: Path) -> None:
    assert form_of_text(name, head) == form
    (tmp_path / name).write_bytes(head)
    assert form_of(str(tmp_path / name)) == form


def test_every_form_has_a_name() -> None:
    forms = {*FORMS, *(form for _, _, form in CASES)} - {"", "spreadsheet"}
    assert {f"runs.form.{form}" for form in forms} <= table("runs").keys()


def test_packed_files_are_looked_into(tmp_path: Path) -> None:
    (tmp_path / "kernel_details.csv.gz").write_bytes(gzip.compress(TABLE))
    assert form_of(str(tmp_path / "kernel_details.csv.gz")) == "kernel_table"
    facts = read_artifact(str(tmp_path / "kernel_details.csv.gz"), "k")
    assert not isinstance(facts, Problem)
    assert [fact.kind for fact in facts] == ["run_source", "run_kernels", "run_op", "run_family", "run_small"]
    broken = tmp_path / "op_summary_1.csv.gz"
    broken.write_bytes(gzip.compress(TABLE + os.urandom(200_000))[:-100_000])
    assert isinstance(problem := read_artifact(str(broken), "k"), Problem) and problem.reason == "artifact-damaged"


def test_what_is_no_file_is_no_artifact(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "train.log")
    (tmp_path / "op_summary_0_1.csv").mkdir()
    assert [form_of(str(tmp_path / name)) for name in ("train.log", "op_summary_0_1.csv", "gone.log")] == ["", "", ""]
    assert isinstance(read_artifact(str(tmp_path / "train.log"), "t"), Problem)


def test_folders_of_a_run() -> None:
    folders = "PROF_000001_20230628101435646_FKFLNPEPPRRCFCBA host_1_2023_ascend_pt ASCEND_PROFILER_OUTPUT plog"
    folders += " mindstudio_profiler_output cluster_analysis_output precision_data PROF_1"
    folders += " PROF_000001_20210301101112_ABCD PROF_000001_20210301101112345_ABCDEFGH-1 JOBDGHEAHIIDCAIHFBHJJCAJ"
    assert all(map(is_artifact_folder, folders.split()))
    others = "PROF PROF_ prof_1 PROFILER JOB JOBS JOBRUNNER ascend_pt plogs precision_data_2 src log summary timeline"
    assert not any(map(is_artifact_folder, others.split()))


def test_exports_below_a_device_are_known_by_their_place() -> None:
    assert is_artifact_folder("summary", "device_0")
    assert is_artifact_folder("timeline", "host")
    assert not is_artifact_folder("summary", "report")
    assert not is_artifact_folder("data", "device_0")


@pytest.mark.parametrize(
    "folder",
    [
        "PROF_000001_20210301101112345_ABCDEFGH/device_0/summary",
        "PROF_000001_20210301101112345_ABCDEFGH/mindstudio_profiler_output",
        "PROF_1/device_0/summary",
        "out/PROF_000001_20210301101112_ABCDEFGH/device_7/summary",
        "JOBDGHEAHIIDCAIHFBHJJCAJ/device_0/summary",
        "JOBDGHEAHIIDCAIHFBHJJCAJ/summary",
        "profiling/device_0/summary",
        "host_1_20240101000000000_ascend_pt/ASCEND_PROFILER_OUTPUT",
    ],
)
def test_a_kernel_table_is_found_in_every_layout(folder: str, tmp_path: Path) -> None:
    place = tmp_path / folder
    place.mkdir(parents=True)
    (place / "op_summary_0_1.csv").write_bytes(TABLE)
    (tmp_path / "train.py").write_text("import torch\n")
    for top in (tmp_path, tmp_path / folder.split("/")[0], place):
        found = [file.kind for file in discover([str(top)]).files if file.path.endswith(".csv")]
        assert found == ["artifact"], top


@pytest.mark.parametrize("folder", ["report/summary", "data/device_0", "timeline", "JOBS", "prof_1"])
def test_a_table_in_a_folder_of_the_project_is_not_read(folder: str, tmp_path: Path) -> None:
    place = tmp_path / folder
    place.mkdir(parents=True)
    (place / "op_summary_0_1.csv").write_bytes(TABLE)
    (tmp_path / "train.py").write_text("import torch\n")
    assert [file.kind for file in discover([str(tmp_path)]).files] == ["python"]


def test_raw_slices_are_not_entered() -> None:
    assert is_unread_folder("PROF_000001_20230628101435646_FKFLNPEPPRRCFCBA", "data")
    assert is_unread_folder("PROF_1", "data")
    assert is_unread_folder("host_1_2023_ascend_pt", "FRAMEWORK")
    assert not is_unread_folder("project", "data")


def test_forms_without_a_reader_are_named_and_their_rows_counted(tmp_path: Path) -> None:
    header = b"Device_id,Model Name,Model ID,Fusion Op,Original Ops\n"
    (tmp_path / "fusion_op_1.csv").write_bytes(header + b"0,resnet,1,conv1,conv1;bn1\n0,resnet\n")
    facts = read_artifact(str(tmp_path / "fusion_op_1.csv"), "fusion_op_1.csv")
    assert not isinstance(facts, Problem)
    assert [(f.kind, f.name, f.get("rows"), f.get("malformed"), f.get("note")) for f in facts] == [
        ("run_source", "fusion_op", 1, 1, "unread")
    ]


def test_a_spreadsheet_is_refused_without_its_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("npulint.runs.read.spreadsheets.can_read", lambda: False)
    (tmp_path / "compare_result_1.xlsx").write_bytes(b"PK\x03\x04")
    assert read_artifact(str(tmp_path / "compare_result_1.xlsx"), "c") == Problem("c", "artifact-spreadsheet")


@given(st.sampled_from([name for name, _, _ in CASES]), st.sampled_from([head for _, head, _ in CASES]), st.binary())
def test_nothing_in_a_file_raises(name: str, head: bytes, rest: bytes) -> None:
    for data in (head + rest, rest + head, b"\x1f\x8b" + rest):
        form_of_text(name, data)


def test_telling_the_form_takes_no_time_that_grows_with_the_file() -> None:
    heads = (b"loss " * 20_000, b"step " * 20_000, b"2020-01-01 00:00:00." * 5_000, b'"a.' * 30_000, b"[" * 90_000)
    with ended_if_stuck():
        for head in heads:
            for name in ("x.txt", "x.json", "x.log", "x.csv"):
                form_of_text(name, head[:65536])
