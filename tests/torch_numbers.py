"""Runs pairs of sources on the CPU with stand-ins for what torch_npu computes, and writes the numbers that their
function ``answer`` gives. A job on standard input is {"bad": source, "fixed": source}."""

from __future__ import annotations

import inspect
import json
import math
import sys
import types
from typing import Any

import torch
import torch.nn.functional as F


def fast_gelu(x: torch.Tensor) -> torch.Tensor:
    """The formula of the documentation."""
    return x / (1 + torch.exp(-1.702 * x.abs())) * torch.exp(0.851 * (x - x.abs()))


def fusion_attention(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    head_num: int,
    input_layout: str,
    pse: Any = None,
    padding_mask: Any = None,
    atten_mask: torch.Tensor | None = None,
    scale: float = 1.0,
    keep_prob: float = 1.0,
) -> tuple[torch.Tensor, ...]:
    """Attention in the layout BNSD; a mask says what is left out. Nothing is dropped, but `keep_prob` is looked at."""
    assert input_layout == "BNSD" and query.shape[1] == head_num and 0 < keep_prob <= 1
    scores = query @ key.transpose(-1, -2) * scale
    if atten_mask is not None:
        assert atten_mask.dtype in (torch.bool, torch.uint8)
        scores = scores.masked_fill(atten_mask.bool(), -math.inf)
    return scores.softmax(-1) @ value, scores, torch.tensor(keep_prob)


def fused(stock: Any, names: str) -> type[torch.optim.Optimizer]:
    """A class with the parameters that the fused one has: any other is a TypeError."""

    class Fused(stock):
        def __init__(self, params: Any, *args: Any, **options: Any) -> None:
            unknown = set(options) - set(names.split())
            if unknown:
                raise TypeError(f"unexpected {unknown}")
            super().__init__(params, *args, **options)

        def zero_grad(self, set_to_none: bool = False) -> None:
            if set_to_none:
                raise ValueError("set_to_none is not supported")
            super().zero_grad(set_to_none=False)

    return Fused


def stand_in() -> None:
    """Put a torch_npu there that has what the jobs call."""
    package = types.ModuleType("torch_npu")
    package.__dict__.update(
        npu_fast_gelu=fast_gelu,
        npu_fusion_attention=fusion_attention,
        npu_rms_norm=lambda x, w, epsilon=1e-6: (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + epsilon) * w, x),
        npu_dtype_cast=lambda x, dtype: x.to(dtype),
        npu_reshape=lambda x, shape, can_refresh=False: x.reshape(shape),
        npu_broadcast=lambda x, size: x.expand(size),
        npu_silu=F.silu,
        npu_mish=F.mish,
        one_=lambda x: x.fill_(1),
    )
    optim = types.ModuleType("torch_npu.optim")
    adam = "lr betas eps weight_decay amsgrad"
    optim.__dict__.update(
        NpuFusedSGD=fused(torch.optim.SGD, "lr momentum dampening weight_decay nesterov"),
        NpuFusedAdam=fused(torch.optim.Adam, adam),
        NpuFusedAdamW=fused(torch.optim.AdamW, adam),
    )
    package.__dict__["optim"] = optim
    sys.modules.update({"torch_npu": package, "torch_npu.optim": optim})
    for kind in (torch.Tensor, torch.nn.Module):
        setattr(kind, "npu", lambda self, *args, **options: self)  # noqa: B010


def numbers(source: str) -> dict[str, Any]:
    """What a source answers, or the error that it ends with."""
    names: dict[str, Any] = {"__name__": "job"}
    torch.manual_seed(7)
    try:
        exec(compile(source, "job.py", "exec"), names)
        found = names["answer"]()
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}", "numbers": []}
    if inspect.isgenerator(found):
        found = list(found)
    flat = [value.detach().double().flatten() if isinstance(value, torch.Tensor) else [float(value)] for value in found]
    return {"error": "", "numbers": [float(x) for part in flat for x in part]}


def main() -> None:
    """Answer all jobs."""
    stand_in()
    jobs = json.load(sys.stdin)
    json.dump([{key: numbers(source) for key, source in job.items()} for job in jobs], sys.stdout)


if __name__ == "__main__":
    main()
