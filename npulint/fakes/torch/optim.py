"""``torch_npu.optim``: the fused optimizers, computed by those of PyTorch."""

from __future__ import annotations

from typing import Any

import torch
from torch import optim

from npulint.fakes.torch import recording
from npulint.live.torch import device


def _fused(name: str, base: Any, accepted: str) -> Any:
    """A fused optimizer. Raises as the real one for what that refuses: other element types, tensors of the host, and
    gradients set to None."""
    names = accepted.split()

    def __init__(self: Any, params: Any, *args: Any, **kwargs: Any) -> None:
        if len(args) > len(names):
            raise TypeError(f"{name}() takes {len(names)} arguments after the parameters, not {len(args)}")
        given = {**dict(zip(names, args, strict=False)), **kwargs}
        unknown = sorted(set(given) - set(names))
        if unknown:
            raise TypeError(f"{name}.__init__() got an unexpected keyword argument '{unknown[0]}'")
        self.recorded = recording.add("optimizers", name=name, options=given, steps=0)
        base.__init__(self, params, **given)

    def step(self: Any, closure: Any = None) -> Any:
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is not None and parameter.dtype not in (torch.float32, torch.float16):
                    raise TypeError(
                        "Fused optimizer's parameters must be either float32 or float16, "
                        f"but received {parameter.dtype}"
                    )
                if parameter.grad is not None and parameter.device.type != device.NAME:
                    raise RuntimeError(f"{name}: parameters must be on the NPU, but one is on {parameter.device}")
        self.recorded["steps"] += 1
        return base.step(self, closure)

    def zero_grad(self: Any, set_to_none: bool = False) -> None:
        if set_to_none:
            raise ValueError("set_to_none is not supported in fused optimizers")
        base.zero_grad(self, set_to_none=False)

    def clip_grad_norm_fused_(self: Any, max_norm: float, norm_type: float = 2) -> torch.Tensor:
        every = [parameter for group in self.param_groups for parameter in group["params"]]
        return torch.nn.utils.clip_grad_norm_(every, max_norm, norm_type)

    members = {
        "__init__": __init__,
        "step": step,
        "zero_grad": zero_grad,
        "clip_grad_norm_fused_": clip_grad_norm_fused_,
        "is_fused_optimizer": True,
    }
    return type(name, (base,), members)


_ADAM = "lr betas eps weight_decay amsgrad"
MEMBERS: dict[str, Any] = {
    "NpuFusedSGD": _fused("NpuFusedSGD", optim.SGD, "lr momentum dampening weight_decay nesterov"),
    "NpuFusedAdam": _fused("NpuFusedAdam", optim.Adam, _ADAM),
    "NpuFusedAdamW": _fused("NpuFusedAdamW", optim.AdamW, _ADAM),
    "NpuFusedAdadelta": _fused("NpuFusedAdadelta", optim.Adadelta, "lr rho eps weight_decay"),
    "NpuFusedRMSprop": _fused("NpuFusedRMSprop", optim.RMSprop, "lr alpha eps weight_decay momentum centered"),
}
OTHERS = "NpuFusedLamb NpuFusedAdamP NpuFusedBertAdam NpuFusedRMSpropTF NpuFusedOptimizerBase".split()
