"""Comparison tables: which operator is the first to look at, in every family of tables."""

from __future__ import annotations

import io
import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npulint.facts.model import Fact
from npulint.runs.read.compared_ops import Curve
from npulint.runs.read.comparison import NoComparisonError, SpreadsheetError, read
from npulint.runs.read.op_names import type_of
from npulint.runs.read.rows import Seen
from tests.fact_support import attrs_of, check_declared

OLD = (
    "Index,LeftOp,RightOp,TensorIndex,CosineSimilarity,MaxAbsoluteError,AccumulatedRelativeError,"
    "RelativeEuclideanDistance,KullbackLeiblerDivergence,StandardDeviation"
)
NEW = (
    "Index,OpSequence,OpType,NPUDump,DataType,Address,GroundTruth,DataType,Address,TensorIndex,Shape,OverFlow,"
    "CosineSimilarity,MaxAbsoluteError,MeanAbsoluteError,RootMeanSquareError,MaxRelativeError,MeanRelativeError,"
    "CompareFailReason"
)
QUICK = NEW.replace("Index,OpSequence", "Index", 1) + ",IsNpuOps,IsOutputNode,IsPrecisionError"
PTDBG = (
    "NPU Name,Bench Name,NPU Tensor Dtype,Bench Tensor Dtype,NPU Tensor Shape,Bench Tensor Shape,Cosine,MaxAbsErr,"
    "NPU max,NPU min,NPU mean,Bench max,Bench min,Bench mean,Accuracy Reached or Not,Err_message"
)
MSPROBE = (
    "NPU Name,Bench Name,NPU Dtype,Bench Dtype,NPU Tensor Shape,Bench Tensor Shape,Cosine,EucDist,MaxAbsErr,"
    "MaxRelativeErr,One Thousandth Err Ratio,Five Thousandths Err Ratio,NPU max,NPU min,NPU mean,NPU l2norm,Bench max,"
    "Bench min,Bench mean,Bench l2norm,Result,Err_message,NPU_Stack_Info"
)
SUMMARY = (
    "NPU Name,Bench Name,NPU Dtype,Bench Dtype,NPU Tensor Shape,Bench Tensor Shape,Max diff,Min diff,Mean diff,"
    "L2norm diff,MaxRelativeErr,MinRelativeErr,MeanRelativeErr,NormRelativeErr,NPU max,NPU min,NPU mean,NPU l2norm,"
    "Bench max,Bench min,Bench mean,Bench l2norm,Result,Err_message"
)
MD5 = "NPU Name,Bench Name,NPU Dtype,Bench Dtype,NPU Tensor Shape,Bench Tensor Shape,NPU MD5,BENCH MD5,Result"


def facts(*lines: str, end: str = "\n", seen: Seen | None = None) -> list[Fact]:
    return read(io.BytesIO((end.join(lines) + end).encode()), "result.csv", seen)


def of(found: list[Fact], what: str) -> list[Fact]:
    return [fact for fact in found if fact.get("what") == what]


def old(index: int, op: str, tensor: str, cosine: str) -> str:
    return f"{index},{op},{op},{op}:{tensor},{cosine},0.1,0.1,0.1,0.1,(1;2)"


def new(
    sequence: int, op: str, tensor: str, cosine: str, overflow: str = "NO", relative: str = "0.01", why: str = ""
) -> str:
    return (
        f"{sequence},{sequence},ReduceSum,{op},DT_FLOAT16,NaN,{op},float32,NaN,{op}:{tensor},[4],{overflow},"
        f"{cosine},0.5,0.1,0.1,{relative},0.01,{why}"
    )


def probe(name: str, cosine: str, **more: str) -> str:
    given: dict[str, str] = {
        "max": "1.5",
        "least": "-1",
        "result": "pass",
        "why": "",
        "shape": '"[2, 3]"',
        "relative": "0.1",
    }
    given |= {"bench": name, "ends": "1.5,-1", "stack": '""'} | more
    cells = [name, given["bench"], "torch.float16", "torch.float32", '"[2, 3]"', given["shape"], cosine, "0.1", "0.2"]
    cells += [given["relative"], "0.9,0.9", given["max"], given["least"], "0,1", given["ends"], "0,1", given["result"]]
    return ",".join([*cells, given["why"], given["stack"]])


def test_the_first_operator_whose_inputs_are_right() -> None:
    found = facts(
        OLD,
        old(1, "a/Conv2D", "input:0", "1.0"),
        old(1, "a/Conv2D", "output:0", "0.999"),
        old(2, "pixel_cls_loss/cond_1/TopKV2", "input:0", "0.99"),
        old(2, "pixel_cls_loss/cond_1/TopKV2", "output:0", "0.999999"),
        old(2, "pixel_cls_loss/cond_1/TopKV2", "output:1", "0.978459"),
        old(3, "gradients/AddN_5", "input:0", "0.978459"),
        old(3, "gradients/AddN_5", "output:0", "0.05469"),
    )
    (first,) = of(found, "deviates")
    assert (first.name, first.span.line) == ("pixel_cls_loss/cond_1/TopKV2", 6)
    assert first.get("type") == "TopKV2"
    assert first.get("tensor") == "output:1"
    assert (first.get("cosine"), first.get("inputs_min_cosine"), first.get("rank")) == (0.978459, 0.99, 1)
    (follower,) = of(found, "inherits")
    assert (follower.name, follower.get("cosine")) == ("gradients/AddN_5", 0.05469)
    table = found[0]
    assert table.kind == "run_comparison"
    assert (table.name, table.get("outputs"), table.get("below")) == ("msaccucmp_5", 4, 2)
    assert table.get("curve") == [0.999, 0.999999, 0.978459, 0.05469]


def test_order_of_execution_wins_over_order_of_rows() -> None:
    found = facts(
        NEW,
        new(9, "late", "output:0", "0.1"),
        new(4, "early", "output:0", "0.9"),
        new(4, "early", "input:0", "1.0"),
        new(9, "late", "input:0", "0.995"),
    )
    assert [(fact.name, fact.get("rank")) for fact in of(found, "deviates")] == [("early", 1), ("late", 2)]
    first = of(found, "deviates")[0]
    assert (first.get("npu_dtype"), first.get("reference_dtype")) == ("float16", "float32")
    assert (first.get("type"), first.get("fused")) == ("ReduceSum", "no")


def test_only_the_first_ten_are_kept_and_all_are_counted() -> None:
    found = facts(NEW, *(new(i, f"op{i}", "output:0", "0.5") for i in range(30, 0, -1)))
    assert [fact.name for fact in of(found, "deviates")] == [f"op{i}" for i in range(1, 11)]
    assert {fact.get("total") for fact in of(found, "deviates")} == {30}


def test_overflow_failure_nan_and_rounding() -> None:
    found = facts(
        NEW,
        new(1, "over", "output:0", "0.9999", overflow="YES"),
        new(2, "failed", "output:0", "NaN", why="The shape does not match."),
        new(3, "broken", "output:0", "NaN"),
        new(4, "zeros", "output:0", "NaN", why="Cannot compare by Cosine Similarity. All the data is zero in a.npy."),
        new(5, "near", "output:0", "0.9999", relative="123.5"),
        new(6, "other", "output:0", "NaN", why="Some reason."),
    )
    assert [fact.name for fact in of(found, "overflow")] == ["over"]
    assert [(f.name, f.get("not_comparable")) for f in of(found, "not_comparable")] == [
        ("failed", "shape"),
        ("other", "failed"),
    ]
    assert [(f.name, f.get("zero"), f.get("cosine")) for f in of(found, "not_a_number")] == [
        ("broken", "no", "nan"),
        ("zeros", "yes", "nan"),
    ]
    assert [(f.name, f.get("max_relative")) for f in of(found, "rounding")] == [("near", 123.5)]


def test_msquickcmp_says_itself_what_is_wrong() -> None:
    row = new(1, "a", "output:0", "0.985").split(",", 1)[1]
    found = facts(QUICK, f"{row},YES,NO,YES")
    assert found[0].name == "msquickcmp"
    assert [fact.get("verdict") for fact in of(found, "verdict")] == ["fail"]
    assert of(found, "deviates") == []


def test_ptdbg() -> None:
    types = 'torch.float32,torch.float32,"[3, 3]","[3, 3]"'
    tail = "1.5,-1,0,1.5,-1,0"
    found = facts(
        PTDBG,
        f"Torch_relu_0_forward_input.0,Torch_relu_0_forward_input.0,{types},1.0,0,{tail},Yes,",
        f"Torch_relu_0_forward_output,Torch_relu_0_forward_output,{types},0.5,2,{tail},No,",
        f",Torch_mul_1_forward_output,{types},1,0,{tail},,",
        end="\r\n",
    )
    (first,) = of(found, "deviates")
    assert (first.name, first.get("type"), first.span.line) == ("Torch_relu_0_forward", "relu", 3)
    assert first.get("inputs_min_cosine") == 1.0
    assert [fact.get("verdict") for fact in of(found, "verdict")] == ["fail"]


def test_msprobe_tensors() -> None:
    library = "File /usr/lib/python3/site-packages/torch/f.py, line 9, in f, \n x\n"
    stack = f'"{library}File /home/me/net.py, line 42, in forward, \n y\n"'
    found = facts(
        MSPROBE,
        probe("Functional.linear.0.forward.input.0", "1.0", stack=stack),
        probe("Functional.linear.0.forward.output.0", "0.97", result="error", stack=stack),
        probe("Module.net.output.Linear.forward.0.output.0", "0.999", max="65504.0"),
        probe("Functional.mask.1.forward.output.0", "1.0", least="-65504.0", ends="0,-65504.0"),
        probe("Functional.exp.0.forward.output.0", "nan", max="inf"),
        probe("Functional.cat.0.forward.output.0", "shape unmatched", shape='"[2, 4]"'),
        probe("Functional.size.0.forward.output.0", "unsupported"),
        probe("Functional.extra.0.forward.output.0", "N/A", bench="N/A"),
    )
    first = of(found, "deviates")[0]
    assert (first.name, first.get("type")) == ("Functional.linear.0.forward", "linear")
    assert (first.get("file"), first.get("source_line")) == ("/home/me/net.py", 42)
    assert first.span.line == 7  # a stack stands in several lines
    assert of(found, "verdict")[0].get("verdict") == "error"
    assert [(f.get("type"), f.get("reference_saturated")) for f in of(found, "saturated")] == [
        ("Linear", "no"),
        ("mask", "yes"),
    ]
    assert [f.get("type") for f in of(found, "not_a_number")] == ["exp"]
    assert [f.get("not_comparable") for f in of(found, "not_comparable")] == ["shape"]


def test_msprobe_statistics_and_sums() -> None:
    name = "Functional.relu.0.forward.output.0"
    ends = "1,0,0,1,1,0,0,1"
    found = facts(SUMMARY, f"{name},{name},float16,float32,[2],[2],5,1,1,1,90%,1%,1%,1%,{ends},warning,")
    assert [f.get("verdict") for f in of(found, "verdict")] == ["warning"]
    found = facts(
        MD5, f"{name},{name},float16,float16,[2],[2],aaaa,aaab,Different", "b.0.forward.output.0,b,,,,,a,a,Pass"
    )
    assert [f.name for f in of(found, "verdict")] == ["Functional.relu.0.forward"]


def typed(sequence: int, kind: str, npu: str, reference: str) -> str:
    return (
        new(sequence, f"n{sequence}", "output:0", "0.5")
        .replace(f"ReduceSum,n{sequence},DT_FLOAT16", f"{kind},n{sequence},{npu}")
        .replace(",float32,", f",{reference},")
    )


def test_lowered_operators_make_one_list() -> None:
    found = of(
        facts(
            NEW,
            typed(1, "ReduceSumD", "DT_FLOAT16", "float32"),
            typed(2, "Cast", "float16", "float32"),
            typed(3, "Exp", "DT_BF16", "DT_FLOAT"),
            typed(4, "MatMulV2", "float16", "float16"),
            typed(5, "ReduceSumD", "float16", "float64"),
            typed(6, '"=x(1)"', "float16", "float32"),
        ),
        "deviates",
    )
    assert [fact.get("lowered") for fact in found] == ["yes", "yes", "yes", "no", "yes", "yes"]
    types = [json.loads(fact.get("mixlist"))["black-list"]["to-add"] for fact in found]
    both, none = ["ReduceSumD", "Exp"], ["<OpType>"]
    assert types == [both, none, both, ["MatMulV2"], both, none]


def test_a_healthy_table_has_nothing_to_look_at() -> None:
    rows = [new(i, f"op{i}", tensor, "0.9999") for i in range(300) for tensor in ("input:0", "output:0")]
    (table,) = facts(NEW, *rows)
    assert (table.get("outputs"), table.get("below"), table.get("lowest")) == (300, 0, 0.9999)
    assert len(table.get("curve")) <= Curve.POINTS


def test_broken_rows_are_counted() -> None:
    seen = Seen("comparison")
    found = facts(OLD, old(1, "a", "output:0", "0.5"), "2,b", "", old(3, "c", "output:0", "0.4"), "x" * 9, seen=seen)
    assert (seen.rows, seen.malformed, seen.first_malformed) == (2, 2, 3)
    assert [fact.span.line for fact in of(found, "deviates")] == [2, 5]


def test_other_encodings() -> None:
    text = f"{OLD}\n{old(1, '卷积', 'output:0', '0.5')}\n"
    for data in (b"\xef\xbb\xbf" + text.encode(), text.encode("gb18030"), text.replace("0.5", "0.5\0").encode()):
        assert [fact.name for fact in of(read(io.BytesIO(data), "r.csv"), "deviates")] == ["卷积"]


def test_what_is_no_table_of_commas_is_refused() -> None:
    with pytest.raises(SpreadsheetError):
        read(io.BytesIO(b"PK\x03\x04\x14\x00rest"), "compare_result.xlsx")
    with pytest.raises(SpreadsheetError):
        read(io.BytesIO(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"), "compare_result.xls")
    with pytest.raises(NoComparisonError):
        facts("OP Type,Core Type,Count", "a,b,1")
    with pytest.raises(NoComparisonError):
        read(io.BytesIO(b""), "r.csv")


@given(st.lists(st.tuples(st.integers(0, 50), st.sampled_from(["0.1", "0.979", "0.98", "1.0", "nan"])), max_size=60))
def test_ranks_follow_the_sequence(ops: list[tuple[int, str]]) -> None:
    rows = [new(sequence, f"n{i}", "output:0", cosine) for i, (sequence, cosine) in enumerate(ops)]
    found = facts(NEW, *rows)
    low = sorted((sequence, i) for i, (sequence, cosine) in enumerate(ops) if float(cosine) < 0.98)
    assert [fact.name for fact in of(found, "deviates")] == [f"n{i}" for _, i in low[:10]]
    assert found[0].get("deviates") == len(low)
    assert found[0].get("not_a_number") == sum(cosine == "nan" for _, cosine in ops)


@given(st.sampled_from([OLD, NEW, QUICK, PTDBG, MSPROBE, SUMMARY, MD5]), st.binary(max_size=300))
def test_no_content_breaks_the_reader(header: str, rest: bytes) -> None:
    found = read(io.BytesIO(header.encode() + b"\n" + rest), "r.csv")
    check_declared(found)
    numbers = [value for fact in found for value in attrs_of(fact).values() if isinstance(value, float)]
    assert all(map(math.isfinite, numbers))


@given(st.lists(st.floats(0, 1), max_size=2000))
def test_the_curve_keeps_the_lowest(values: list[float]) -> None:
    curve = Curve()
    for value in values:
        curve.add(value)
    points = curve.points()
    assert len(points) <= Curve.POINTS
    assert min(points, default=1) == round(min(values, default=1), 6)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("Functional.conv2d.0.forward", "conv2d"),
        ("Module.conv1.Conv2d.forward.0", "Conv2d"),
        ("Tensor.__add__.12.backward", "__add__"),
        ("Torch_relu_0_forward", "relu"),
        ("gradients/AddN_5", "AddN"),
        ("model/dense/kernel", "-"),
    ],
)
def test_a_name_tells_the_type(name: str, kind: str) -> None:
    assert type_of(name) == kind
