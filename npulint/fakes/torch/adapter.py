"""``torch_npu`` itself: puts the fake NPU into the process and the names of the plugin into its modules."""

from __future__ import annotations

import importlib
import os
import sys
import types
from typing import Any

import torch

from npulint.fakes.orders import RELEASE
from npulint.fakes.torch import amp, functions, hccl, members, optim, recording, transfer
from npulint.live.torch import device
from npulint.live.torch.composite import Registration
from npulint.live.torch.kernels import Kernels
from npulint.live.torch.recorder import Recorder

_running: list[tuple[Registration, Kernels]] = []


def install(name: str) -> None:
    """Make the module `name`, which is being imported, a fake torch_npu."""
    package = sys.modules[name]
    vars(package)[device.FAKE] = True
    if not _running:
        _open()
    npu = vars(torch)[device.NAME]
    vars(package).update(npu=npu, __version__="2.12.0", **functions.MEMBERS)
    _module(f"{name}.npu", npu)
    _module(f"{name}.npu.amp", npu.amp)
    vars(package)["optim"] = _made(f"{name}.optim", optim.MEMBERS)
    vars(package)["profiler"] = _made(f"{name}.profiler", _profiler())
    vars(package)["contrib"] = _made(f"{name}.contrib", functions.MEMBERS, path=[])
    sys.meta_path.insert(0, _Transfer(name))


def _open() -> None:
    """Register the device with all its kernels until the process ends."""
    device.prepare()
    recorder = Recorder()
    recorder.paused = 1
    release = os.environ.get(RELEASE) or str(torch.__version__).partition("+")[0]
    device.activate(True)
    device.follow(recorder.ledger)
    running = Kernels(recorder)
    _running.append((Registration(running, release), running))
    inner: Any = torch._C
    inner._set_multithreading_enabled(False)
    npu = members.make()
    vars(torch)[device.NAME] = npu
    sys.modules[f"torch.{device.NAME}"] = npu
    vars(npu)["amp"] = _made("torch.npu.amp", amp.MEMBERS)
    hccl.register()


def kernels() -> Kernels:
    """The kernels of the device. Raises `IndexError` before the fake is installed."""
    return _running[0][1]


def recorder() -> Recorder:
    """The recorder of the device, which is paused."""
    return kernels().recorder


def _module(name: str, module: types.ModuleType) -> None:
    sys.modules[name] = module


def _made(name: str, found: dict[str, Any], path: list[str] | None = None) -> types.ModuleType:
    made = types.ModuleType(name)
    vars(made).update(found)
    if path is not None:
        vars(made)["__path__"] = path
    _module(name, made)
    return made


def _profiler() -> dict[str, Any]:
    """The profiler of PyTorch, under the names of torch_npu."""
    found: Any = importlib.import_module("torch.profiler")
    names = "profile schedule tensorboard_trace_handler ProfilerAction".split()
    activity = types.SimpleNamespace(CPU=found.ProfilerActivity.CPU, NPU=found.ProfilerActivity.CPU)
    return {**{name: getattr(found, name) for name in names}, "ProfilerActivity": activity}


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
