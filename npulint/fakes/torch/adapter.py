"""``torch_npu`` itself: puts the fake NPU into the process and the names of the plugin into its modules."""

from __future__ import annotations

import importlib
import os
import sys
import types
from typing import Any

import torch

from npulint.fakes.orders import DEVICES, RELEASE
from npulint.fakes.torch import (
    amp,
    contrib,
    functions,
    hccl,
    joining,
    known_names,
    members,
    optim,
    profiler,
    recording,
    registered,
    storages,
    transfer,
    unnumbered,
)
from npulint.live.torch import device
from npulint.live.torch.composite import Registration
from npulint.live.torch.kernels import Kernels
from npulint.live.torch.recorder import Recorder


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
    vars(package)["__getattr__"] = known_names.answering(name)
    vars(package)["contrib"] = _made(f"{name}.contrib", contrib.members(), path=[])
    for part in ("module", "function"):
        setattr(vars(package)["contrib"], part, _made(f"{name}.contrib.{part}", contrib.members()))
    sys.meta_path.insert(0, _Transfer(name))
    if first:
        joining.join()


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
    vars(npu)["amp"] = _made("torch.npu.amp", amp.MEMBERS)
    unnumbered.apply()
    storages.apply()
    hccl.register()


def _number(variable: str) -> int:
    """The number in a variable of the environment, at least 1."""
    value = os.environ.get(variable, "")
    return max(1, int(value)) if value.isdigit() else 1


def _module(name: str, module: types.ModuleType) -> None:
    sys.modules[name] = module


def _made(name: str, found: dict[str, Any], path: list[str] | None = None) -> types.ModuleType:
    made = types.ModuleType(name)
    vars(made).update(found)
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
