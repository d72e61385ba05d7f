"""Lets the CPU pose as the accelerator that a program asks for, so that it takes the same branches as on one."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch

_ASKED = ("cuda", "npu", "mps", "xpu")
_FACTORIES = (
    "arange as_tensor empty empty_like empty_strided eye full full_like linspace load logspace ones ones_like rand "
    "rand_like randint randint_like randn randn_like randperm scalar_tensor tensor tril_indices zeros zeros_like"
).split()
_OF_TENSORS = "new_empty new_full new_ones new_tensor new_zeros to".split()
_TYPES = "Byte Char Short Int Long Half Float Double Bool BFloat16".split()


def pose() -> None:
    """Replace what asks for an accelerator."""
    for owner, names in ((torch, _FACTORIES), (torch.Tensor, _OF_TENSORS), (torch.nn.Module, ["to"])):
        for name in names:
            setattr(owner, name, _moved(getattr(owner, name)))
    tensor, module, cuda, accelerator, distributed = _owners()
    tensor.cuda = module.cuda = tensor.npu = module.npu = lambda self, *args, **kwargs: self
    tensor.pin_memory = lambda self, *args, **kwargs: self
    tensor.is_cuda = property(lambda self: True)
    vars(torch)["device"] = _Device
    vars(torch)["autocast"] = _moved_class(torch.autocast)
    for owner in (cuda, accelerator):
        owner.is_available = lambda: True
        owner.device_count = lambda: 1
        owner.synchronize = owner.set_device_index = owner.set_device = owner.empty_cache = _nothing
        owner.current_device = owner.current_device_index = lambda: 0
    accelerator.current_accelerator = lambda *args, **kwargs: torch.device("cpu")
    cuda.is_bf16_supported = cuda.is_initialized = lambda *args: True
    cuda.manual_seed = cuda.manual_seed_all = cuda.reset_peak_memory_stats = _nothing
    cuda.max_memory_allocated = cuda.memory_reserved = cuda.memory_allocated = lambda *args: 0
    for name in _TYPES:
        setattr(cuda, f"{name}Tensor", getattr(torch, f"{name}Tensor"))
    start = distributed.init_process_group
    distributed.init_process_group = lambda backend=None, *args, **kwargs: start("gloo", *args, **kwargs)
    parallel: Any = torch.nn.parallel
    parallel.DistributedDataParallel = functools.partial(parallel.DistributedDataParallel, device_ids=None)
    whole: Any = torch.nn
    whole.DataParallel = parallel.DataParallel = _Same


def _owners() -> tuple[Any, ...]:
    return torch.Tensor, torch.nn.Module, torch.cuda, torch.accelerator, torch.distributed


def _nothing(*args: Any, **kwargs: Any) -> None:
    """Does nothing."""


def _there(value: Any) -> Any:
    if isinstance(value, str):
        return "cpu" if value.partition(":")[0] in _ASKED else value
    if isinstance(value, _original) and value.type in _ASKED:
        return _original("cpu")
    return value


def _moved(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def replaced(*args: Any, **kwargs: Any) -> Any:
        named = {key: "cpu" if key == "device" and type(one) is int else _there(one) for key, one in kwargs.items()}
        placed = [_there(one) for one in args]
        if function.__name__ == "to":
            placed[1:] = ["cpu" if type(one) is int else one for one in placed[1:]]
        return function(*placed, **named)

    return replaced


def _moved_class(found: Any) -> Any:
    class Moved(found):
        def __init__(self, device_type: str, *args: Any, **kwargs: Any) -> None:
            super().__init__(_there(device_type), *args, **kwargs)

    return Moved


class _Same(torch.nn.Module):
    """``DataParallel`` of one device."""

    def __init__(self, module: torch.nn.Module, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        self.module = module

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """The module itself."""
        return self.module(*args, **kwargs)


_original: Any = torch.device


class _Meta(type):
    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, _original)

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        placed = ["cpu" if type(one) is int else _there(one) for one in args]
        return _original(*(placed[:1] if placed[:1] == ["cpu"] else placed), **kwargs)


class _Device(metaclass=_Meta):
    """``torch.device``, which makes that of the CPU."""

