"""Sequences for fused operators, busy units, shapes and collectives: what tables of kernels and packets show."""

from __future__ import annotations

import io
import json

import pytest

from npulint.facts.model import Fact
from npulint.runs.read import communication, kernels
from npulint.runs.read.rows import Seen

HEAD = "Name,Type,Accelerator Core,Stream ID,Start Time(us),Duration(us),Input Shapes,Input Data Types,"
RATIOS = "aic_mac_ratio,aic_mte2_ratio,aiv_vec_ratio,aiv_mte2_ratio,aiv_scalar_ratio\n"


def facts(text: str) -> list[Fact]:
    return kernels.read(io.BytesIO((HEAD + RATIOS + text).encode()), "kernel_details.csv", Seen("kernel_table"))


def row(
    type_: str, duration: float = 10, ratios: str = ",,,,", shapes: str = "", core: str = "AI_CORE", stream: str = "1"
) -> str:
    return f'a,{type_},{core},{stream},1,{duration},"{shapes}",FLOAT16,{ratios}\n'


ATTENTION = ("BatchMatMulV3", "Muls", "Add", "SoftmaxV2", "DropOutDoMask", "BatchMatMulV3")


@pytest.mark.parametrize(
    ("types", "name"),
    [
        (ATTENTION, "attention"),
        (("BatchMatMulV2", "SoftmaxV2", "BatchMatMulV2"), "attention"),
        (("Pow", "ReduceMean", "Adds", "Rsqrt", "Mul", "Mul"), "rms_norm"),
        (("Swish", "Mul"), "swiglu"),
        (("Neg", "ConcatD", "Mul", "Mul", "Add"), "rotary"),
    ],
)
def test_sequences_are_found_wherever_they_begin(types: tuple[str, ...], name: str) -> None:
    text = row("Cast") + "".join(map(row, types)) + row("Relu") + "".join(map(row, types))
    (one,) = (one for one in facts(text) if one.kind == "run_fusible")
    assert (one.name, one.get("count"), one.get("types")) == (name, 2, ", ".join(types))
    assert (one.span.line, one.get("total_us")) == (3, 20.0 * len(types))


@pytest.mark.parametrize(
    "types",
    [
        ("BatchMatMulV3", "Relu", "SoftmaxV2", "BatchMatMulV3"),
        ("SoftmaxV2", "BatchMatMulV3"),
        ("xSwish", "Mul"),
        ("Swish", "Add", "Mul"),
        ("Pow", "ReduceMean", "Rsqrt", "Mul"),
    ],
)
def test_what_looks_alike_is_no_sequence(types: tuple[str, ...]) -> None:
    assert not any(one.kind == "run_fusible" for one in facts("".join(map(row, types))))


def test_kernels_of_other_streams_are_no_part_of_a_sequence() -> None:
    text = row("Swish", stream="1") + row("Mul", stream="2")
    assert not any(one.kind == "run_fusible" for one in facts(text))


def test_the_busiest_unit_is_weighed_by_time() -> None:
    text = row("Add", 10, ",,0.9,0.1,0", core="AI_VECTOR_CORE") + row("Add", 90, ",,0.1,0.8,0", core="AI_VECTOR_CORE")
    (one,) = (one for one in facts(text) if one.kind == "run_op")
    assert (one.get("bound"), one.get("bound_share")) == ("mte2", 73.0)


def test_tables_without_ratios_tell_no_unit() -> None:
    (one,) = (one for one in facts(row("Add")) if one.kind == "run_op")
    assert (one.get("bound"), one.get("bound_share")) == ("unknown", 0.0)


@pytest.mark.parametrize(
    ("shapes", "axis"),
    [("4096,1000;1000,4096", 1000), ("4096,1024;1024,4096", 0), ("64,32,16,16;16,16", 0), ("", 0), ("a,b;c", 0)],
)
def test_the_inner_axis_of_plain_matrices(shapes: str, axis: int) -> None:
    (one,) = (one for one in facts(row("MatMulV2", shapes=shapes)) if one.kind == "run_op")
    assert one.get("inner_axis") == axis


def collectives(links: dict[str, object], elapsed: float = 1.0) -> list[Fact]:
    times = {"Elapse Time(ms)": elapsed}
    operator = {"Communication Time Info": times, "Communication Bandwidth Info": links}
    document = json.dumps({"step1": {"collective": {"hcom_allGather__5_0_1@77": operator}}})
    found = communication.read(io.BytesIO(document.encode()), "communication.json", Seen("communication"))
    return [one for one in found if one.kind == "run_collective"]


def test_collectives_with_unaligned_packets_are_named() -> None:
    sizes = {"0.001": [3, 1.0], "0.512": [2, 1.0], "bad": [1], "1": None}
    (one,) = collectives({"HCCS": {"Transit Size(MB)": 1.027, "Transit Time(ms)": 1, "Size Distribution": sizes}})
    assert (one.name, one.get("operator"), one.get("unaligned"), one.get("packets")) == (
        "allGather",
        "hcom_allGather__5_0_1",
        3,
        5,
    )


def test_long_transfers_between_servers_are_named() -> None:
    rdma = {"Transit Size(MB)": 8, "Transit Time(ms)": 4200, "Size Distribution": {"1.024": [8, 4200]}}
    (one,) = collectives({"RDMA": rdma}, 4300)
    assert (one.get("rdma_ms"), one.get("elapsed_ms"), one.get("unaligned")) == (4200.0, 4300.0, 0)
    assert collectives({"RDMA": {**rdma, "Transit Time(ms)": 3}}) == []
