"""Configurations that describe components by their types: what is told of them."""

from __future__ import annotations

import pytest

from npulint.commands.compare.settings import are_equal
from tests.compare_support import short_differences

TRAIN = """
import argparse
import torch
from mmcv import Config
from mmcv.runner import build_optimizer

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--config", default="configs/{name}")
    args = parser.parse_args()
    cfg = Config.fromfile(args.config)
    model = build(cfg.model)
    optimizer = build_optimizer(model, cfg.optimizer)
    model(torch.ones(3)).backward()
    optimizer.step()

if __name__ == "__main__":
    main()
"""
PYTHON = """
norm_cfg = dict(type="SyncBN", requires_grad=True)
model = dict(
    type="EncoderDecoder",
    backbone=dict(type="ResNetV1c", depth=50, norm_cfg=norm_cfg),
    decode_head=dict(type="PSPHead", loss_decode=dict(type="CrossEntropyLoss", loss_weight=1.0)),
)
train_pipeline = [
    dict(type="LoadImageFromFile"),
    dict(type="Resize", img_scale=(2048, 512)),
    dict(type="RandomFlip", prob=0.5),
    dict(type="Collect", keys=["img"]),
]
test_pipeline = [dict(type="LoadImageFromFile"), dict(type="Normalize", to_rgb=True)]
data = dict(samples_per_gpu=2, train=dict(type="ADEDataset", pipeline=train_pipeline))
optimizer = dict(type="SGD", lr=0.01, momentum=0.9)
log_config = dict(interval=50, hooks=[dict(type="TextLoggerHook")])
"""
YAML = """
model:
  type: EncoderDecoder
  backbone: {type: ResNetV1c, depth: 50}
optimizer:
  type: SGD
  lr: 0.01
train_pipeline:
  - type: LoadImageFromFile
  - type: RandomFlip
    prob: 0.5
"""
FLIP = '    dict(type="RandomFlip", prob=0.5),\n'
RESIZE = '    dict(type="Resize", img_scale=(2048, 512)),\n'


def changed(text: str, name: str, old: str, new: str) -> list[tuple[str, str, str, str, str]]:
    assert old in text
    train = TRAIN.format(name=name)
    return short_differences(
        {"train.py": train, f"configs/{name}": text}, {"train.py": train, f"configs/{name}": text.replace(old, new)}
    )


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (FLIP, "", ("transform", "removed", "RandomFlip", "RandomFlip", "-")),
        (
            FLIP,
            FLIP + '    dict(type="RandomCrop", crop_size=9),\n',
            ("transform", "added", "RandomCrop", "-", "RandomCrop"),
        ),
        (RESIZE + FLIP, FLIP + RESIZE, ("transform", "reordered", "Resize", "Resize", "Resize")),
        ("prob=0.5", "prob=0.7", ("transform", "changed", "train_pipeline.RandomFlip.prob", "0.5", "0.7")),
        ('"SGD"', '"AdamW"', ("optimizer", "changed", "optimizer.type", "SGD", "AdamW")),
        ('"SyncBN"', '"BN"', ("layer", "changed", "norm_cfg.type", "SyncBN", "BN")),
        ('"ResNetV1c"', '"ResNet"', ("layer", "changed", "model.backbone.type", "ResNetV1c", "ResNet")),
        (
            "loss_weight=1.0",
            "loss_weight=2.0",
            ("loss", "changed", "model.decode_head.loss_decode.loss_weight", "1.0", "2.0"),
        ),
    ],
)
def test_a_component_of_a_python_configuration(old: str, new: str, expected: tuple[str, str, str, str, str]) -> None:
    assert changed(PYTHON, "my.py", old, new) == [expected]


def test_fused_optimizers_and_loggers_are_no_differences() -> None:
    assert changed(PYTHON, "my.py", 'type="SGD"', 'type="NpuFusedSGD"') == []
    assert changed(PYTHON, "my.py", '"TextLoggerHook"', '"TensorboardLoggerHook"') == []


def test_what_only_an_evaluation_does_is_told_as_such() -> None:
    ((part, change, *_),) = changed(PYTHON, "my.py", ', dict(type="Normalize", to_rgb=True)', "")
    assert (part, change) == ("evaluation", "removed")


def test_a_component_of_a_yaml_file() -> None:
    assert changed(YAML, "my.yaml", "type: SGD", "type: Adam") == [
        ("optimizer", "changed", "optimizer.type", "SGD", "Adam")
    ]
    flip = "  - type: RandomFlip\n    prob: 0.5\n"
    assert changed(YAML, "my.yaml", flip, "") == [("transform", "removed", "RandomFlip", "RandomFlip", "-")]


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        ("adamw", "npufusedadamw", True),
        ("Adam", "npu_fused_adam", True),
        ("NpuFusedSGD", "sgd", True),
        ("adam", "npufusedadamw", False),
        ("sgd", "SGD", False),
    ],
)
def test_names_of_fused_optimizers(one: str, other: str, equal: bool) -> None:
    assert are_equal(one, other, "--opt") is equal


def test_a_component_that_code_describes() -> None:
    text = "import torch\nfrom mmcv.cnn import build_norm_layer\nclass Net(torch.nn.Module):\n    def __init__(self):\n"
    text += '        self.norm = build_norm_layer(dict(type="{}"), 8)\n'
    text += "net = Net()\nnet(torch.ones(3)).sum().backward()\n"
    found = short_differences(text.format("BN"), text.format("GN"))
    assert [(part, change) for part, change, *_ in found] == [("layer", "changed")]
