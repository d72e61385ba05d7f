"""``torch_npu.contrib.module`` and ``torch_npu.contrib.function``: what PyTorch has under other names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from npulint.fakes.torch import functions
from npulint.fakes.torch.errors import NotSimulated
from npulint.live.torch import device

_LACKING = frozenset(
    "BiLSTM ChannelShuffle DeformConv FusedColorJitter Focus LabelSmoothingCrossEntropy LinearA8W8Quant LinearQuant "
    "LinearWeightQuant ModulatedDeformConv MultiheadAttention PSROIPool QuantConv2d ROIAlign "
    "NpuCachedDropout NpuDropPath NpuFairseqDropout npu_bbox_coder_decode_xywh2xyxy npu_bbox_coder_encode_xyxy2xywh "
    "npu_bbox_coder_encode_yolo npu_batched_multiclass_nms npu_ciou npu_diou npu_fast_condition_index_put "
    "npu_fused_attention npu_fused_attention_with_layernorm npu_giou npu_iou npu_multiclass_nms npu_ptiou "
    "npu_single_level_responsible_flags fuse_add_softmax_dropout roll".split()
)


class DropoutWithByteMask(nn.Dropout):
    """Dropout, whose mask has another layout on the NPU."""

    def __init__(self, p: float = 0.5, inplace: bool = False, max_seed: int = 2**10 - 1) -> None:
        super().__init__(p, inplace)


class Prefetcher:
    """Moves the next batch to the NPU while the current one is used: here one after the other."""

    def __init__(self, loader: Any, stream: Any = None) -> None:
        self._rows = iter(loader)
        self.stream = stream

    def next(self) -> tuple[Any, ...]:
        """The next input and target, None at the end."""
        batch = next(self._rows, None)
        if batch is None:
            return None, None
        return tuple(part.to(device.NAME) if isinstance(part, torch.Tensor) else part for part in batch)


def members() -> dict[str, Any]:
    """The members of both modules."""
    simulated: dict[str, Any] = {"DropoutWithByteMask": DropoutWithByteMask, "Prefetcher": Prefetcher}
    simulated |= {"Mish": nn.Mish, "SiLU": nn.SiLU, "Swish": nn.SiLU, "matmul_transpose": _matmul_transpose}
    return {**functions.MEMBERS, **simulated, **{name: _lacking(name) for name in _LACKING}}


def _matmul_transpose(tensor1: torch.Tensor, tensor2: torch.Tensor) -> torch.Tensor:
    return torch.matmul(tensor1, tensor2.transpose(-2, -1))


def _lacking(name: str) -> Callable[..., Any]:
    def called(*args: Any, **kwargs: Any) -> Any:
        raise NotSimulated(f"torch_npu.contrib.{name}")

    return called
