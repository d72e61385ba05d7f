"""A training run as input for reports."""

from __future__ import annotations

from npulint.judge.findings import RunResult, Summary
from npulint.judge.summaries.run_summary import RunCurve, RunFile, RunGraph, RunPart, RunStall, RunSummary, RunTimes

SIMILARITY = RunCurve("cmp.csv", 1, "similarity", "msprobe", 4, (1.0, 0.999, 0.9, None), 1.0, None, 0.9, 1.0, 1)
SCALE = RunCurve("train.log", 7, "loss_scale", "0", 5, (65536.0, 32768.0, 1.0), 65536.0, 1.0, 1.0, None)
LOSS = RunCurve("train.log", 2, "loss", "total loss", 900, tuple([9.0, 1.0, 1.0, 9.0] * 30), 9.0, 1.5, 1.0, 9.0, 2)
RUN = RunSummary(
    files=(
        RunFile("PROF/kernel_details.csv", "kernel_table", 2024, 191, 1, 7),
        RunFile("PROF/l2_cache.csv", "l2_cache", 2024, 10, note="unread"),
        RunFile("train.log", "log", "console", 900),
        RunFile("gpu.log", "log", "console", 12, note="no-npu"),
    ),
    times=(
        RunTimes(
            "PROF/kernel_details.csv",
            2,
            "operators",
            4000.0,
            30,
            (RunPart("MatMulV2", 2000.0, 50.0, 10), RunPart("TransData", 1000.0, 25.0, 5)),
            3,
            1000.0,
            25.0,
        ),
        RunTimes(
            "PROF/step_trace_time.csv",
            2,
            "step",
            10_000.0,
            4,
            (RunPart("computing", 4000.0, 40.0), RunPart("exposed", 5000.0, 50.0), RunPart("free", 1000.0, 10.0)),
        ),
    ),
    curves=(LOSS, SCALE, SIMILARITY),
    stalls=(RunStall("train.log", 50, "sec", 50, 0, 25, 16.0, 47.5, 10.5),),
    graphs=(RunGraph("train.log", 9, "GeOp21_0", 764, 11_595.5, 9.51, 16.6),),
)
RESULT = RunResult(runs=[RUN], summary=Summary(files=4, read=4))
