"""The backend ``hccl``: gloo on the data of the fake NPU."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist

from npulint.fakes.torch import recording
from npulint.live.torch import device

_Group: Any = dist.ProcessGroup
_FLAT = "allreduce broadcast reduce send recv recv_anysource allreduce_coalesced".split()
_NESTED = "allgather gather scatter reduce_scatter alltoall".split()
_OF_TWO = "_allgather_base _reduce_scatter_base allgather_into_tensor_coalesced alltoall_base".split()
_FLOAT64 = "tensors of float64 have no collective communication on the NPU"


def register() -> None:
    """Make the backend known to ``torch.distributed``."""
    if dist.is_available() and not hasattr(dist.Backend, "HCCL"):
        vars(dist)["is_hccl_available"] = lambda: True
        dist.Backend.register_backend("hccl", _create, devices=[device.NAME, "cpu"])


def _create(store: Any, rank: int, size: int, timeout: timedelta) -> Any:
    recording.add("groups", backend="hccl", rank=rank, size=size)
    return HcclGroup(store, rank, size, timeout)


class HcclGroup(_Group):
    """A group whose work gloo does."""

    def __init__(self, store: Any, rank: int, size: int, timeout: timedelta) -> None:
        super().__init__(rank, size)
        gloo: Any = getattr(dist, "ProcessGroupGloo")  # noqa: B009  not in every build
        self._gloo = gloo(store, rank, size, timeout)

    def getBackendName(self) -> str:
        """The name that programs ask for."""
        return "hccl"

    def barrier(self, opts: Any = None) -> Any:
        """Wait for all."""
        return self._gloo.barrier()


def _forwarded(name: str) -> Any:
    def called(self: HcclGroup, *args: Any) -> Any:
        return getattr(self._gloo, name)(*map(_held, args))

    return called


for _name in (*_FLAT, *_NESTED, *_OF_TWO):
    setattr(HcclGroup, _name, _forwarded(_name))


def _held(value: Any) -> Any:
    """Tensors of the NPU as those of the host that share their data."""
    if isinstance(value, torch.Tensor):
        if value.dtype is torch.float64:
            raise RuntimeError(_FLOAT64)
        return device.held_by(value) if value.device.type == device.NAME else value
    return [_held(one) for one in value] if isinstance(value, (list, tuple)) else value
