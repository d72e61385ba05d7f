"""``torch.npu``: the members that torch_npu has, and no others."""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from typing import Any

import torch

from npulint.data.names import npu_members
from npulint.fakes.torch import recording
from npulint.fakes.torch.errors import NotSimulated
from npulint.live.torch import device

_TYPES = {
    "BFloat16Tensor": torch.bfloat16,
    "BoolTensor": torch.bool,
    "ByteTensor": torch.uint8,
    "CharTensor": torch.int8,
    "DoubleTensor": torch.float64,
    "FloatTensor": torch.float32,
    "HalfTensor": torch.float16,
    "IntTensor": torch.int32,
    "LongTensor": torch.int64,
    "ShortTensor": torch.int16,
}
_NOTHING = (
    "empty_cache init ipc_collect reset_accumulated_memory_stats reset_max_memory_allocated reset_max_memory_cached "
    "reset_peak_memory_stats seed seed_all set_per_process_memory_fraction set_stream clear_npu_overflow_flag "
    "set_dump init_dump finalize_dump set_sync_debug_mode enable_graph_mode disable_graph_mode global_step_inc "
    "set_start_fuzz_compile_step"
).split()
_ZERO = (
    "max_memory_allocated max_memory_cached max_memory_reserved memory_allocated memory_cached memory_reserved "
    "utilization"
).split()
_RECORDED = "set_compile_mode set_option set_deterministic_level set_aoe set_op_timeout_ms".split()


class Stream:
    """A stream or an event: all work is synchronous."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.device = torch.device(device.NAME, 0)

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *raised: object) -> None:
        return None

    def synchronize(self, *others: Any, **named: Any) -> None:
        """Does nothing: nothing is outstanding."""

    wait_stream = wait_event = record = wait = synchronize

    def record_event(self, event: Any = None) -> Any:
        return event or Stream()

    def query(self) -> bool:
        return True

    def elapsed_time(self, end: Any) -> float:
        return 0.0


def make() -> types.ModuleType:
    """The module ``torch.npu``."""
    made = types.ModuleType("torch.npu")
    base = device._module
    inherited = {name: getattr(base, name) for name in dir(base) if not name.startswith("__")}
    vars(made).update({**_simulated(), **{name: member for name, member in inherited.items() if name != "active"}})
    vars(made).update(_checked())
    for name in npu_members() - set(vars(made)):
        vars(made)[name] = _not_simulated(name)
    return made


def _simulated() -> dict[str, Any]:
    simulated: dict[str, Any] = {name: _answering(None) for name in _NOTHING}
    simulated |= {name: _answering(0) for name in _ZERO}
    simulated |= {name: _setting(name) for name in _RECORDED}
    types_of_npu = {name: TensorType(name, dtype) for name, dtype in _TYPES.items()}
    know_types(types_of_npu)
    simulated |= types_of_npu
    simulated |= dict.fromkeys(("Stream", "Event", "StreamContext"), Stream)
    simulated |= {name: _answering(Stream()) for name in ("current_stream", "default_stream")}
    simulated["stream"] = lambda stream: stream if stream is not None else Stream()
    simulated["matmul"] = types.SimpleNamespace(allow_hf32=False)
    simulated["conv"] = types.SimpleNamespace(allow_hf32=True)
    simulated["get_device_name"] = _answering("Ascend910B")
    simulated["get_device_capability"] = _answering(None)
    simulated["get_device_properties"] = _answering(types.SimpleNamespace(name="Ascend910B", total_memory=64 << 30))
    simulated["mem_get_info"] = _answering((64 << 30, 64 << 30))
    simulated["memory_summary"] = _answering("")
    simulated["memory_stats"] = lambda device=None: {}
    simulated["initial_seed"] = torch.initial_seed
    simulated["get_rng_state_all"] = lambda: [torch.get_rng_state()]
    simulated["set_rng_state_all"] = lambda states: torch.set_rng_state(states[0])
    simulated["config"] = types.SimpleNamespace(allow_internal_format=True)
    simulated["get_npu_overflow_flag"] = _answering(False)
    simulated["get_sync_debug_mode"] = _answering(0)
    simulated["default_generators"] = (torch.default_generator,)
    simulated["is_current_stream_capturing"] = _answering(False)
    return simulated


def _checked() -> dict[str, Callable[..., Any]]:
    def set_device(which: Any) -> None:
        chosen = torch.device(device.NAME, which) if isinstance(which, int) else torch.device(which)
        if chosen.type != device.NAME:
            raise ValueError(f"Expected a npu device, but got: {which}")
        if (chosen.index or 0) >= device.numbers.count:
            raise RuntimeError(f"Invalid device ID {chosen.index}: the server has {device.numbers.count} fake NPU")
        device.numbers.choose(chosen)
        recording.count("devices", str(chosen))

    return {"set_device": set_device}


def _answering(value: Any) -> Callable[..., Any]:
    """A separate function for each name, since torch compares them."""
    return lambda *args, **kwargs: value


def _setting(name: str) -> Callable[..., None]:
    def record(*args: Any, **kwargs: Any) -> None:
        recording.add("settings", name=name, args=list(args), **kwargs)

    return record


class TensorType:
    """``torch.npu.FloatTensor`` and its like: makes tensors, and is an argument of ``Tensor.type``."""

    def __init__(self, name: str, dtype: torch.dtype) -> None:
        self.name, self.dtype = f"torch.npu.{name}", dtype

    def __call__(self, *args: Any) -> torch.Tensor:
        if not args or all(isinstance(argument, int) for argument in args):
            return torch.empty(args or 0, dtype=self.dtype, device=device.NAME)
        return torch.as_tensor(args[0], dtype=self.dtype).to(device.NAME)


def know_types(types_of_npu: Mapping[str, TensorType]) -> None:
    """Let ``Tensor.type`` take these types, and their names."""
    named = {tensor_type.name: tensor_type for tensor_type in types_of_npu.values()}
    original: Any = torch.Tensor.type

    def converted(self: torch.Tensor, dtype: Any = None, *args: Any, **kwargs: Any) -> Any:
        wanted = named.get(dtype, dtype) if isinstance(dtype, str) else dtype
        if isinstance(wanted, TensorType):
            return self.to(device.NAME, wanted.dtype)
        if dtype is None and self.device.type == device.NAME:
            return next(
                (tensor_type.name for tensor_type in named.values() if tensor_type.dtype is self.dtype),
                "torch.npu.Tensor",
            )
        return original(self, dtype, *args, **kwargs)

    tensor: Any = torch.Tensor
    tensor.type = converted


def _not_simulated(name: str) -> Callable[..., Any]:
    def called(*args: Any, **kwargs: Any) -> Any:
        raise NotSimulated(f"torch.npu.{name}")

    return called
