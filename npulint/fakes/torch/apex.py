"""apex as it is on NPU servers: mixed precision by levels, and its names of the fused optimizers."""

from __future__ import annotations

import contextlib
import functools
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

import torch

from npulint.fakes.torch import optim, recording

_LEVELS = ("O0", "O1", "O2", "O3")
_OF_CUDA = ("FusedAdagrad", "FusedAdam", "FusedLAMB", "FusedNovoGrad", "FusedSGD")


def install(name: str) -> None:
    """Make the module `name`, which is being imported, a fake apex."""
    package = sys.modules[name]
    amp = types.ModuleType(f"{name}.amp")
    vars(amp).update(initialize=initialize, scale_loss=scale_loss, master_params=master_params)
    optimizers = types.ModuleType(f"{name}.optimizers")
    vars(optimizers).update(optim.MEMBERS, **{member: _needs_cuda(member) for member in _OF_CUDA})
    vars(package).update(amp=amp, optimizers=optimizers)
    sys.modules[f"{name}.amp"], sys.modules[f"{name}.optimizers"] = amp, optimizers


def _needs_cuda(name: str) -> Callable[..., Any]:
    def called(*args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(f"apex.optimizers.{name} requires cuda extensions")

    return called


def initialize(
    models: Any,
    optimizers: Any = None,
    enabled: bool = True,
    opt_level: str = "O1",
    loss_scale: float | str | None = None,
    combine_grad: bool | None = None,
    combine_ddp: bool | None = None,
    **more: Any,
) -> Any:
    """Models and optimizers as they are. Raises `RuntimeError` for an unknown level."""
    if opt_level not in _LEVELS:
        raise RuntimeError(f"Unexpected optimization level {opt_level}")
    given = optimizers if isinstance(optimizers, (list, tuple)) else [optimizers] if optimizers is not None else []
    recording.add("amp", opt_level=opt_level, loss_scale=loss_scale, combine_grad=combine_grad, enabled=enabled)
    scale = 128.0 if loss_scale in (None, "dynamic") else float(loss_scale)
    for optimizer in given:
        optimizer.loss_scale = scale
        if combine_grad or getattr(optimizer, "is_fused_optimizer", False):
            optimizer.clip_optimizer_grad_norm_fused = functools.partial(_clip, optimizer)
    return models if optimizers is None else (models, optimizers)


def _clip(optimizer: Any, max_norm: float, norm_type: float = 2) -> torch.Tensor:
    return torch.nn.utils.clip_grad_norm_(list(master_params(optimizer)), max_norm, norm_type)


@contextlib.contextmanager
def scale_loss(loss: torch.Tensor, optimizers: Any, **more: Any) -> Iterator[torch.Tensor]:
    """The scaled loss; at the end the gradients are divided by the scale."""
    given = optimizers if isinstance(optimizers, (list, tuple)) else [optimizers]
    scale = given[0].loss_scale
    yield loss.float() * scale
    for master_param in master_params(given[0]):
        if master_param.grad is not None:
            master_param.grad.div_(scale)


def master_params(optimizer: Any) -> Iterator[torch.Tensor]:
    """The parameters that an optimizer updates."""
    for group in optimizer.param_groups:
        yield from group["params"]
