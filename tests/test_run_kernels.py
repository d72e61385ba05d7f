"""Kernel tables: from one row for each kernel to what the table says about the run."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npulint.facts.model import Fact, Problem
from npulint.runs.read import read_artifact
from npulint.runs.read.kernel_words import core_of, cores_behind, data_dtype, dtypes_of, idle_share
from npulint.runs.read.kernels import read
from npulint.runs.read.rows import Seen
from tests.fact_support import check_declared

HEADER = (
    "Step Id,Stream ID,Name,Type,OP State,Accelerator Core,Duration(us),Wait Time(us),Block Dim,HF32 Eligible,"
    "Input Shapes,Input Data Types,Input Formats,Output Shapes,Output Formats"
)


def row(type_: str, duration: float, **given: object) -> str:
    cells = {"step": 1, "stream": 2, "name": f"{type_}_1", "state": "static", "core": "AI_VECTOR_CORE", "wait": 0}
    cells |= {"block": 48, "hf32": "NO", "shapes": "8,16", "dtypes": "FLOAT16", "formats": "ND"}
    cells |= {"out": "8,16", "out_formats": "ND"} | given
    c = cells
    first = (
        f"{c['step']},{c['stream']},{c['name']},{type_},{c['state']},{c['core']},{duration},{c['wait']},{c['block']}"
    )
    return f'{first},{c["hf32"]},"""{c["shapes"]}""",{c["dtypes"]},{c["formats"]},"""{c["out"]}""",{c["out_formats"]}'


def facts(*lines: str, header: str = HEADER) -> list[Fact]:
    found = read(io.BytesIO("\n".join((header, *lines, "")).encode()), "k.csv", Seen("kernel_table"))
    check_declared(found)
    return found


def of(kind: str, found: list[Fact]) -> list[Fact]:
    return [fact for fact in found if fact.kind == kind]


@pytest.mark.parametrize(
    ("header", "line"),
    [
        ("op_name,op_type,task_type,task_duration,block_dim,input_shape,input_data_type", "DT_FLOAT16"),
        ("Op Name,OP Type,Task Type,Task Duration(us),Block Dim,Input Shapes,Input Data Types", "DT_FLOAT16"),
        ("Name,Type,Accelerator Core,Duration(us),Block Dim,Input Shapes,Input Data Types", "FLOAT16"),
        ("Op Name,OP Type,Task Type,Task Duration(us),Block Num,Input Shapes,Input Data Types", "float16"),
    ],
)
def test_a_reduction_on_one_core_is_told_the_same_in_every_generation(header: str, line: str) -> None:
    found = facts(f'loss/Sum,ReduceSum,AI_CORE,812.5,1,"""1,256,256,3;3""",{line};INT32', header=header)
    (op,) = of("run_op", found)
    wanted = {"dtype": "FLOAT16", "single": "yes", "block": 1, "max_us": 812.5, "share": 100.0, "rank": 1}
    wanted |= {"node": "loss/Sum", "shapes": "1,256,256,3;3", "dtypes": "FLOAT16;INT32", "core": "AI_CORE"}
    assert (op.name, op.span.line) == ("ReduceSum", 2)
    assert {key: op.get(key) for key in wanted} == wanted
    assert op.get("dynamic") is None


def test_kernels_are_taken_together_by_type_core_dtype_and_single_core() -> None:
    found = facts(
        row("Cast", 10),
        row("Cast", 30, name="longest"),
        row("Cast", 20, dtypes="FLOAT"),
        row("Cast", 5, block=1),
        row("Cast", 15, core="AI_CPU", block=1, dtypes="INT64"),
        row("Mul", 20),
    )
    told = [(op.name, op.get("core"), op.get("dtype"), op.get("single")) for op in of("run_op", found)]
    assert told == [
        ("Cast", "AI_VECTOR_CORE", "FLOAT16", "no"),
        ("Cast", "AI_VECTOR_CORE", "FLOAT", "no"),
        ("Mul", "AI_VECTOR_CORE", "FLOAT16", "no"),
        ("Cast", "AI_CPU", "INT64", "no"),
        ("Cast", "AI_VECTOR_CORE", "FLOAT16", "yes"),
    ]
    first, *_, cpu, _ = of("run_op", found)
    assert (first.span.line, first.get("node"), first.get("count"), first.get("mean_us")) == (3, "longest", 2, 20)
    assert (first.get("share"), first.get("type_share"), first.get("type_count")) == (40.0, 80.0, 5)
    assert [op.get("leads") for op in of("run_op", found)] == ["yes", "no", "yes", "no", "no"]
    assert cpu.get("wide") == "INT64"


def test_communication_is_no_part_of_computing() -> None:
    found = facts(
        row("Add", 25),
        row("hcom_allReduce_", 900, core="HCCL"),
        row("hcom_broadcast_", 75, core="COMMUNICATION"),
    )
    (table,) = of("run_kernels", found)
    assert (table.get("compute_us"), table.get("kernels")) == (25, 1)
    assert [(op.name, op.get("share")) for op in of("run_op", found)] == [("Add", 100.0)]


def test_random_masks_have_one_block_and_are_no_single_core_kernels() -> None:
    assert of("run_op", facts(row("DSARandomUniform", 9, core="DSA_SQE", block=1)))[0].get("single") == "no"


def test_a_profile_of_level_0_names_no_operator() -> None:
    header = "Step Id,Name,Type,Accelerator Core,Start Time(us),Duration(us),Wait Time(us),Block Dim"
    found = facts("50,Conv2D1,N/A,N/A,1736405443881672.085\t,315.7,99.1,0", header=header)
    assert [(fact.kind, fact.get("level")) for fact in found] == [("run_kernels", "times")]
    assert of("run_kernels", facts())[0].get("level") == "none"


def test_conversions_there_and_back_are_pairs() -> None:
    there = {"formats": "NCHW", "shapes": "8,16", "out_formats": "NC1HWC0", "out": "8,1,16"}
    back = {"formats": "NC1HWC0", "shapes": "8,1,16", "out_formats": "NCHW", "out": "8,16"}
    pair = (row("TransData", 10, **there), row("TransData", 20, **back))
    (direct,) = of("run_pair", facts(*pair))
    assert (direct.span.line, direct.get("from"), direct.get("to")) == (3, "NCHW", "NC1HWC0")
    assert (direct.get("direct"), direct.get("total_us")) == ("yes", 30)
    (apart,) = of("run_pair", facts(pair[0], row("Relu", 1), pair[1]))
    assert (apart.get("between"), apart.get("direct")) == ("Relu", "no")
    assert not of("run_pair", facts(pair[0], *[row("Relu", 1)] * 4, pair[1]))
    assert not of("run_pair", facts(pair[0], row("TransData", 20, **{**back, "stream": 3})))
    assert not of("run_pair", facts(pair[0], row("TransData", 20, **{**back, "shapes": "9,1,16"})))


def test_short_kernels_over_and_over() -> None:
    lines = [row("Slice", 2, wait=9, step=step) for step in (1, 2) for _ in range(60)]
    (fact,) = of("run_repeated", facts(*lines, row("Add", 3)))
    assert (fact.name, fact.get("count"), fact.get("per_step"), fact.get("waits")) == ("Slice", 120, 60.0, "yes")
    assert (fact.get("mean_us"), fact.get("mean_wait_us")) == (2, 9)
    assert not of("run_repeated", facts(*[row("Slice", 2)] * 9))
    assert not of("run_repeated", facts(*[row("Slice", 200)] * 60))


def test_kernels_of_optimizers() -> None:
    (fact,) = of("run_small", facts(*[row("Addcdiv", 4)] * 3, row("ForeachMulScalar", 38), row("Relu", 50)))
    assert (fact.get("count"), fact.get("median_us")) == (4, 4)
    assert fact.span.line == 5
    assert not of("run_small", facts(row("ApplyAdamW", 50)))


def test_precision_of_the_matrix_unit_and_dynamic_kernels() -> None:
    (table,) = of(
        "run_kernels",
        facts(
            row("MatMulV2", 60, dtypes="DT_FLOAT;DT_FLOAT", core="AI_CORE", state="dynamic"),
            row("Conv2DBackpropInput", 20, dtypes="INT32;FLOAT", core="AI_CORE", hf32="YES", state="dynamic"),
            row("BatchMatMul", 20, dtypes="DT_BF16", core="AI_CORE", state="dynamic", shapes="1"),
            row("Relu", 100),
            row("Relu", 0, state="dynamic"),
        ),
    )
    assert (table.get("cube_us"), table.get("cube_float"), table.get("cube_hf32")) == (100.0, 80.0, 25.0)
    assert (table.get("dynamic"), table.get("dynamic_repeated")) == (80.0, 25.0)


@pytest.mark.parametrize(("block", "idle"), [(48, 0.0), (49, 49.0), (24, 50.0), (96, 0.0)])
def test_cores_without_work(block: int, idle: float) -> None:
    assert idle_share(block, 48) == idle
    assert cores_behind(block) == (block if block in (24, 48) else 0)


def test_words_in_one_spelling() -> None:
    assert dtypes_of("DT_BF16;bfloat16;FLOAT32;N/A") == ("BF16", "BF16", "FLOAT", "")
    assert data_dtype(dtypes_of("INT32;DT_FLOAT")) == "FLOAT"
    assert [core_of(text) for text in ("HCCL", "KERNEL_AICPU", "", "MIX_AIC")] == [
        *("COMMUNICATION", "AI_CPU", "N/A", "MIX_AIC")
    ]


def test_hostile_tables_give_a_bounded_number_of_facts() -> None:
    lines = [row(f"T{n}", 1, core=f"C{n % 99}", stream=n, shapes=str(n)) for n in range(9_000)]
    found = facts(*lines)
    assert len(of("run_op", found)) <= 500
    assert of("run_kernels", found)[0].get("kernels") == 9_000


@given(st.lists(st.tuples(st.sampled_from(["Add", "TransData", "MatMul"]), st.integers(0, 10**6)), max_size=30))
def test_shares_add_up(kernels: list[tuple[str, int]]) -> None:
    found = facts(*[row(type_, duration) for type_, duration in kernels])
    total = sum(duration for _, duration in kernels)
    assert sum(op.get("total_us") for op in of("run_op", found)) == pytest.approx(total)
    assert sum(op.get("count") for op in of("run_op", found)) == len(kernels)
    if total:
        assert sum(op.get("share") for op in of("run_op", found)) == pytest.approx(100, abs=0.2)


@pytest.mark.nightly
@pytest.mark.slow
def test_memory_does_not_grow_with_the_table(tmp_path: Path) -> None:
    path = tmp_path / "op_summary_0_1.csv"
    block = "".join(row(f"T{n % 40}", n % 97 + 1, shapes=f"{n}") + "\n" for n in range(2_000))
    with path.open("w", encoding="utf-8") as stream:
        stream.write(HEADER + "\n")
        for _ in range(150):
            stream.write(block)
    program = (
        "import resource, sys\nfrom npulint.runs.read import read_artifact\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "facts = read_artifact(sys.argv[1], 'k')\n"
        "print(facts[0].rows, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)\n"
    )
    if sys.platform != "linux":
        pytest.skip("peaks of memory are told in other units elsewhere")
    done = subprocess.run([sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=True)
    rows_read, grown = map(int, done.stdout.split())
    assert rows_read == 300_000
    assert grown < 40_000  # KiB; the file has 30 MB


SAMPLES = Path(__file__).parent.parent.parent / "shared" / "samples"


@pytest.mark.skipif(not SAMPLES.is_dir(), reason="the sample data is not part of a clone")
@pytest.mark.parametrize(
    ("place", "name", "core", "wanted"),
    [
        ("level1/rank0_ascend_pt", "TransData", "AI_VECTOR_CORE", {"type_share": 16.0}),
        ("level1/rank0_ascend_pt", "ForeachAddList", "AI_VECTOR_CORE", {"share": 22.1, "count": 3}),
        ("advisor_backend/compute_advice", "Cast", "AI_CPU", {"count": 7, "total_us": 785.18, "type_share": 11.7}),
        ("test_data/test_rank_0", "Cast", "AI_CPU", {"count": 2, "dtype": "INT32", "out_dtypes": "UINT64"}),
    ],
)
def test_real_tables(place: str, name: str, core: str, wanted: dict[str, object]) -> None:
    (path,) = (path for path in SAMPLES.rglob("kernel_details.csv") if place in str(path))
    found = read_artifact(str(path), "k")
    assert not isinstance(found, Problem)
    (op,) = (fact for fact in of("run_op", found) if (fact.name, fact.get("core")) == (name, core))
    assert {key: op.get(key) for key in wanted} == wanted
