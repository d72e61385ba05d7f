"""Runs programs with a torch that takes the CPU for every device: ``python torch_stand_in.py < jobs.json``.

A job is ``{"files": {name: text}, "entry": name}``; the answer to each is ``{"error": text, "numbers": {name: list}}``:
what the entry's namespace holds when it has come to its end. CUDA, the NPU and torch_npu are stood in for, so that a
program and its port to the NPU can be compared where there is neither.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
import re
import sys
import tempfile
import types
import warnings
from typing import Any

import torch
from torch import nn
from torch.overrides import TorchFunctionMode
from torch.utils import backend_registration

_ACCELERATORS = ("cuda", "npu")
_NOTHING = (
    "synchronize empty_cache manual_seed manual_seed_all seed seed_all set_device init ipc_collect "
    "reset_peak_memory_stats reset_max_memory_allocated set_per_process_memory_fraction"
).split()
_ZERO = "current_device memory_allocated max_memory_allocated memory_reserved max_memory_reserved memory_cached".split()
_TYPES = "FloatTensor DoubleTensor HalfTensor LongTensor IntTensor ShortTensor ByteTensor CharTensor BoolTensor".split()


class Host(TorchFunctionMode):
    """Whatever asks for a device gets the CPU."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """The function with the devices among its arguments replaced."""
        if getattr(func, "__name__", "") == "cuda":
            return args[0]
        return func(*(_on_host(one) for one in args), **{name: _on_host(one) for name, one in (kwargs or {}).items()})


def _on_host(value: Any) -> Any:
    if isinstance(value, torch.device):
        return torch.device("cpu") if value.type in _ACCELERATORS else value
    return "cpu" if isinstance(value, str) and value.partition(":")[0] in _ACCELERATORS else value


class _Autocast(contextlib.ContextDecorator):
    """Mixed precision that changes nothing: rounding is not what is compared."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.received = args, kwargs

    def __enter__(self) -> _Autocast:
        return self

    def __exit__(self, *raised: object) -> None:
        return None


class _Scaler(torch.amp.GradScaler):
    """The scaler of the CPU. As that of the NPU it takes a fifth positional argument for another one."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if any(isinstance(one, str) for one in args):
            raise TypeError("the scaler takes no device")
        kwargs.pop("dynamic", None)
        super().__init__("cpu", *args[:4], **kwargs)


def _casting(function: Any = None, *, cast_inputs: Any = None) -> Any:
    """``custom_fwd`` and ``custom_bwd``: decorators with and without arguments, which here change nothing."""
    return _casting if function is None else function


class _Stream:
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.received = args, kwargs

    def __enter__(self) -> _Stream:
        return self

    def __exit__(self, *raised: object) -> None:
        return None

    def __getattr__(self, name: str) -> Any:
        return lambda *args, **kwargs: 0.0


def _members() -> dict[str, Any]:
    """A stand-in for the members of torch.cuda and torch.npu."""
    members: dict[str, Any] = {name: _answering(None) for name in _NOTHING}
    members |= {name: _answering(0) for name in _ZERO}
    members |= {name: getattr(torch, name) for name in _TYPES}
    members |= {
        "is_available": lambda: True,
        "is_bf16_supported": lambda: True,
        "device_count": lambda: 1,
        "get_device_name": lambda *a: "device",
    }
    members |= {"Stream": _Stream, "Event": _Stream, "stream": _Stream, "device": _Stream}
    return members


def _answering(value: Any) -> Any:
    """A separate function for each name, since torch compares them."""
    return lambda *args, **kwargs: value


def _module(name: str, **members: Any) -> types.ModuleType:
    found = types.ModuleType(name)
    vars(found).update(members)
    sys.modules[name] = found
    return found


def stand_in() -> None:
    """Replace CUDA and the NPU. The NPU has no member that is not named here: what else is called fails."""
    backend_registration.rename_privateuse1_backend("npu")
    scaling: dict[str, Any] = {
        "autocast": _Autocast,
        "GradScaler": _Scaler,
        "custom_fwd": _casting,
        "custom_bwd": _casting,
    }
    _give(torch.cuda, **_members())
    _give(torch.cuda.amp, **scaling)
    amp = _module("torch.npu.amp", **scaling)
    matmul, conv = types.SimpleNamespace(allow_hf32=False), types.SimpleNamespace(allow_hf32=True)
    torch.version.cuda = "12.4"
    npu = _module("torch.npu", **_members(), amp=amp, matmul=matmul, conv=conv)
    _give(torch, npu=npu, autocast=_Autocast)
    _give(torch.amp, autocast=_Autocast)
    adapter = _module("torch_npu", npu=npu, __path__=[])
    sys.modules["torch_npu.npu"] = npu
    sys.modules["torch_npu.npu.amp"] = amp
    _module("accelerate", Accelerator=lambda *args, **kwargs: types.SimpleNamespace(device=torch.device("npu")))
    transfer = _module("torch_npu.contrib.transfer_to_npu")
    _give(adapter, contrib=_module("torch_npu.contrib", transfer_to_npu=transfer))
    _give(
        torch.distributed,
        is_hccl_available=torch.distributed.is_nccl_available,
        init_process_group=_answering(None),
        new_group=_answering(None),
        get_backend=_answering("gloo"),
        all_reduce=_answering(None),
    )
    for kind in (torch.Tensor, nn.Module, torch.UntypedStorage, torch.TypedStorage):
        _give(kind, npu=_itself, cuda=_itself)
    _give(torch.Tensor, is_npu=property(lambda self: False))


def _give(owner: object, **members: Any) -> None:
    for name, member in members.items():
        setattr(owner, name, member)


def _itself(held: object, *args: object, **kwargs: object) -> object:
    return held


def _loader(text: str) -> list[Any]:
    """Batches for the examples that do not say where they come from."""
    inputs = int((re.findall(r"Linear\((\d+)", text) or ["4"])[0])
    batches = [(torch.rand(4, inputs, requires_grad=True), torch.rand(4, 4)) for _ in range(3)]
    return batches if "x, y in loader" in text else [x for x, _ in batches]


def _numbers(namespace: dict[str, Any]) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for name, value in namespace.items():
        if isinstance(value, nn.Module):
            tensors = [one.detach().flatten() for one in value.state_dict().values()]
            found[name] = torch.cat(tensors).double().tolist() if tensors else []
        elif isinstance(value, torch.Tensor):
            found[name] = value.detach().flatten().double().tolist()
        elif isinstance(value, int | float):
            found[name] = [float(value)]
    return found


def run(files: dict[str, str], entry: str) -> dict[str, Any]:
    """The answer to one job."""
    known = set(sys.modules)
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            os.makedirs(os.path.dirname(os.path.join(folder, name)) or folder, exist_ok=True)
            with open(os.path.join(folder, name), "w", encoding="utf-8") as out:
                out.write(text)
        sys.path.insert(0, folder)
        sys.argv[:] = [entry]
        torch.manual_seed(1)
        random.seed(1)
        text = files[entry]
        namespace = {"__name__": "__main__", "loader": _loader(text), "criterion": nn.functional.mse_loss}
        try:
            with contextlib.redirect_stdout(io.StringIO()), Host():
                exec(compile(text, entry, "exec"), namespace)
        except BaseException as error:  # also what ends the interpreter: the next job goes on
            return {"error": f"{type(error).__name__}: {error}"[:200], "numbers": {}}
        finally:
            sys.path.remove(folder)
            for name in set(sys.modules) - known:
                if os.path.dirname(getattr(sys.modules[name], "__file__", None) or "").startswith(folder):
                    del sys.modules[name]
        return {"error": "", "numbers": _numbers(namespace)}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    stand_in()
    json.dump([run(job["files"], job["entry"]) for job in json.load(sys.stdin)], sys.stdout)
