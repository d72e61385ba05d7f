"""Which PyTorch calls do the same, and which do not."""

from __future__ import annotations

import pytest

from tests.training_config_support import Compared, compared, neutral

EQUAL = [
    (compared("torch.optim.SGD", ..., 0.1, 0.9), compared("apex.optimizers.NpuFusedSGD", lr=0.1, momentum=0.9)),
    (compared("torch.optim.SGD", ..., 0.1), compared("torch_npu.optim.NpuFusedSGD", ..., 0.1, 0, 0, 0)),
    (compared("torch.optim.SGD", lr=0.1), compared("apex.optimizers.FusedSGD", lr=0.1, weight_decay=0)),
    (compared("torch.optim.SGD", lr=0.1), compared("torch.optim.SGD", lr=0.1, nesterov=False, foreach=True)),
    (compared("torch.optim.Adam", lr=1e-3), compared("torch_npu.optim.NpuFusedAdam")),
    (compared("torch.optim.Adam", betas=[0.9, 0.999]), compared("apex.optimizers.NpuFusedAdam", betas=[0.9, 0.999])),
    (compared("torch.optim.AdamW"), compared("apex.optimizers.NpuFusedAdamW", weight_decay=0.01)),
    (compared("torch.optim.RMSprop", alpha=0.9), compared("torch_npu.optim.NpuFusedRMSprop", alpha=0.9)),
    (compared("torch.optim.Adadelta"), compared("torch_npu.optim.NpuFusedAdadelta", rho=0.9)),
    (compared("timm.optim.RMSpropTF", lr=0.1), compared("apex.optimizers.NpuFusedRMSpropTF", lr=0.1)),
    (compared("timm.optim.AdamP", lr=0.1), compared("torch_npu.optim.NpuFusedAdamP", lr=0.1)),
    (compared("adamp.AdamP"), compared("apex.optimizers.NpuFusedAdamP")),
    (
        compared("pytorch_pretrained_bert.BertAdam", lr=5e-5, warmup=0.1),
        compared("torch_npu.optim.NpuFusedBertAdam", lr=5e-5, warmup=0.1),
    ),
    (compared("apex.optimizers.Lamb", lr=0.1), compared("torch_npu.optim.NpuFusedLamb", lr=0.1)),
    (compared("torch.cuda.amp.autocast"), compared("torch.npu.amp.autocast", enabled=True)),
    (compared("torch.autocast", "cuda"), compared("torch.autocast", device_type="npu")),
    (compared("torch.autocast", "cuda", "torch.float16"), compared("torch.npu.amp.autocast", dtype="torch.float16")),
    (compared("torch.cuda.amp.GradScaler"), compared("torch.npu.amp.GradScaler", init_scale=2.0**16)),
    (compared("torch.amp.GradScaler", "cuda", 128.0), compared("torch.npu.amp.GradScaler", 128.0)),
    (
        compared("torch.cuda.amp.GradScaler", 1.0, 2.0, 0.5, 100, False),
        compared("torch.npu.amp.GradScaler", 1.0, growth_interval=100, enabled=False),
    ),
    (
        compared("apex.amp.initialize", opt_level="O2"),
        compared("apex.amp.initialize", opt_level="O2", combine_grad=True),
    ),
    (compared("apex.parallel.SyncBatchNorm", 64), compared("torch.nn.SyncBatchNorm", 64)),
    (
        compared("apex.parallel.convert_syncbn_model", ...),
        compared("torch.nn.SyncBatchNorm.convert_sync_batchnorm", ...),
    ),
    (
        compared("apex.parallel.DistributedDataParallel", ...),
        compared("torch.nn.parallel.DistributedDataParallel", ..., device_ids=[0], broadcast_buffers=False),
    ),
    (
        compared("torch.distributed.init_process_group", "nccl"),
        compared("torch.distributed.init_process_group", backend="hccl"),
    ),
    (compared("torch.nn.Dropout", 0.1), compared("torch_npu.contrib.module.DropoutWithByteMask", 0.1)),
    (compared("torch.nn.Dropout", 0.1, True), compared("fairseq.modules.FairseqDropout", 0.1, module_name="x")),
    (
        compared("torch.nn.functional.dropout", ..., 0.1),
        compared("torch_npu.contrib.function.dropout_with_byte_mask", ..., 0.1),
    ),
    (compared("timm.models.layers.DropPath", 0.1), compared("torch_npu.contrib.module.NpuDropPath", drop_prob=0.1)),
    (compared("torch.nn.Dropout", 0.1), compared("torch.nn.DropoutWithByteMask", 0.1)),
    (compared("torch.nn.SiLU"), compared("torch_npu.contrib.module.SiLU")),
    (compared("torch.nn.Mish"), compared("torch_npu.contrib.module.Mish")),
    (compared("torch.nn.BatchNorm2d", 64), compared("torch_npu.contrib.module.FastBatchNorm2d", 64)),
    (compared("torch.nn.LayerNorm", 768, eps=1e-6), compared("apex.normalization.FusedLayerNorm", (768,), 1e-6)),
    (
        compared("torchvision.transforms.ColorJitter", 0.4),
        compared("torch_npu.contrib.module.FusedColorJitter", brightness=0.4),
    ),
    (
        compared("torch.nn.Conv2d", 3, 64, 3),
        compared("torch.nn.Conv2d", 3, 64, (3, 3), stride=(1, 1), padding=0, groups=1),
    ),
    (compared("torch.nn.MaxPool2d", 2, 2), compared("torch.nn.MaxPool2d", kernel_size=(2, 2), stride=2)),
    (compared("torch.nn.AdaptiveAvgPool2d", 1), compared("torch.nn.AdaptiveAvgPool2d", (1, 1))),
    (compared("torch.nn.ReLU", True), compared("torch.nn.ReLU", inplace=False)),
    (compared("torch.nn.functional.relu_"), compared("torch.nn.functional.relu")),
    (compared("torch.relu"), compared("torch.nn.functional.relu", inplace=True)),
    (compared("torch.nn.MSELoss", size_average=False), compared("torch.nn.MSELoss", reduction="sum")),
    (
        compared("torch.nn.functional.cross_entropy", reduce=False),
        compared("torch.nn.functional.cross_entropy", reduction="none"),
    ),
    (compared("torch.nn.L1Loss", True, True), compared("torch.nn.L1Loss")),
    (compared("torch.nn.functional.sigmoid"), compared("torch.sigmoid")),
    (compared("torch.nn.functional.upsample", size=(4, 4)), compared("torch.nn.functional.interpolate", size=4)),
    (compared("torch.softmax", ..., -1), compared("torch.nn.functional.softmax", dim=-1)),
    (compared("?x.softmax", -1), compared("torch.nn.functional.softmax", ..., -1)),
    (compared("torch.mean", ..., 1), compared("?x.mean", 1)),
    (compared("torch.sum"), compared("?loss.sum")),
    (compared("torch.clip", ..., 0, 1), compared("?x.clamp_", 0, 1)),
    (compared("torch.cat().add", ...), compared("?y.add_", ...)),
    (compared("torch.concat", ..., 1), compared("torch.cat", dim=1)),
    (
        compared("torch.nn.init.kaiming_normal", ..., mode="fan_out"),
        compared("torch.nn.init.kaiming_normal_", mode="fan_out"),
    ),
    (compared("?m.weight.data.normal_", 0, 0.01), compared("torch.nn.init.normal_", ..., mean=0, std=0.01)),
    (compared("?m.bias.data.zero_"), compared("torch.nn.init.zeros_", ...)),
    (compared("torch.nn.utils.clip_grad_norm_", ..., 5.0), compared("?optimizer.clip_optimizer_grad_norm_fused", 5.0)),
    (compared("torch.optim.SGD().step"), compared("?optimizer.step")),
    (compared("torch.cuda.amp.GradScaler().step", ...), compared("apex.optimizers.NpuFusedSGD().step")),
    (compared("torch.cuda.manual_seed", 1), compared("torch.npu.manual_seed_all", 1)),
    (
        compared("torch.utils.data.DataLoader", ..., 32, True),
        compared("torch.utils.data.DataLoader", batch_size=32, shuffle=True, num_workers=8, pin_memory=True),
    ),
    (compared("torch.utils.data.DataLoader", ..., 32), compared("torch.utils.data.DataLoader", ..., 32, shuffle=False)),
    (
        compared("torchvision.transforms.RandomSizedCrop", 224),
        compared("torchvision.transforms.RandomResizedCrop", (224, 224)),
    ),
    (
        compared("torchvision.transforms.Resize", 256, "PIL.Image.BILINEAR"),
        compared(
            "torchvision.transforms.v2.Resize", 256, interpolation="torchvision.transforms.InterpolationMode.BILINEAR"
        ),
    ),
    (
        compared("torchvision.datasets.CIFAR10", "a", True),
        compared("torchvision.datasets.CIFAR10", root="b", download=True),
    ),
    (
        compared("torchvision.transforms.functional.hflip", ...),
        compared("torchvision.transforms.v2.functional.horizontal_flip", ...),
    ),
    (compared("torch.nn.parallel.DistributedDataParallel()"), compared("torch.nn.Sequential()")),
    (compared("torch.nn.Linear().to().cuda()"), compared("torch.nn.Linear()")),
    (compared("torch_npu.npu_silu"), compared("torch.nn.functional.silu")),
    (compared("mmcv.registry.SGD", lr=0.1), compared("torch.optim.SGD", lr=0.1)),
    (compared("mmcv.registry.SyncBN"), compared("torch.nn.SyncBatchNorm")),
    (compared("transformers.optimization.AdamW", lr=0.1), compared("transformers.AdamW", lr=0.1)),
]


@pytest.mark.parametrize(("one", "other"), EQUAL)
def test_equal(one: Compared, other: Compared) -> None:
    assert one.agrees(other)
    assert other.agrees(one)


DIFFERENT = [
    (compared("torch.optim.SGD", lr=0.1), compared("torch.optim.SGD", lr=0.2)),
    (compared("torch.optim.Adam"), compared("torch_npu.optim.NpuFusedAdamW")),
    (compared("torch.optim.Adam"), compared("torch.optim.Adam", eps=1e-6)),
    (compared("transformers.AdamW"), compared("torch_npu.optim.NpuFusedAdamW")),
    (compared("apex.optimizers.FusedAdam"), compared("torch_npu.optim.NpuFusedAdam")),
    (compared("torch.nn.Conv2d", 3, 64, 3), compared("torch.nn.Conv2d", 3, 64, 3, bias=False)),
    (compared("torch.nn.Conv2d", 3, 64, 3), compared("torch.nn.Conv2d", 3, 64, (3, 1))),
    (compared("torch.nn.MSELoss"), compared("torch.nn.MSELoss", size_average=False)),
    (compared("torch.nn.Dropout", 0.5), compared("torch.nn.Dropout", 0.1)),
    (compared("torch.nn.BatchNorm2d", 64), compared("torch.nn.SyncBatchNorm", 64)),
    (compared("torch.nn.BatchNorm2d", 64), compared("torch.nn.BatchNorm2d", 64, eps=1e-3)),
    (compared("torch.nn.CrossEntropyLoss"), compared("torch.nn.CrossEntropyLoss", label_smoothing=0.1)),
    (compared("torch.cuda.amp.GradScaler"), compared("torch.npu.amp.GradScaler", dynamic=False)),
    (compared("torch.cuda.amp.GradScaler"), compared("torch.npu.amp.GradScaler", init_scale=128)),
    (compared("torch.autocast", "cuda"), compared("torch.autocast", "npu", dtype="torch.bfloat16")),
    (compared("apex.amp.initialize", opt_level="O1"), compared("apex.amp.initialize", opt_level="O2")),
    (compared("apex.amp.initialize", loss_scale=128.0), compared("apex.amp.initialize")),
    (compared("torch.nn.DataParallel"), compared("torch.nn.parallel.DistributedDataParallel")),
    (compared("torch.utils.data.DataLoader"), compared("torch.utils.data.DataLoader", drop_last=True)),
    (compared("torchvision.transforms.Resize", 256), compared("torchvision.transforms.Resize", 224)),
    (compared("torchvision.datasets.CIFAR10"), compared("torchvision.datasets.CIFAR100")),
    (compared("?x.max"), compared("?x.min")),
    (compared("torch.nn.Conv2d"), compared("torch.nn.Conv2d()")),
    (compared("torch.optim.SGD().step"), compared("torch.optim.lr_scheduler.StepLR().step")),
    (compared("torch.nn.GELU"), compared("torch.nn.GELU", approximate="tanh")),
    (
        compared("torch.nn.functional.interpolate", scale_factor=2),
        compared("torch.nn.functional.interpolate", scale_factor=2, mode="bilinear"),
    ),
]


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_different(one: Compared, other: Compared) -> None:
    assert not one.agrees(other)


NEUTRAL = [
    (
        neutral("torch.optim.Adam", lr=0.1, betas=(0.5, 0.9)),
        "adam",
        {"learning_rate": 0.1, "beta1": 0.5, "beta2": 0.9, "epsilon": 1e-8},
    ),
    (neutral("torch_npu.optim.NpuFusedSGD", ..., 0.1, 0.9), "sgd", {"learning_rate": 0.1, "momentum": 0.9}),
    (neutral("torch.nn.Conv2d", 3, 64, 3), "conv2d", {"filters": 64, "kernel_size": 3}),
    (neutral("torch.nn.Linear", 10, 5), "dense", {"units": 5}),
    (neutral("torch.nn.functional.dropout", ..., 0.3), "dropout", {"rate": 0.3}),
    (neutral("torch.nn.LeakyReLU", 0.2), "leaky_relu", {"alpha": 0.2}),
    (neutral("torch.nn.CrossEntropyLoss", label_smoothing=0.1), "cross_entropy", {"label_smoothing": 0.1}),
    (neutral("torch.nn.functional.mse_loss"), "mean_squared_error", {}),
    (
        neutral("torch.utils.data.DataLoader", ..., 32, drop_last=True),
        "batch",
        {"batch_size": 32, "drop_remainder": True},
    ),
    (
        neutral("torch.utils.data.distributed.DistributedSampler", ..., 8, 3),
        "shard",
        {"num_shards": 8, "index": 3},
    ),
    (neutral("torch.manual_seed", 7), "seed", {"seed": 7}),
    (neutral("torch.nn.BatchNorm2d", 64, momentum=0.01), "batch_norm", {"decay": 0.99, "epsilon": 1e-5}),
    (neutral("torch.nn.init.trunc_normal_", ..., std=0.02), "truncated_normal_init", {"mean": 0.0, "stddev": 0.02}),
]


@pytest.mark.parametrize(("found", "name", "values"), NEUTRAL)
def test_neutral_names(found: tuple[str, dict[str, object]], name: str, values: dict[str, object]) -> None:
    assert found[0] == name
    assert {key: found[1].get(key) for key in values} == values
