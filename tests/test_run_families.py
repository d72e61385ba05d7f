"""Families of operator types, and which of two tables of a run tells them."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from npulint.commands.check.pipeline import facts_of, run
from npulint.facts.model import Fact, Span
from npulint.judge.catalogue.vocabulary import fact_kinds
from npulint.judge.settings import Settings
from npulint.runs.facts.run_program import with_cores, with_covered
from npulint.runs.read import read_artifact
from npulint.runs.read.environment import ProfiledDevice
from npulint.runs.read.families import Families, family_of
from npulint.runs.read.kernel_groups import Groups
from npulint.runs.read.rows import Row

FORM = "Step Id,Name,Type,Accelerator Core,Duration(us),Block Dim,HF32 Eligible,Input Shapes,Input Data Types"
KERNELS = f"""{FORM}
1,trans_TransData_1,TransData,AI_VECTOR_CORE,170,32,NO,"32,3,224,224",FLOAT
1,aclnnMm_1,MatMulV2,AI_CORE,600,20,YES,"64,128",FLOAT
1,aclnnMm_2,MatMulV2,AI_CORE,200,20,NO,"64,128",FLOAT
1,aclnnMm_3,MatMulV3,AI_CORE,200,20,NO,"64,128",BF16
1,DropOut,DropoutGenMask,AI_CPU,30,1,NO,"",INT64
"""
TOTALS = """OP Type,Core Type,Count,Total Time(us),Min Time(us),Avg Time(us),Max Time(us),Ratio(%)
MatMulV2,AI_CORE,2,800,200,400,600,66.6
TransData,AI_VECTOR_CORE,1,170,170,170,170,14.1
hcom_allReduce_,COMMUNICATION,1,9000,9000,9000,9000,0
"""


@pytest.mark.parametrize(
    ("type_", "family"),
    [
        ("TransData", "layout"),
        ("TransposeD", "layout"),
        ("Transpose", "layout"),
        ("Conv2DBackpropInput", "matrix"),
        ("BatchMatMulV2", "matrix"),
        ("ForeachAddList", "foreach"),
        ("Cast", "cast"),
        ("ReduceSumD", "sum"),
        ("ReduceMeanD", "arithmetic"),
        ("ResizeBilinearV2Grad", "resize"),
        ("ResizeNearestNeighborV2", "resize"),
        ("SyncResizeBilinearV2", "resize"),
        ("UpsampleNearest2d", "resize"),
        ("RandomUniform", "random"),
        ("DropoutGenMask", "random"),
        ("DropOutDoMask", "other"),
        ("DropOutDoMaskV3", "other"),
        ("StackPush", "stack"),
        ("Stack", "stack"),
        ("StackedThing", "other"),
        ("TensorArrayWrite", "stack"),
        ("EagerPyFunc", "python"),
        ("ExtractImagePatches", "patches"),
        ("IteratorGetNext", "input"),
        ("AddN", "arithmetic"),
        ("LayerNormV3", "other"),
        ("", "other"),
    ],
)
def test_types_belong_to_families(type_: str, family: str) -> None:
    assert family_of(type_) == family


def test_every_family_can_be_asked_for() -> None:
    allowed = fact_kinds()["run_op"].attributes["family"]
    assert {family_of(one) for one in ("Cast", "Relu", "GetNext", "PyFunc", "StackPop", "Add", "Conv2D")} < allowed


def test_a_family_adds_its_types_up() -> None:
    families = Families()
    families.add("Transpose", "AI_VECTOR_CORE", 4, 3, 30.0, 12.0, 9, "t")
    families.add("TransData", "AI_CPU", 2, 5, 70.0, 40.0, 7, "d")
    families.add("LayerNorm", "AI_VECTOR_CORE", 1, 5, 900.0, 900.0, 8, "n")
    (one,) = families.facts("k.csv", "kernel_table", 1000.0, (80.0, 75.0))
    assert (one.name, one.span.line, one.get("types")) == ("layout", 7, "Transpose 3 ×, TransData 5 ×")
    wanted = {"total_us": 100.0, "share": 10.0, "rank": 2, "max_us": 40.0, "node": "d", "aicpu_us": 70.0}
    assert {key: one.get(key) for key in wanted} == wanted
    assert one.get("float_share") is None  # of matrices alone


def test_a_kernel_table_tells_its_families(tmp_path: Path) -> None:
    path = tmp_path / "kernel_details.csv"
    path.write_text(KERNELS, encoding="utf-8")
    found = {fact.name: fact for fact in facts_of(str(path)) if fact.kind == "run_family"}
    assert {name: (fact.span.line, fact.get("share")) for name, fact in found.items()} == {
        "layout": (2, 14.2),
        "matrix": (3, 83.3),
        "random": (6, 2.5),
    }
    assert (found["matrix"].get("float_share"), found["matrix"].get("hf32_share")) == (80.0, 75.0)
    assert found["random"].get("aicpu_us") == 30.0
    assert found["layout"].get("float_share") is None


def family(path: str) -> Fact:
    families = Families()
    families.add("Transpose", "AI_VECTOR_CORE", 1, 1, 1.0, 1.0, 2, "t")
    (one,) = families.facts(path, "kernel_table" if "kernel" in path else "op_statistic", 1.0)
    return one


def kernels(path: str, operator: str = "Add") -> Fact:
    table = f"Name,Type,Accelerator Core,Start Time(us),Duration(us),Wait Time(us)\nadd,{operator},AI_CORE,1,2,0\n"
    facts = read_artifact("", path.replace("\\", "/"), table.encode())
    assert isinstance(facts, list)
    (one,) = [fact for fact in facts if fact.kind == "run_kernels"]
    return msgspec.structs.replace(one, path=path)


def covered(*facts: Fact) -> list[str]:
    return [fact.get("covered") for fact in with_covered(facts) if fact.kind == "run_family"]


def test_totals_beside_a_kernel_table_are_covered() -> None:
    assert covered(family("a/op_statistic.csv"), kernels("a/kernel_details.csv")) == ["yes"]
    assert covered(kernels("a/kernel_details.csv"), family("a/kernel_details.csv")) == ["no"]
    assert covered(family("b/op_statistic.csv"), kernels("a/kernel_details.csv")) == ["no"]
    assert covered(family("a\\op_statistic.csv"), kernels("a\\kernel_details.csv")) == ["yes"]


def test_a_table_without_operators_covers_nothing() -> None:
    assert covered(family("a/op_statistic.csv"), kernels("a/kernel_details.csv", "N/A")) == ["no"]


@pytest.mark.parametrize(
    ("tables", "place"),
    [
        ({"op_statistic.csv": TOTALS}, ("op_statistic.csv", 3)),
        ({"kernel_details.csv": KERNELS}, ("kernel_details.csv", 2)),
        ({"kernel_details.csv": KERNELS, "op_statistic.csv": TOTALS}, ("kernel_details.csv", 2)),
    ],
)
def test_two_tables_of_one_run_say_it_once(
    tables: dict[str, str], place: tuple[str, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in tables.items():
        (tmp_path / "ASCEND_PROFILER_OUTPUT").mkdir(exist_ok=True)
        (tmp_path / "ASCEND_PROFILER_OUTPUT" / name).write_text(text, encoding="utf-8")
    (one,) = run(Settings(paths=(".",), cache=False, select=("NPU5308",))).findings
    assert (one.path.rpartition("/")[2], one.span.line, one.places) == (*place, 1)
    assert "14." in one.message or "17." in one.message


def test_of_several_kernels_the_one_of_most_time_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [("Tile", 150), ("Cumsum", 900), ("IndexPutV2", 300)]
    lines = [f"{name}_1,{name},AI_CORE,{us},1,NO,,DT_FLOAT" for name, us in rows]
    header = "Op Name,OP Type,Task Type,Task Duration(us),Block Dim,HF32 Eligible,Input Shapes,Input Data Types"
    (tmp_path / "op_summary_0_1.csv").write_text("\n".join([header, *lines, ""]), encoding="utf-8")
    (one,) = run(Settings(paths=("op_summary_0_1.csv",), cache=False, select=("NPU5302",))).findings
    assert (one.span.line, one.places) == (3, 3)
    assert "900 µs each" in one.message


def kernel(core: str, block: int) -> Fact:
    groups = Groups()
    groups.group("Mul", core, "FLOAT", False).add(2, Row({}, {"block": float(block)}), 1.0)
    return groups.facts("k.csv", 1.0, (0.0, 0.0))[0]


def device(cores: float | None, vector_cores: float | None) -> Fact:
    return ProfiledDevice("0", "info.json.0", Span(), cores, vector_cores)


@pytest.mark.parametrize(
    ("core", "block", "cores", "idle"),
    [
        ("AI_CORE", 18, 24, 25.0),
        ("MIX_AIC", 25, 24, 47.9),
        ("AI_VECTOR_CORE", 36, 48, 25.0),
        ("MIX_AIV", 48, 48, 0.0),
        ("AI_CPU", 1, 0, 0.0),
        ("DSA_SQE", 1, 0, 0.0),
    ],
)
def test_the_device_tells_how_many_cores_there_are(core: str, block: int, cores: int, idle: float) -> None:
    (one, _) = with_cores([kernel(core, block), device(24, 48)])
    assert (one.get("cores"), one.get("idle")) == (cores, idle)


def test_what_devices_do_not_tell_stays_open() -> None:
    assert with_cores([kernel("AI_VECTOR_CORE", 7), device(8, 0)])[0].get("cores") == 0
    assert with_cores([kernel("AI_CORE", 7), device(None, None)])[0].get("cores") == 0
    assert with_cores([kernel("AI_CORE", 7), device(8, 0), device(24, 48)])[0].get("cores") == 0
    assert with_cores([kernel("AI_CORE", 7), device(8, 0), device(8, 0)])[0].get("cores") == 8
