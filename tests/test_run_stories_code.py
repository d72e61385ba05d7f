"""From what a run left behind to the one place in a project of several scripts that it is about."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from npulint.commands.check.pipeline import run
from npulint.judge.findings import Finding
from npulint.judge.settings import Settings

HEADINGS = (
    "Name,Input Shapes,Call Stack,Host Self Duration(us),Host Total Duration(us),Device Self Duration(us),"
    "Device Total Duration(us),Device Self Duration With AICore(us),Device Total Duration With AICore(us)\n"
)
STEPS = (
    "Step,Computing,Communication(Not Overlapped),Overlapped,Communication,Free,Stage,Bubble,"
    "Communication(Not Overlapped and Exclude Receive)\n50,9424,0,0,0,14000,23424,0,0\n"
)
MODEL = """import tensorflow as tf


def losses(x):
    with tf.name_scope("head"):
        y = tf.nn.relu(x, name="act")
    order = tf.sort(y, direction="DESCENDING")
    return tf.reduce_sum(order)
"""
CONFIG = (
    "from easydict import EasyDict\n\ncfg = EasyDict()\ncfg.TRAIN = EasyDict()\ncfg.TRAIN.SAVE_SUMMARY_STEPS = 200\n"
)
TRAIN = """import argparse

import tensorflow as tf
from npu_bridge.npu_init import *

from config import cfg
from model import losses

parser = argparse.ArgumentParser()
parser.add_argument("--save_every", type=int, default=500)
args = parser.parse_args()


def main():
    x = tf.placeholder(tf.float32, [16, 640])
    with tf.name_scope("model"):
        loss = losses(x)
        grads = tf.train.AdamOptimizer(1e-3).compute_gradients(loss)
        train_op = tf.train.AdamOptimizer(1e-3).apply_gradients(grads)
    with tf.Session(config=npu_config_proto()) as sess:
        for step in range(100000):
            sess.run(train_op)
            if step % cfg.TRAIN.SAVE_SUMMARY_STEPS == 0:
                print(step)
            if step % args.save_every == 0:
                print("saved")


if __name__ == "__main__":
    main()
"""
PREPARE = """import json


def main(videos):
    for count, video in enumerate(videos):
        if count % 200 == 0:
            print(count, 1 / count)


if __name__ == "__main__":
    main(json.load(open("videos.json")))
"""
EVALUATE = """import tensorflow as tf

with tf.name_scope("head"):
    shown = tf.nn.top_k(tf.placeholder(tf.float32, [8]), 3)
for step in range(1000):
    if step % 200 == 0:
        print(step)
with tf.Session() as sess:
    while True:
        sess.run(tf.assign(rate, 1 / step))


if __name__ == "__main__":
    main()
"""
PROJECT = {
    "model.py": MODEL,
    "config.py": CONFIG,
    "train.py": TRAIN,
    "prepare.py": PREPARE,
    "eval/evaluate.py": EVALUATE,
}
TORCH = """import torch
import torch_npu


def train(loader, model, criterion, optimizer):
    for images, labels in loader:
        loss = criterion(model(images.npu()), labels.npu())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total = loss.item()


def main():
    model = Net().npu()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    loader = torch.utils.data.DataLoader(train_set, 8)
    train(loader, model, torch.nn.CrossEntropyLoss(), optimizer)


if __name__ == "__main__":
    main()
"""
NPU = "I geop_npu.cc:694] The model has been compiled on the Ascend AI processor, current graph id is: 1\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NPULINT_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path


def checked(folder: Path, files: Mapping[str, str]) -> list[Finding]:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    return run(Settings(paths=tuple(files), cache=False)).findings


def only(findings: list[Finding], code: str) -> Finding:
    (one,) = [one for one in findings if one.code == code]
    return one


def places(one: Finding) -> set[tuple[str, int]]:
    return {(place.path, place.span.line) for place in one.related}


def stalls(every: int, first: int = 10) -> str:
    lines = (
        f"step {n}: loss {3 / (n + 1):.4f}, {9.3 if n % every == 0 else 0.5} seconds/step\n"
        for n in range(first, 6000, 10)
    )
    return NPU + "".join(lines)


def table(*rows: str) -> str:
    return (
        "Op Name,OP Type,Task Type,Task Duration(us),Block Dim,Input Shapes,Input Data Types\n" + "\n".join(rows) + "\n"
    )


def test_a_stall_leads_to_the_interval_that_the_configuration_gives_the_training_script(folder: Path) -> None:
    one = only(checked(folder, {**PROJECT, "train.log": stalls(200)}), "NPU5361")
    assert places(one) == {("train.py", 23)}, "what other scripts do as often is not meant"


def test_a_stall_leads_to_the_interval_of_an_option(folder: Path) -> None:
    assert places(only(checked(folder, {**PROJECT, "train.log": stalls(500)}), "NPU5361")) == {("train.py", 25)}


def test_an_estimator_tells_its_rate_before_the_step(folder: Path) -> None:
    code = "import tensorflow as tf\nfrom npu_bridge.npu_init import *\n\n"
    code += 'config = NPURunConfig(model_dir="out", save_summary_steps=1000)\n'
    code += "estimator = NPUEstimator(model_fn=model_fn, config=config)\nestimator.train(input_fn=input_fn)\n"
    log = NPU
    for step in range(0, 6000, 100):
        rate = 0.21 if step % 1000 == 0 else 11.3
        log += f"INFO:tensorflow:global_step/sec: {rate}\nINFO:tensorflow:loss = {2 / (step + 9):.6f}, step = {step}\n"
    one = only(checked(folder, {"train.py": code, "train.log": log}), "NPU5361")
    assert "Every 1,000 steps" in one.message
    assert ("train.py", 4) in places(one)


def test_lines_between_two_steps_are_steps_themselves(folder: Path) -> None:
    log = NPU
    for n in range(900):
        log += f"{8.1 if n % 90 == 0 else 0.5} seconds/batch\n" + (f"step {n}: done\n" if n % 30 == 0 else "")
    assert "Every 90 steps" in only(checked(folder, {"train.log": log}), "NPU5361").message


def test_a_scope_around_the_whole_step_tells_nothing_of_an_operator(folder: Path) -> None:
    rows = (
        'model/TopKV2,TopKV2,AI_CPU,9000,1,"16,640",DT_FLOAT',
        'model/head/act,Relu,AI_CORE,9000,1,"16,640",DT_FLOAT16',
    )
    found = checked(folder, {**PROJECT, "PROF/op_summary_1.csv": table(*rows)})
    assert places(only(found, "NPU5304")) == {("model.py", 7)}, "tf.sort is made of TopKV2"
    assert places(only(found, "NPU5302")) == {("model.py", 6)}


def test_graphs_of_a_training_are_not_built_by_another_script(folder: Path) -> None:
    log = "".join(
        f"2024-01-01 10:{n:02d}:00.1: {NPU.replace(': 1', f': {1 + 10 * n}')}step {n}: loss 1.{n}\n" for n in range(30)
    )
    found = checked(folder, {**PROJECT, "train.log": log})
    assert only(found, "NPU5360").path == "train.log"
    assert all(place.path != "train.log" for one in found if one.code == "NPU1317" for place in one.related)


def test_a_table_of_operators_with_stacks_tells_where_the_host_waits(folder: Path) -> None:
    frames = ("/usr/lib/python3.9/site-packages/torch/x.py(4): item", "/home/me/code/main.py(11): train")
    stack = ";\r\n".join((*frames, "/home/me/code/main.py(18): main"))
    rows = f'aten::item,,"{stack}",20,9720,0,0,0,0\naten::_local_scalar_dense,,"{stack}",9700,9700,0,0,0,0\n'
    files = {"code/main.py": TORCH, "code/other.py": TORCH}
    profile = {"prof/operator_details.csv": HEADINGS + rows, "prof/step_trace_time.csv": STEPS}
    one = only([one for one in checked(folder, {**files, **profile}) if one.path == "code/main.py"], "NPU2374")
    assert (one.span.line, one.severity) == (11, "warning")
    assert "41.5 %" in one.message or "41.5 %" in str(one.related)
    assert ("prof/operator_details.csv", 5) in places(one)


def test_a_trace_beside_it_tells_it_alone(folder: Path) -> None:
    stack = "code/main.py(11): train"
    rows = f'aten::_local_scalar_dense,,"{stack}",9700,9700,0,0,0,0\n'
    trace = """[
{"ph": "M", "pid": 9, "tid": 0, "name": "process_name", "args": {"name": "Overlap Analysis"}},
{"ph": "X", "pid": 9, "tid": 0, "name": "Computing", "ts": "1000.000", "dur": 9000, "args": {}},
{"ph": "X", "pid": 9, "tid": 1, "name": "Free", "ts": "10000.000", "dur": 14000, "args": {}},
{"ph": "X", "pid": 1, "tid": 7, "name": "ProfilerStep#10", "cat": "cpu_op", "ts": "1000.000", "dur": 100, "args": {}},
{"ph": "X", "pid": 1, "tid": 7, "name": "aten::item", "cat": "cpu_op", "ts": "2000.000", "dur": 8000,
 "args": {"Call stack": "code/main.py(11): train;\\r\\ncode/main.py(18): main"}},
{"ph": "X", "pid": 2, "tid": 7, "name": "AscendCL@aclrtSynchronizeStreamWithTimeout", "ts": "2100.000", "dur": 7800,
 "args": {"Thread Id": 7}}
]
"""
    files = {"code/main.py": TORCH, "prof/operator_details.csv": HEADINGS + rows, "prof/step_trace_time.csv": STEPS}
    one = only(checked(folder, {**files, "prof/trace_view.json": trace}), "NPU2374")
    assert {path for path, _ in places(one) if path.startswith("prof/")} == {"prof/trace_view.json"}


def test_the_loader_of_the_script_that_the_profile_names(folder: Path) -> None:
    library = "/usr/lib/python3.9/site-packages/torch/utils/data/dataloader.py"
    stack = f"{library}(626): __next__;\r\n/data/code/main.py(6): train"
    row = f'enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__,,"{stack}",15000,16000,0,0,0,0\n'
    files = {"code/main.py": TORCH, "code/other.py": TORCH}
    profile = {"prof/operator_details.csv": HEADINGS + row, "prof/step_trace_time.csv": STEPS}
    one = only(checked(folder, {**files, **profile}), "NPU5339")
    assert (one.path, one.span.line) == ("code/main.py", 6)
    assert places(one) == {("prof/operator_details.csv", 2), ("code/main.py", 17)}


def test_small_kernels_are_those_of_the_optimizer_that_ran(folder: Path) -> None:
    rows = [f"1,aclnnMul_{n},Mul,AI_VECTOR_CORE,{n},2.5,9,8,FLOAT" for n in range(250)]
    kernels = (
        "Step Id,Name,Type,Accelerator Core,Start Time(us),Duration(us),Wait Time(us),Block Dim,Input Data Types\n"
    )
    stack = '"/data/code/main.py(7): train"'
    profile = {
        "prof/kernel_details.csv": kernels + "\n".join(rows) + "\n",
        "prof/operator_details.csv": f"{HEADINGS}aten::mm,,{stack},10,10,900,900,900,900\n",
    }
    fused = TORCH.replace("torch.optim.SGD", "torch_npu.optim.NpuFusedSGD")
    found = checked(folder, {"code/main.py": TORCH, "code/other.py": fused, **profile})
    one = only([one for one in found if one.code in ("NPU2316", "NPU5321")], "NPU2316")
    assert (one.path, one.span.line, one.severity) == ("code/main.py", 16, "warning")
    found = checked(folder, {"code/main.py": fused, "code/other.py": TORCH, **profile})
    assert [one for one in found if one.code == "NPU5321" or (one.code == "NPU2316" and one.severity != "note")] == []


def test_a_message_of_an_operator_leads_to_the_scope_of_its_node(folder: Path) -> None:
    text = "EZ3003: No supported Ops kernel and engine are found for [model/head/act], optype [Relu]."
    one = only(checked(folder, {**PROJECT, "train.log": f"{NPU}{text}\n"}), "NPU5109")
    assert places(one) == {("model.py", 6)}


def test_float32_matrices_without_mixed_precision_are_no_mere_note(folder: Path) -> None:
    rows = [f'model/head/MatMul_{n},MatMulV2,AI_CORE,900,24,"16,640;640,640",DT_FLOAT;DT_FLOAT' for n in range(9)]
    (one,) = [
        one
        for one in checked(folder, {**PROJECT, "PROF/op_summary_1.csv": table(*rows)})
        if one.code in ("NPU1340", "NPU1341", "NPU5316")
    ]
    assert (one.code, one.path, one.severity) == ("NPU1341", "train.py", "warning")


def test_a_hook_that_prints_the_scale_of_every_step_tells_one_series(folder: Path) -> None:
    log, scale = NPU, 2.0**32
    for n in range(300):
        if n > 60 and n % 2 and scale > 1:
            scale = max(1.0, scale * 0.5)
            log += f"Find overflow in this step, skip apply gradients, loss scale value={scale:.0f}\n"
        else:
            log += f"Apply gradients, loss scale value={scale:.0f}\n"
    one = only(checked(folder, {"train.log": log}), "NPU5230")
    assert "from 4,294,967,296 to 1" in one.message
    assert one.related == ()


def test_python_tells_of_a_table_in_its_own_words(folder: Path) -> None:
    log = f"{NPU}tensorflow.python.framework.errors_impl.FailedPreconditionError: Table not initialized.\n"
    assert only(checked(folder, {"train.log": log}), "NPU5102").severity == "error"
