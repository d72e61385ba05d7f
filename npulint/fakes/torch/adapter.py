"""``torch_npu`` itself: puts the fake NPU into the process and the names of the plugin into its modules."""

from __future__ import annotations

import atexit
import functools
import importlib
import os
import sys
import types
from collections.abc import Callable
from types import TracebackType
from typing import Any

import torch
from torch.utils._device import _device_constructors

from npulint.data.aten import plugin_operators
from npulint.data.libraries import retired_op
from npulint.fakes.orders import DEVICES, RECORD, RELEASE
from npulint.fakes.torch import (
    contrib,
    functions,
    hccl,
    members,
    optim,
    profiler,
    recording,
    registered,
    storages,
    transfer,
)
from npulint.fakes.torch.errors import NotSimulated
from npulint.live.torch import device
from npulint.live.torch.composite import Registration
from npulint.live.torch.kernels import Kernels
from npulint.live.torch.recorder import Recorder

# ``npu`` without a number means the device that the process chose: PyTorch itself takes the first one, since devices
# made in Python cannot tell it which is the current one.

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


# ``torch.npu.amp``: automatic mixed precision under the names of torch_npu.

_Autocast: Any = torch.amp.autocast_mode.autocast
_Scaler: Any = torch.amp.GradScaler


class autocast(_Autocast):
    """As ``torch.autocast("npu")``."""

    def __init__(self, enabled: bool = True, dtype: torch.dtype = torch.float16, cache_enabled: bool = True) -> None:
        recording.add("autocasts", dtype=str(dtype), enabled=enabled)
        super().__init__(device.NAME, enabled=enabled, dtype=dtype, cache_enabled=cache_enabled)


class GradScaler(_Scaler):
    """The scaler of torch_npu: `dynamic` stands before `enabled`."""

    def __init__(
        self,
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        dynamic: bool = True,
        enabled: bool = True,
    ) -> None:
        if not isinstance(init_scale, (int, float)):
            raise TypeError(f"init_scale is a number, not {init_scale!r}")
        self.recorded = recording.add("scalers", init_scale=init_scale, dynamic=dynamic, enabled=enabled, steps=0)
        growth = (growth_factor, backoff_factor) if dynamic else (1.0 + 1e-12, 1.0 - 1e-12)
        super().__init__(device.NAME, init_scale, *growth, growth_interval, enabled)

    def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """One step, counted."""
        self.recorded["steps"] += 1
        return super().step(optimizer, *args, **kwargs)


custom_fwd = functools.partial(torch.amp.custom_fwd, device_type=device.NAME)
custom_bwd = functools.partial(torch.amp.custom_bwd, device_type=device.NAME)
MEMBERS = {"autocast": autocast, "GradScaler": GradScaler, "custom_fwd": custom_fwd, "custom_bwd": custom_bwd}


# How a process joins the trial that it belongs to.


def join() -> None:
    """Let this process take part in the trial that it belongs to, if any: called when it has imported PyTorch."""
    record = os.environ.get(RECORD, "")
    if not record or not os.path.isdir(record):
        return
    from npulint.fakes.torch import standing, trial  # it imports PyTorch, which may just be importing the fake

    order = trial.read_order(record)
    joined = trial.Trial(standing.Standing(record), order)
    if order.transfer:
        importlib.import_module("torch_npu.contrib.transfer_to_npu")
    if order.synthetic:
        importlib.import_module("npulint.fakes.torch.synthetic.install").install()
    joined.begin()
    joined.follow(sys._getframe())
    _end_with(joined)


def _end_with(trial: Any) -> None:
    """Write at the end of the process, however it ends."""
    original = sys.excepthook

    def raised(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if not issubclass(kind, KeyboardInterrupt):
            trial.stopped(error)
            trial.standing.hold()
        else:
            original(kind, error, trace)

    sys.excepthook = raised
    atexit.register(trial.write, "end")


# Names of torch_npu that its fake lacks.

_OTHERS = frozenset(
    "HiFloat8Tensor _C _afd asd distributed dynamo empty_with_format empty_with_swapped_memory erase_stream "
    "float4_e1m2fn_x2 float4_e2m1fn_x2 float8_e4m3fn float8_e5m2 float8_e8m0fnu hifloat8 matmul_checksum meta "
    "new_device onnx op_plugin testing unsupported_dtype version".split()
)


def answering(package: str) -> Callable[[str], Any]:
    """The ``__getattr__`` of the package: operators that torch_npu has raise when they are called, its other names at
    once, and unknown names as in any module."""

    def attribute(name: str) -> Any:
        if name in plugin_operators() or (not name.startswith("__") and retired_op(name) is not None):
            return _lacking(f"{package}.{name}")
        if name in _OTHERS:
            raise NotSimulated(f"{package}.{name}")
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return attribute


def _lacking(name: str) -> Callable[..., Any]:
    def called(*args: Any, **kwargs: Any) -> Any:
        raise NotSimulated(name)

    return called


def install(name: str) -> None:
    """Make the module `name`, which is being imported, a fake torch_npu."""
    package = sys.modules[name]
    vars(package)[device.FAKE] = True
    first = not registered.is_registered()
    if first:
        _open()
    npu = vars(torch)[device.NAME]
    vars(package).update(npu=npu, __version__="2.12.0", **functions.MEMBERS)
    _module(f"{name}.npu", npu)
    _module(f"{name}.npu.amp", npu.amp)
    vars(package)["optim"] = _made(f"{name}.optim", optim.MEMBERS)
    vars(package)["profiler"] = _made(f"{name}.profiler", profiler.members())
    vars(package)["utils"] = _made(f"{name}.utils", {}, path=[])
    vars(package)["utils"].profiler = _made(f"{name}.utils.profiler", {"Profile": profiler.Profile})
    vars(package)["__getattr__"] = answering(name)
    vars(package)["contrib"] = _made(f"{name}.contrib", contrib.members(), path=[])
    for part in ("module", "function"):
        setattr(vars(package)["contrib"], part, _made(f"{name}.contrib.{part}", contrib.members()))
    sys.meta_path.insert(0, _Transfer(name))
    if first:
        join()


def _open() -> None:
    """Register the device with all its kernels until the process ends."""
    device.prepare()
    recorder = Recorder()
    recorder.paused = 1
    release = os.environ.get(RELEASE) or str(torch.__version__).partition("+")[0]
    device.activate(True)
    device.numbers.count = max(_number(DEVICES), _number("LOCAL_WORLD_SIZE"))
    device.follow(recorder.ledger)
    running = Kernels(recorder)
    registered.keep(Registration(running, release), running)
    inner: Any = torch._C
    inner._set_multithreading_enabled(False)
    npu = members.make()
    vars(torch)[device.NAME] = npu
    sys.modules[f"torch.{device.NAME}"] = npu
    vars(npu)["amp"] = _made("torch.npu.amp", MEMBERS)
    apply()
    storages.apply()
    hccl.register()


def _number(variable: str) -> int:
    """The number in a variable of the environment, at least 1."""
    value = os.environ.get(variable, "")
    return max(1, int(value)) if value.isdigit() else 1


def _module(name: str, module: types.ModuleType) -> None:
    sys.modules[name] = module


def _made(name: str, members: dict[str, Any], path: list[str] | None = None) -> types.ModuleType:
    made = types.ModuleType(name)
    vars(made).update(members)
    if path is not None:
        vars(made)["__path__"] = path
    _module(name, made)
    return made


class _Transfer:
    """Finds ``transfer_to_npu``, which acts when it is imported."""

    def __init__(self, package: str) -> None:
        self._name = f"{package}.contrib.transfer_to_npu"

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> Any:
        """The module, if it is the one."""
        if fullname != self._name:
            return None
        util: Any = importlib.import_module("importlib.util")
        return util.spec_from_loader(fullname, self)

    def create_module(self, spec: Any) -> None:
        """The usual module."""

    def exec_module(self, module: types.ModuleType) -> None:
        """Replace what the real one replaces."""
        recording.count("imports", "transfer_to_npu")
        transfer.apply()
