"""A comparison that shows every part of a report: two small projects with their sources and findings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from npulint.facts.model import Span
from npulint.judge.findings import (
    ComparedItem,
    ComparedPair,
    ComparedRow,
    ComparedSide,
    Comparison,
    Evidence,
    Finding,
    Fix,
    Related,
    RunResult,
    Summary,
)
from tests.surface_support import finding

SOURCES: dict[str, list[str]] = {
    "gpu/train.py": [
        "import argparse",
        "import tensorflow as tf",
        "",
        "parser = argparse.ArgumentParser()",
        "parser.add_argument('--lr', type=float, default=0.1)",
        "parser.add_argument('--batch-size', type=int, default=256)",
        "args = parser.parse_args()",
        "",
        "scaler = tf.train.experimental.FixedLossScale(128)",
        "images = tf.image.random_flip_left_right(images)  # 翻转",
        "images = (images - 127.5) / 127.5",
        "logits = tf.layers.dropout(features, rate=0.5)",
    ],
    "npu/train.py": [
        "import argparse",
        "import tensorflow as tf",
        "",
        "parser = argparse.ArgumentParser()",
        "parser.add_argument('--lr', type=float, default=0.1)",
        "args = parser.parse_args()",
        "",
        "images = images / 255.0",
        "dataset = dataset.batch(args.batch_size, drop_remainder=True)",
    ],
    "npu/test/train_full_1p.sh": [
        "#!/bin/bash",
        "python3 ../train.py \\",
        "    --lr=0.05 \\",
        "    --batch-size=256",
    ],
}
LAUNCHER = "npu/test/train_full_1p.sh"


def source(path: str) -> Sequence[str]:
    """The lines of the two projects."""
    return SOURCES.get(path, ())


def side(text: str, path: str = "", line: int = 0, *names: str, column: int = 1, end: int = 5) -> ComparedSide:
    """One side of a row: its value is written at a place, and has `names` further on in the training script."""
    if not path:
        return ComparedSide(text)
    script = f"{path.split('/')[0]}/train.py"
    first = Related(path, Span(line, column, line, end), text)
    later = [Related(script, Span(number + 5, 1, number + 5, 9), name) for number, name in enumerate(names)]
    return ComparedSide(text, path, first.span, (first, *later))


def row(
    part: str,
    what: str,
    answer: str,
    reference: ComparedSide | None,
    migrated: ComparedSide | None,
    code: str = "",
) -> ComparedRow:
    """One row of an item."""
    return ComparedRow(part, what, answer, reference, migrated, code)


def items() -> tuple[ComparedItem, ...]:
    """The nine items, with rows of every answer."""
    gpu, npu = "gpu/train.py", "npu/train.py"
    random = Evidence(gpu, Span(10, 1, 10, 20), "seed-not-set", "NPU6001")
    rate = row(
        "learning_rate",
        "learning rate",
        "differs",
        side("0.1", gpu, 5, "--lr", "args.lr", column=49, end=52),
        side("0.05", LAUNCHER, 3, "--lr", "args.lr", column=10, end=14),
        code="NPU6201",
    )
    batch = row("batch_size", "--batch-size", "same", side("256", gpu, 6, "args.batch_size"), side("256", LAUNCHER, 4))
    unknown = row("epochs", "epochs", "unknown", side("90", gpu, 7), side("?", npu, 6))
    flip = row(
        "transform",
        "random_flip_left_right",
        "differs",
        side("image", gpu, 10, column=10, end=49),
        None,
        code="NPU6211",
    )
    scaled = row(
        "arithmetic",
        "images",
        "differs",
        side("(x - 127.5) / 127.5", gpu, 11, end=34),
        side("x / 255.0", npu, 8, end=24),
        code="NPU6212",
    )
    tail = row(
        "drop_remainder", "batch", "note", side("False"), side("True", npu, 9, column=42, end=61), code="NPU6204"
    )
    window = row("loss_scale", "loss scale", "unknown", side("128", gpu, 9, column=50, end=53), side("?"))
    return (
        ComparedItem("reference_repeatable", "The reference is repeatable", "differs", failures=(random,)),
        ComparedItem(
            "reference_mixed_precision",
            "The reference trains in mixed precision",
            "unknown",
            look="Find out whether the environment enables mixed precision, as `TF_ENABLE_AUTO_MIXED_PRECISION` does.",
        ),
        ComparedItem("mixed_precision", "Mixed precision is enabled on the NPU", "consistent", same=2),
        ComparedItem(
            "loss_scale", "The loss is scaled as in the reference", "unknown", (window,), "Compare the loss scale."
        ),
        ComparedItem("data", "The data are those of the reference", "consistent", (tail,), same=4),
        ComparedItem(
            "preprocessing",
            "The data are prepared as in the reference",
            "differs",
            (flip, scaled),
            failures=(Evidence(gpu, Span(10, 10, 10, 49), "preprocessing-removed", "NPU6211"),),
            same=3,
        ),
        ComparedItem("sharding", "The data are sharded as in the reference", "consistent"),
        ComparedItem("training", "The training flow is that of the reference", "consistent", same=31),
        ComparedItem(
            "hyperparameters",
            "The hyperparameters are those of the reference",
            "differs",
            (rate, batch, unknown),
            same=1,
        ),
    )


def comparison(**changes: Any) -> Comparison:
    """Two projects with one pair of programs and some without a counterpart."""
    pair = ComparedPair("gpu/train.py", "npu/train.py", "tensorflow 1.x", "tensorflow 1.x", "", LAUNCHER, items=items())
    base = Comparison("gpu", "npu", (pair,), ("gpu/distill.py",), ())
    return msgspec.structs.replace(base, **changes)


def findings() -> list[Finding]:
    """What checks say of two of the rows."""
    return [
        finding(
            code="NPU6211",
            name="preprocessing-removed",
            topic="recipe_difference",
            category="precision",
            path="gpu/train.py",
            span=Span(10, 10, 10, 49),
            message="`random_flip_left_right` of the reference is not there in the migrated program",
            why="The network sees other images.",
            fix=Fix("Prepare the data as the reference does."),
            fingerprint="0123456789abcdef6211",
        ),
        finding(
            code="NPU6201",
            name="learning-rate-differs",
            topic="recipe_difference",
            category="precision",
            path=LAUNCHER,
            span=Span(3, 10, 3, 14),
            message="the learning rate is 0.05, in the reference 0.1",
            why="The loss curves part from the first step on.",
            fix=Fix("Start it with --lr 0.1."),
            fingerprint="0123456789abcdef6201",
        ),
    ]


def compared(**changes: Any) -> RunResult:
    """The result of a comparison."""
    base = RunResult(findings(), summary=Summary(5, 5, warnings=2), comparison=comparison())
    return msgspec.structs.replace(base, **changes)
