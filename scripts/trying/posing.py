"""Lets the CPU pose as the accelerator that a program asks for, so that it takes the same branches as on one."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable
from typing import Any

import torch
from torch.utils._device import _device_constructors

_ASKED = ("cuda", "npu", "mps", "xpu")
_FACTORIES = (
    "arange as_tensor empty empty_like empty_strided eye full full_like linspace load logspace ones ones_like rand "
    "rand_like randint randint_like randn randn_like randperm scalar_tensor tensor tril_indices zeros zeros_like"
).split()
_OF_TENSORS = "new_empty new_full new_ones new_tensor new_zeros to".split()
_TYPES = "Byte Char Short Int Long Half Float Double Bool BFloat16".split()


def step_as_accelerators_do() -> None:
    """Let optimizers update all parameters together, which they do by default on accelerators only: the order of the
    operations decides the last bit."""
    from torch.optim import optimizer

    module: Any = optimizer
    module._get_foreach_kernels_supported_devices = lambda: ["cpu"]


def pose() -> None:
    """Replace what asks for an accelerator."""
    _device_constructors()  # keeps the originals, by which `with torch.device(...)` knows factories
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
        owner.is_available, owner.device_count = _answering(True), _answering(1)
        for name in ("synchronize", "set_device_index", "set_device", "empty_cache", "manual_seed", "manual_seed_all"):
            setattr(owner, name, _answering(None))
        owner.current_device, owner.current_device_index = _answering(0), _answering(0)
    accelerator.current_accelerator = _answering(torch.device("cpu"))
    cuda.is_bf16_supported, cuda.is_initialized = _answering(True), _answering(True)
    for name in ("max_memory_allocated", "memory_reserved", "memory_allocated", "reset_peak_memory_stats"):
        setattr(cuda, name, _answering(0))
    cuda.Stream = cuda.Event = _Stream
    cuda.current_stream, cuda.stream = _answering(_Stream()), _answering(_Stream())
    for name in _TYPES:
        setattr(cuda, f"{name}Tensor", getattr(torch, f"{name}Tensor"))
    start = distributed.init_process_group
    distributed.init_process_group = lambda backend=None, *args, **kwargs: start("gloo", *args, **kwargs)
    parallel: Any = torch.nn.parallel
    parallel.DistributedDataParallel = _undirected(parallel.DistributedDataParallel)
    whole: Any = torch.nn
    whole.DataParallel = parallel.DataParallel = _Same


def _owners() -> tuple[Any, ...]:
    return torch.Tensor, torch.nn.Module, torch.cuda, torch.accelerator, torch.distributed


def _answering(value: Any) -> Callable[..., Any]:
    """A function of its own for each name, since torch compares them."""
    return lambda *args, **kwargs: value


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
    def __init__(self: Any, device_type: str, *args: Any, **kwargs: Any) -> None:
        found.__init__(self, _there(device_type), *args, **kwargs)

    return type(found.__name__, (found,), {"__init__": __init__})


def _undirected(found: Any) -> Any:
    def __init__(self: Any, module: Any, *args: Any, **kwargs: Any) -> None:
        found.__init__(self, module)

    return type(found.__name__, (found,), {"__init__": __init__})


class _Stream(contextlib.nullcontext[None]):
    """A stream: all work is synchronous."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        self.wait_stream = self.synchronize = self.record = self.wait_event = _answering(None)


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
