"""``npu`` without a number means the device that the process chose: PyTorch itself takes the first one, since devices
made in Python cannot tell it which is the current one."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch
from torch.utils._device import _device_constructors

from npulint.live.torch import device

_FACTORIES = "tensor as_tensor asarray".split()  # others reach the kernels of the device


def apply() -> None:
    """Number the devices of what does not reach the kernels of the device, and answer for ``torch.accelerator``."""
    _device_constructors()  # keeps the originals, by which `with torch.device(...)` knows factories
    tensor: Any = torch.Tensor
    tensor.to = _numbering(torch.Tensor.to)
    for name in _FACTORIES:
        vars(torch)[name] = _numbering(getattr(torch, name))
    accelerator: Any = torch.accelerator
    npu: Any = device._module
    accelerator.device_count = npu.device_count
    for name in ("current_device_index", "current_device_idx"):
        setattr(accelerator, name, npu.current_device)
    for name in ("set_device_index", "set_device_idx"):
        setattr(accelerator, name, vars(torch)[device.NAME].set_device)


def _numbering(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        if device.numbers.count > 1:
            args = tuple(_numbered(argument) for argument in args)
            if kwargs.get("device") is not None:
                kwargs["device"] = _numbered(kwargs["device"])
        return function(*args, **kwargs)

    return called


def _numbered(value: Any) -> Any:
    """The device with its number; other values unchanged."""
    if (isinstance(value, str) and value == device.NAME) or (
        isinstance(value, torch.device) and value.type == device.NAME and value.index is None
    ):
        return torch.device(device.NAME, device.numbers.current)
    return value
