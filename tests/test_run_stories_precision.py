"""From a comparison table, an overflow record or a dump to the operator that began it and the place that mends it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from npulint.commands.check.pipeline import run
from npulint.judge.findings import Finding
from npulint.judge.settings import Settings

COLUMNS = (
    "Index,OpSequence,OpType,NPUDump,DataType,Address,GroundTruth,DataType,Address,TensorIndex,Shape,OverFlow,"
    "CosineSimilarity,MaxAbsoluteError,AccumulatedRelativeError,RelativeEuclideanDistance,KullbackLeiblerDivergence,"
    "StandardDeviation,MeanAbsoluteError,RootMeanSquareError,MaxRelativeError,MeanRelativeError,CompareFailReason"
)
TRAIN = """import tensorflow as tf
from npu_bridge.npu_init import *

with tf.variable_scope("head"):
    total = tf.reduce_sum(tf.square(x), name="total")
loss = tf.reduce_mean(total)
manager = FixedLossScaleManager(loss_scale=2**24)
train_op = NPULossScaleOptimizer(tf.train.AdamOptimizer(1e-3), manager).minimize(loss)
config = tf.ConfigProto()
npu = config.graph_options.rewrite_options.custom_optimizers.add()
npu.name = "NpuOptimizer"
npu.parameter_map["precision_mode"].s = tf.compat.as_bytes("allow_mix_precision")
npu.parameter_map["modify_mixlist"].s = tf.compat.as_bytes("ops_info.json")
with tf.Session(config=npu_config_proto(config_proto=config)) as session:
    session.run(train_op)
"""
RESULT = "precision_data/temp/vector_compare/20240601120000/result_20240601120001.csv"
DUMP = "precision_data/overflow/dump"
RECORD = f"{DUMP}/Opdebug.Node_OpDebug.21.5.1619347786532995"


def row(sequence: int, kind: str, op: str, tensor: str, cosine: str, npu: str = "float16", reference: str = "") -> str:
    return (
        f'{sequence},{sequence},{kind},{op},{npu},NaN,"{reference or op}",float32,NaN,{op}:{tensor},[8],NO,{cosine},'
        "0.1,0.1,0.1,0.1,(0;1),0.1,0.1,0.1,0.1,"
    )


TABLE = "\n".join(
    (
        COLUMNS,
        row(4, "SoftmaxV2", "head/Softmax", "input:0", "0.9999"),
        row(4, "SoftmaxV2", "head/Softmax", "output:0", "0.5"),
        row(3, "RealDiv", "head/truediv", "input:0", "0.91"),
        row(3, "RealDiv", "head/truediv", "output:0", "0.90"),
        row(2, "ReduceSumD", "head/total", "input:0", "0.99998"),
        row(2, "ReduceSumD", "head/total", "output:0", "0.9312"),
        "",
    )
)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, "src/train.py", TRAIN)
    write(tmp_path, "src/ops_info.json", '{"black-list": {"to-add": ["Exp"]}}\n')
    return tmp_path


def write(folder: Path, path: str, text: str | bytes) -> None:
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    (folder / path).write_bytes(text.encode() if isinstance(text, str) else text)


def checked(*paths: str) -> list[Finding]:
    return run(Settings(paths=paths, cache=False, select=("NPU52",))).findings


def record(status: int, task: int = 327) -> str:
    unit = {"model_id": 1, "stream_id": 5, "task_id": task, "task_type": 0}
    units = ("DHA Atomic Add", "L2 Atomic Add", "AI Core")
    return json.dumps({key: {**unit, "status": status if key == "AI Core" else 0} for key in units}, indent=1)


def places(finding: Finding) -> set[tuple[str, int]]:
    return {(finding.path, finding.span.line), *((place.path, place.span.line) for place in finding.related)}


def test_the_first_operator_in_graph_order_leads_to_the_black_list(project: Path) -> None:
    write(project, RESULT, TABLE)
    (one,) = checked("src", "precision_data")
    assert one.code == "NPU5201"
    assert "`head/total` (`output:0`)" in one.message
    assert "0.9312" in one.message
    assert (RESULT, 7) in places(one)  # where the table says so, though others stand above
    assert ("src/train.py", 5) in places(one)  # the call that gives the operator its name
    assert {("src/train.py", 12), ("src/train.py", 13), ("src/ops_info.json", 1)} <= places(one)
    ready = '{"black-list": {"to-add": ["ReduceSumD", "SoftmaxV2"]}}'
    assert f"`{ready}`" in one.fix.text
    assert json.loads(ready)


def test_without_mixed_precision_fusion_comes_first(project: Path) -> None:
    write(project, "src/train.py", TRAIN.replace("allow_mix_precision", "must_keep_origin_dtype"))
    write(project, RESULT, TABLE.replace("float16", "float32"))
    (one,) = checked("src", "precision_data")
    assert one.code == "NPU5203"
    assert "head/total=high_precision" in one.fix.text
    assert '"GraphFusion": {"ALL": "off"' in one.fix.text


def test_a_table_without_types_is_read_by_what_the_program_does(project: Path) -> None:
    write(project, RESULT, TABLE.replace("float16", "float32"))
    (one,) = checked("src", "precision_data")
    assert one.code == "NPU5202"
    assert '["ReduceSumD"]' in one.fix.text


def test_a_fused_operator_leads_to_the_passes_that_had_an_effect(project: Path) -> None:
    write(
        project,
        RESULT,
        f"{COLUMNS}\n{row(1, 'MatMulV2', 'fc/MatMul', 'output:0', '0.8', reference='fc/MatMul,fc/BiasAdd')}\n",
    )
    graph = {
        "graph_fusion": {
            "BiasPass": {"match_times": "2", "effect_times": "2"},
            "Idle": {"match_times": "5", "effect_times": "0"},
        }
    }
    write(project, "precision_data/fusion_result.json", json.dumps({**graph, "session_and_graph_id": "0_1"}, indent=1))
    (one,) = checked("src", "precision_data")
    assert one.code == "NPU5204"
    assert [place.message for place in one.related if place.path.endswith("fusion_result.json")] == ["BiasPass"]


def test_eight_ranks_that_say_the_same_are_one_finding(project: Path) -> None:
    tables = [f"precision_data/rank{rank}/result_20240601120001.csv" for rank in range(8)]
    for path in tables:
        write(project, path, TABLE)
    (one,) = checked("src", "precision_data")
    assert {(path, 7) for path in tables} <= places(one)


def test_an_overflow_in_the_backward_pass_leads_to_the_loss_scale(project: Path) -> None:
    write(project, f"{RECORD}.output.0.json", record(0x100))
    write(project, f"{DUMP}/MatMulV2.gradients_head_MatMul_grad_MatMul.327.5.1619347786532990", b"\0\1")
    (one,) = checked("src", "precision_data")
    assert one.code == "NPU5211"
    assert "`gradients_head_MatMul_grad_MatMul`" in one.message
    assert {("src/train.py", 7), ("src/train.py", 8)} <= places(one)  # the manager and its optimizer


def test_only_the_first_record_is_told(project: Path) -> None:
    late = RECORD.replace("532995", "532999")
    write(project, f"{late}.output.0.json", record(0x20, task=9))
    write(project, f"{RECORD}.output.0.json", record(0x100, task=41))
    (one,) = checked("src", "precision_data")
    assert (one.code, one.path) == ("NPU5212", f"{RECORD}.output.0.json")
    assert "task 41, record 1 of 2" in one.message


def test_a_record_that_was_never_parsed_is_evidence_all_the_same(project: Path) -> None:
    write(project, RECORD, b"\0\1\2")
    (one,) = checked("src", "precision_data")
    assert (one.code, one.path) == ("NPU5217", RECORD)
    assert ("src/train.py", 7) in places(one)
    write(project, f"{RECORD}.output.0.json", record(0))
    assert checked("src", "precision_data") == []


def test_a_dump_of_pytorch_leads_to_the_scaler(project: Path) -> None:
    (project / "src/train.py").unlink()
    (project / "src/ops_info.json").unlink()
    lines = (
        "import torch",
        "import torch_npu",
        "",
        "scaler = torch.npu.amp.GradScaler(init_scale=2.0**24)",
        "for x, y in loader:",
        "    with torch.npu.amp.autocast():",
        "        loss = criterion(model(x.npu()), y.npu())",
        "    scaler.scale(loss).backward()",
        "    scaler.step(optimizer)",
        "    scaler.update()",
        "",
    )
    write(project, "src/train.py", "\n".join(lines))
    tensor = {"type": "torch.Tensor", "dtype": "torch.float16", "shape": [2], "Max": 9.0, "Min": -1.0}
    op = {"input_args": [tensor], "input_kwargs": {}, "output": [{**tensor, "Max": "inf"}]}
    whole = {"task": "statistics", "level": "L1", "framework": "pytorch", "dump_data_dir": None}
    for step in (0, 1):
        text = json.dumps({**whole, "data": {"Tensor.exp.0.forward": op}}, indent=1)
        write(project, f"precision_data/step{step}/rank0/dump.json", text)
    (one,) = checked("src", "precision_data")
    assert one.code == "NPU5209"
    assert {path for path, _ in places(one)} == {
        "src/train.py",
        "precision_data/step0/rank0/dump.json",
        "precision_data/step1/rank0/dump.json",
    }
    assert ("src/train.py", 4) in places(one)


def test_a_call_that_the_table_places_is_shown_in_the_code(project: Path) -> None:
    (project / "src/ops_info.json").unlink()
    write(project, "src/train.py", "import torch\nimport torch_npu\n\ny = torch.softmax(x.npu().half(), -1)\n")
    columns = (
        "NPU Name,Bench Name,NPU Dtype,Bench Dtype,NPU Tensor Shape,Bench Tensor Shape,Cosine,EucDist,MaxAbsErr,"
        "MaxRelativeErr,One Thousandth Err Ratio,Five Thousandths Err Ratio,NPU max,NPU min,NPU mean,NPU l2norm,"
        "Bench max,Bench min,Bench mean,Bench l2norm,Result,Err_message,NPU_Stack_Info"
    )
    frames = (
        '"File /usr/lib/python3.10/site-packages/torch/x.py, line 7, in f,\n'
        'File /home/me/src/train.py, line 4, in <module>"'
    )
    values = "torch.float16,torch.float32,[2],[2],0.9511,0.1,0.1,0.01,0.9,1.0,1.5,-1,0.1,3,1.5,-1,0.1,3,error,"
    name = "Torch.softmax.0.forward.output.0"
    table = "precision_data/compare_result_20240601120000.csv"
    write(project, table, f"{columns}\n{name},{name},{values},{frames}\n")
    (one,) = checked("src", "precision_data")
    assert one.code == "NPU5205"
    assert {("src/train.py", 4), (table, 2)} <= places(one)
