"""Training frameworks: which know the NPU, and which place the model on it."""

from __future__ import annotations

import pytest

from npulint.data.frameworks import adaptors, chooses_device, framework


@pytest.mark.parametrize(
    "name", ["accelerate.Accelerator", "mmengine.runner.Runner", "mmcv.runner.EpochBasedRunner", "trl.SFTTrainer"]
)
def test_chooses_the_npu(name: str) -> None:
    assert chooses_device(name)


@pytest.mark.parametrize(
    "name",
    [
        "lightning.Fabric",
        "pytorch_lightning.Trainer",
        "lightning_fabric",
        "mmcv.runner.load_checkpoint",
        "trl",
        "torch",
    ],
)
def test_does_not_choose_the_npu(name: str) -> None:
    assert not chooses_device(name)


def test_versions() -> None:
    found = framework("transformers.Trainer")
    assert found is not None
    assert (found.support, found.since) == ("native", "4.32.0")
    assert framework("numpy") is None


def test_adaptors() -> None:
    assert "mindspeed.megatron_adaptor" in adaptors()
    assert "accelerate" not in adaptors()
