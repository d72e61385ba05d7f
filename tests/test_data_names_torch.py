"""One canonical name for every spelling of a PyTorch member."""

from __future__ import annotations

import pytest

from npulint.data.names import canonical, star_exports
from tests.support import facts

pytestmark = pytest.mark.slow

SPELLINGS = {
    "torch.nn.modules.conv.Conv2d": "torch.nn.Conv2d",
    "torch.nn.modules.Linear": "torch.nn.Linear",
    "torch.nn.modules.loss": "torch.nn.modules.loss",
    "torch.nn.quantized.Linear": "torch.nn.quantized.Linear",
    "torch.optim.adamw.AdamW": "torch.optim.AdamW",
    "torch.optim.lr_scheduler.StepLR": "torch.optim.lr_scheduler.StepLR",
    "torch_npu.optim.npu_fused_sgd.NpuFusedSGD": "torch_npu.optim.NpuFusedSGD",
    "apex.optimizers.fused_adam.FusedAdam": "apex.optimizers.FusedAdam",
    "torch_npu.npu.set_device": "torch.npu.set_device",
    "torch.amp.autocast": "torch.autocast",
    "torch.cuda.amp.autocast_mode.autocast": "torch.cuda.amp.autocast",
    "torch.nn.parallel.data_parallel.DataParallel": "torch.nn.DataParallel",
    "torch.nn.parallel.distributed.DistributedDataParallel": "torch.nn.parallel.DistributedDataParallel",
    "torch.utils.data.dataloader.DataLoader": "torch.utils.data.DataLoader",
    "torch.nn.utils.clip_grad_norm": "torch.nn.utils.clip_grad_norm_",
    "torch.nn.functional.relu().cuda": "torch.nn.functional.relu().cuda",
    "torchvision.ops.nms": "torchvision.ops.nms",
}


@pytest.mark.parametrize(("written", "name"), SPELLINGS.items())
def test_canonical(written: str, name: str) -> None:
    assert canonical(written) == name
    assert canonical(name) == name


def test_star_imports_of_torch_modules_bring_their_names() -> None:
    assert {"Conv2d", "Module", "functional"} <= star_exports("torch.nn")
    assert {"SGD", "AdamW"} <= star_exports("torch.optim")
    assert [f.name for f in facts("from torch.optim import *\nSGD([])\n", "call")] == ["torch.optim.SGD"]


@pytest.mark.parametrize("text", ["torch.optim.__dict__['SGD'](p)", "getattr(torch.optim, 'SGD')(p)"])
def test_looked_up_by_name(text: str) -> None:
    assert "torch.optim.SGD" in [f.name for f in facts(f"import torch\n{text}\n", "call")]


def test_recorded_exports_are_those_of_the_library() -> None:
    torch = pytest.importorskip("torch")
    recorded = star_exports("torch.optim")
    assert {name for name in recorded if name[0].isupper()} <= set(dir(torch.optim))
