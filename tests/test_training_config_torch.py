"""To which part of a recipe PyTorch calls and their parameters belong."""

from __future__ import annotations

import pytest

from npulint.data.recipe import recipe_call
from tests.training_config_support import known

PARTS_OF = {
    "torch.nn.Conv2d": "layer",
    "torch.nn.Conv2d()": "layer",
    "torch.nn.Sequential()": "operation",
    "torch.nn.CrossEntropyLoss": "loss",
    "torch.nn.functional.nll_loss": "loss",
    "torch.nn.Dropout2d": "dropout",
    "torch.optim.lr_scheduler.MultiStepLR": "schedule",
    "torch.optim.lr_scheduler.StepLR().step": "schedule",
    "?lr_scheduler.step": "schedule",
    "timm.scheduler.create_scheduler()[].step": "schedule",
    "torch.optim.lr_scheduler.StepLR().load_state_dict": "checkpoint",
    "?optimizer.step": "update",
    "?loss.backward": "update",
    "main:loss_function().backward": "update",
    "train:Trainer().optimizer.step": "update",
    "train:Trainer().scheduler.step": "schedule",
    "train:Net().train": "evaluation",
    "apex.amp.scale_loss().backward": "update",
    "apex.amp.scale_loss": "loss_scale",
    "?scaler.scale": "loss_scale",
    "?scaler.step": "update",
    "?model_ema.update": "average",
    "timm.utils.ModelEmaV2": "average",
    "?model.train": "evaluation",
    "torch.no_grad": "evaluation",
    "?p.requires_grad_": "frozen",
    "?model.half": "half_cast",
    "?train_sampler.set_epoch": "sampler",
    "torch.distributed.all_reduce": "reduction",
    "torch.use_deterministic_algorithms": "determinism",
    "torchvision.transforms.v2.RandomCrop": "transform",
    "albumentations.HorizontalFlip": "transform",
    "albumentations.pytorch.ToTensorV2": "transform",
    "nvidia.dali.fn.readers.file": "dataset",
    "nvidia.dali.fn.decoders.image": "transform",
    "torchvision.models.resnet50": "layer",
    "timm.create_model": "layer",
    "mmcv.registry.FocalLoss": "loss",
    "mmcv.registry.ResNet": "layer",
    "transformers.BertModel.from_pretrained": "checkpoint",
    "transformers.get_linear_schedule_with_warmup": "schedule",
}


@pytest.mark.parametrize(("name", "part"), PARTS_OF.items())
def test_part(name: str, part: str) -> None:
    assert known(name).part == part


ROLES = {
    ("torch.optim.SGD", "lr"): "learning_rate",
    ("torch.optim.SGD", "momentum"): "momentum",
    ("torch.optim.AdamW", "weight_decay"): "weight_decay",
    ("torch.utils.data.DataLoader", "batch_size"): "batch_size",
    ("torch.utils.data.DataLoader", "shuffle"): "shuffle",
    ("torch.utils.data.DataLoader", "drop_last"): "drop_remainder",
    ("torch.utils.data.DataLoader", "sampler"): "sampler",
    ("torch.utils.data.distributed.DistributedSampler", "num_replicas"): "ranks",
    ("apex.amp.initialize", "opt_level"): "precision_mode",
    ("apex.amp.initialize", "loss_scale"): "loss_scale",
    ("torchvision.models.resnet50", "pretrained"): "checkpoint",
    ("timm.create_model", "drop_path_rate"): "dropout",
    ("pytorch_lightning.Trainer", "gradient_clip_val"): "clipping",
    ("pytorch_lightning.Trainer", "max_epochs"): "epochs",
    ("transformers.TrainingArguments", "gradient_accumulation_steps"): "update",
    ("transformers.TrainingArguments", "per_device_train_batch_size"): "batch_size",
    ("mmcv.registry.ResNet", "frozen_stages"): "frozen",
}


@pytest.mark.parametrize(("place", "part"), ROLES.items())
def test_role(place: tuple[str, str], part: str) -> None:
    assert known(place[0]).role(place[1]) == part


@pytest.mark.parametrize(
    "name",
    [
        "torch.save",
        "torch.cuda.synchronize",
        "torch.cuda.is_available",
        "torch.npu.set_device",
        "torch.distributed.barrier",
        "torch.nn.ModuleList",
        "torch.utils.tensorboard.SummaryWriter().add_scalar",
        "?text.split",
        "?names.append",
        "train:Net()",
        "train:Net.forward",
        "train:names().append",
        "?found.add",
        "?env.step",
        "?profiler.step",
        "torchvision.utils.save_image",
        "torchvision.transforms.Compose",
    ],
)
def test_what_decides_no_numbers(name: str) -> None:
    assert recipe_call(name, "torch") is None


@pytest.mark.parametrize(
    ("name", "argument"),
    [
        ("?x.cuda", "self"),
        ("?x.npu", "self"),
        ("?x.to", "self"),
        ("torch.cat().view", "self"),
        ("torch.nn.parallel.DistributedDataParallel", "module"),
        ("torch_npu.npu_format_cast", "input"),
        ("torch.from_numpy", "data"),
        ("apex.parallel.DistributedDataParallel", "module"),
    ],
)
def test_calls_that_only_give_on(name: str, argument: str) -> None:
    assert known(name).through == argument


def test_what_the_adapter_offers_is_marked() -> None:
    assert all(known(name).adapter for name in ("torch_npu.optim.NpuFusedSGD", "torch_npu.contrib.module.NpuDropPath"))
    assert not known("torch.optim.SGD").adapter
