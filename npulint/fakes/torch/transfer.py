"""``torch_npu.contrib.transfer_to_npu``: what asks for CUDA gets the NPU."""

from __future__ import annotations

import functools
import importlib
import sys
import types
from collections.abc import Callable
from typing import Any

import torch

from npulint.fakes.torch import recording
from npulint.live.torch import device

_ARGUMENTS = ("device", "device_type", "map_location", "device_id")
_FACTORIES = (
    "arange as_tensor empty empty_like empty_strided eye full full_like linspace load logspace normal ones ones_like "
    "rand rand_like randint randint_like randn randn_like randperm scalar_tensor set_default_device tensor "
    "tril_indices triu_indices zeros zeros_like"
).split()
_OF_TENSORS = "new_empty new_full new_ones new_tensor new_zeros to".split()


def apply() -> None:
    """Replace the functions and the members of ``torch.cuda``."""
    recording.count("settings_of_imports", "transfer_to_npu")
    for owner, names in (
        (torch, _FACTORIES),
        (torch.Tensor, _OF_TENSORS),
        (torch.nn.Module, ["to", "to_empty"]),
        (torch.distributed, ["init_process_group", "new_group"]),
    ):
        for name in names:
            setattr(owner, name, _moved(getattr(owner, name), name in ("to", "to_empty")))
    _cover("torch.cuda", "torch.npu")
    _cover("torch.cuda.amp", "torch.npu.amp")
    vars(torch.distributed)["is_nccl_available"] = lambda: True
    vars(torch.jit).update(script=_unscripted, script_method=_unscripted)
    vars(torch)["device"] = _Device
    vars(torch)["autocast"] = _moved_class(torch.autocast)
    tensor: Any = torch.Tensor
    module: Any = torch.nn.Module
    tensor.cuda, module.cuda = tensor.npu, module.npu
    tensor.is_cuda = property(lambda self: self.device.type == device.NAME)


def _unscripted(obj: Any, *args: Any, **kwargs: Any) -> Any:
    """The function itself: the real one turns scripting off, too."""
    return obj


def _cover(name: str, other: str) -> None:
    """Give a module the public members of another one, but for modules."""
    members = {key: member for key, member in vars(sys.modules[other]).items() if not key.startswith("_")}
    vars(importlib.import_module(name)).update(
        {key: member for key, member in members.items() if not isinstance(member, types.ModuleType)}
    )


def moved(value: Any) -> Any:
    """A device or a backend with CUDA and NCCL replaced."""
    if isinstance(value, str):
        return value.replace("cuda", device.NAME).replace("nccl", "hccl")
    if isinstance(value, _original) and value.type == "cuda":
        return _original(device.NAME, value.index) if value.index is not None else _original(device.NAME)
    if isinstance(value, dict):
        return {moved(key): moved(inner) if isinstance(inner, str) else inner for key, inner in value.items()}
    return value


def _moved(function: Callable[..., Any], numbered: bool) -> Callable[..., Any]:
    @functools.wraps(function)
    def replaced(*args: Any, **kwargs: Any) -> Any:
        placed = [moved(argument) if isinstance(argument, (str, _original)) else argument for argument in args]
        if numbered:
            placed[1:] = [f"{device.NAME}:{argument}" if type(argument) is int else argument for argument in placed[1:]]
        named = {
            name: moved(argument) if name in (*_ARGUMENTS, "backend") else argument for name, argument in kwargs.items()
        }
        return function(*placed, **named)

    return replaced


def _moved_class(base: Any) -> Any:
    class Moved(base):
        def __init__(self, device_type: str, *args: Any, **kwargs: Any) -> None:
            super().__init__(moved(device_type), *args, **kwargs)

    return Moved


_original: Any = torch.device


class _Meta(type):
    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, _original)

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        return _original(*map(moved, args), **{name: moved(argument) for name, argument in kwargs.items()})


class _Device(metaclass=_Meta):
    """``torch.device``, which makes devices of the NPU."""
