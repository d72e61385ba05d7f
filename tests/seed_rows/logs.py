"""Logs of one run in the formats of usual training scripts, and profiles in the layouts of their tools."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from tests.seed_rows.sources import Files

_BEGIN = datetime(2024, 6, 1, 12, 0, 0)


class Step(NamedTuple):
    """A step that is logged: its number, loss, loss scale, how long it took, and when it ended, both in seconds."""

    number: int
    loss: float
    scale: float
    took: float
    ended: float

    @property
    def time(self) -> datetime:
        """When it ended."""
        return _BEGIN + timedelta(seconds=self.ended)


Format = Callable[[Step], str]


def _words(step: Step) -> str:
    return f"step {step.number}: loss {step.loss:.4f}, loss_scale {step.scale}"


def _stamp(step: Step) -> str:
    return f"{step.time:%Y-%m-%d %H:%M:%S},{step.time.microsecond // 1000:03d}"


FORMATS: dict[str, Format] = {
    "prints": lambda s: f"{_words(s)}, {s.took:.3f} sec/step",
    "prints of times": lambda s: f"{_words(s)} time: {s.took:.3f}s",
    "logging": lambda s: f"{_stamp(s)} - train - INFO - {_words(s)}",
    "tf.logging": lambda s: (
        f"INFO:tensorflow:loss = {s.loss:.4f}, loss_scale = {s.scale}, step = {s.number} ({s.took:.3f} sec)"
    ),
    "glog": lambda s: f"I{s.time:%m%d %H:%M:%S.%f} 139872 train.py:88] {_words(s)}",
    "ModelArts": lambda s: f"[ModelArts Service Log]{_stamp(s)} - INFO - {_words(s)}",
    "nohup with tqdm": lambda s: (
        f"Epoch 0:  {s.number * 100 // 400}%|###       | {s.number}/400 [00:{int(s.ended) % 60:02d}<02:00, "
        f" {s.took:.2f}s/it, loss={s.loss:.4f}, loss_scale={s.scale}]"
    ),
    "dicts": lambda s: (
        f"{{'step': {s.number}, 'loss': {s.loss:.4f}, 'loss_scale': {s.scale}, 'step_time': {s.took:.3f}}}"
    ),
    "tables": lambda s: (
        f"| epoch 0 | {s.number:5d}/  400 batches | ms/batch {s.took * 1000:.2f} | loss {s.loss:.4f} | "
        f"loss_scale {s.scale}"
    ),
    "iterations of Megatron": lambda s: (
        f" iteration {s.number:8d}/     400 | elapsed time per iteration (ms): {s.took * 1000:.1f} | "
        f"lm loss: {s.loss:.6E} | loss scale: {s.scale} | number of skipped iterations:   0 |"
    ),
}


def steps(losses: Sequence[float], scales: Sequence[float], took: Sequence[float]) -> list[Step]:
    """The steps of a run, from 1."""
    ended, found = 0.0, []
    for number, (loss, scale, seconds) in enumerate(zip(losses, scales, took, strict=True), 1):
        ended += seconds
        found.append(Step(number, loss, scale, seconds, ended))
    return found


def log(run: Sequence[Step], style: str) -> str:
    """The log of a run on an NPU."""
    write = FORMATS[style]
    return "".join(f"{line}\n" for line in ("Using NPU device 0", *map(write, run)))


_OLD = "Model Name,Op Name,OP Type,Task Type,Task Duration(us),Block Dim,Input Shapes,Input Data Types"
_NEW = "Device_id,Op Name,OP Type,Task Type,Task Duration(us),Block Dim,Mix Block Dim,Input Shapes,Input Data Types"
_KERNELS = (
    "Step Id,Name,Type,Accelerator Core,Start Time(us),Duration(us),Wait Time(us),Block Dim,Input Shapes,"
    "Input Data Types"
)
LAYOUTS: dict[str, tuple[str, str, str]] = {
    "PROF folder of TensorFlow 1.15": (
        "PROF_000001_20230601120000_ABCD/device_0/summary/op_summary_0_1.csv",
        _OLD,
        "old",
    ),
    "renamed PROF folder": ("profiling/PROF_npu/device_0/summary/op_summary_0_1_1.csv", _OLD, "old"),
    "job folder": ("profiling/JOBAAAAAA/device_0/summary/op_summary_0_1.csv", _OLD, "old"),
    "export below a folder": ("output/device_0/summary/op_summary_0_1.csv", _OLD, "old"),
    "mindstudio_profiler_output": (
        "PROF_000001_20240601120000_ABCD/mindstudio_profiler_output/op_summary_20240601120000.csv",
        _NEW,
        "new",
    ),
    "only the output of mindstudio": ("mindstudio_profiler_output/op_summary_20240601120000.csv", _NEW, "new"),
    "ASCEND_PROFILER_OUTPUT": (
        "result/host_1_20240601_ascend_pt/ASCEND_PROFILER_OUTPUT/kernel_details.csv",
        _KERNELS,
        "kernels",
    ),
    "a table that was copied": ("op_summary.csv", _OLD, "old"),
}


def profile(layout: str, kind: str, cores: int) -> Files:
    """A profile whose ReduceSum has inputs of a type and runs on a number of cores."""
    path, header, form = LAYOUTS[layout]
    rows = [
        ("MatMul_1", "MatMulV2", "AI_CORE", 3000, 24, "256,256"),
        ("Sum_1", "ReduceSumD", "AI_CORE", 1500, cores, "64,128"),
    ]
    lines = []
    for name, operator, core, time, block, shape in rows:
        line = f'{name},{operator},{core},{time},{block},"{shape}",{kind}'
        if form == "old":
            line = f"resnet,{line}"
        elif form == "new":
            line = f'0,{name},{operator},{core},{time},{block},0,"{shape}",{kind}'
        else:
            line = f'1,{name},{operator},{core},10,{time},0,{block},"{shape}",{kind.removeprefix("DT_")}'
        lines.append(line)
    return {path: "\n".join([header, *lines]) + "\n"}
