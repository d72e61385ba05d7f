"""A recorded step that tests of reports share."""

from __future__ import annotations

from npulint.facts.model import Span
from npulint.judge.findings import RunResult
from npulint.judge.summaries.step_summary import (
    StepDifference,
    StepFinding,
    StepMemory,
    StepOperator,
    StepPicture,
    StepShape,
    StepStretch,
    StepSummary,
    StepWait,
)
from tests.surface_support import finding

GIB = 1 << 30
STEP = StepSummary(
    "npulint try train.py",
    2,
    "Ended after 2 steps.",
    operators=(
        StepOperator("aten.huber_loss.default", "cpu", "forward", 2, "train.py", 20, "huber_loss"),
        StepOperator(
            "torchvision.nms.default", "cpu", "forward", 1, "train.py", 9, inside="torchvision/ops/boxes.py:41 in nms"
        ),
        StepOperator("aten.addmm.default", "npu", "forward", 4, "train.py", 19),
        StepOperator("aten.matmul.default", "decomposes", "forward", 2, "train.py", 19),
    ),
    waits=(
        StepWait(
            "item",
            4,
            "train.py",
            21,
            "torch/distributions/distribution.py:76 in Distribution.__init__",
            "bool",
            "It checks.",
            "Pass `validate_args=False`.",
        ),
        StepWait("item", 1, "train.py", 29, cause="item"),
    ),
    shapes=(StepShape("aten.addmm.default", ((8, 128), (8, 97)), "train.py", 19, others=2),),
    memory=StepMemory(3 * GIB, GIB, GIB // 2, GIB, GIB // 2, 0, GIB, "910B", True, 64 * GIB, "yes", "npu-smi"),
    static=(
        StepFinding("NPU2336", "cpu-fallback-operator", "warning", "train.py", 20, "confirmed"),
        StepFinding("NPU2374", "value-read-every-step", "note", "train.py", 30, "contradicted"),
        StepFinding("NPU2180", "nccl-backend", "error", "train.py", 40, "missed"),
        StepFinding("NPU2316", "unfused-optimizer", "note", "train.py", 7, "open"),
    ),
    differences=(
        StepDifference("contradicted", "NPU2374", "value-read-every-step", "train.py", 30, "It waits.", "No."),
    ),
    explained=True,
    picture=StepPicture(
        8,
        (
            StepStretch("train.py", 19, "forward", "forward", 0, 5, {"npu": 4, "decomposed": 1}),
            StepStretch("train.py", 20, "<module>", "forward", 5, 7, {"cpu": 2}, (6,)),
            StepStretch("", 0, "", "backward", 7, 8, {"npu": 1}),
        ),
        ((0, (GIB, 0, 0, 0, 0)), (5, (GIB, 0, 0, GIB, 0)), (8, (GIB, GIB, 0, 0, 0))),
    ),
    notes=("shapes",),
)
RESULT = RunResult([finding(code="NPU2336", path="train.py", span=Span(20, 16, 20, 40))], step=STEP)
