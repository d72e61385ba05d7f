"""The backend ``hccl``: gloo on the data of the fake NPU."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist

from npulint.fakes.torch import collective_log, recording
from npulint.live.torch import device

_Group: Any = dist.ProcessGroup
_COLLECTIVES = (
    "allreduce broadcast reduce allreduce_coalesced allgather allgather_coalesced gather scatter _allgather_base "
    "_reduce_scatter_base alltoall_base"
).split()
_RENAMED = {  # names of newer releases
    "all_gather_single": "_allgather_base",
    "reduce_scatter_single": "_reduce_scatter_base",
    "all_to_all_single": "alltoall_base",
}
_LISTED = {  # several tensors at once, which gloo does one by one
    "allgather_into_tensor_coalesced": "_allgather_base",
    "all_gather_single_coalesced": "_allgather_base",
    "reduce_scatter_tensor_coalesced": "_reduce_scatter_base",
    "reduce_scatter_single_coalesced": "_reduce_scatter_base",
}
_BETWEEN_TWO = "send recv recv_anysource".split()
_FLOAT64 = "tensors of float64 have no collective communication on the NPU"
_HOST = "No backend type associated with device type cpu"
_TWICE = "HCCL: ranks {ranks} of the group are on the same device, {device}"
_Work: Any = torch._C._distributed_c10d.Work


joined: list[tuple[int, int]] = []
"""The rank and the size of each group that this process made; the first one is that of all ranks."""


def register() -> None:
    """Make the backend known to ``torch.distributed``."""
    if dist.is_available() and not hasattr(dist.Backend, "HCCL"):
        vars(dist)["is_hccl_available"] = lambda: True
        dist.Backend.register_backend("hccl", _create, extended_api=True, devices=[device.NAME])


def _create(options: Any, more: Any = None) -> Any:
    size = options.group_size
    recording.add("groups", backend="hccl", rank=options.group_rank, size=size)
    joined.append((options.group_rank, size))
    members = tuple(options.global_ranks_in_group) or tuple(range(size))
    return HcclGroup(options.store, options.group_rank, size, options.timeout, (options.group_id, members))


class HcclGroup(_Group):
    """A group whose work gloo does. `group` are its name and its members by their global ranks."""

    def __init__(
        self, store: Any, rank: int, size: int, timeout: timedelta, group: tuple[str, tuple[int, ...]] = ("", ())
    ) -> None:
        super().__init__(rank, size)
        gloo: Any = getattr(dist, "ProcessGroupGloo")  # noqa: B009  not in every build
        self._store = store
        self._gloo = gloo(store, rank, size, timeout)
        self._group = group
        self._placed = size == 1
        self._register_backend(torch.device(device.NAME), _Group.BackendType.CUSTOM, self._gloo)

    def getBackendName(self) -> str:
        """The name that programs ask for."""
        return "hccl"

    def name(self) -> str:
        """The same."""
        return "hccl"

    def called(self, name: str, args: tuple[Any, ...]) -> None:
        """Note a collective; the first one finds out whether each rank has a device of its own."""
        members = self._group[1]
        collective_log.called(self._group[0], members, members[self.rank()], name, args[0] if args else None)
        tensor = _first(args)
        if not self._placed and tensor is not None and tensor.device.type == device.NAME:
            self._placed = True
            self._place(tensor.device.index or 0)

    def _place(self, index: int) -> None:
        self._store.set(f"device/{self.rank()}", str(index))
        every = [int(self._store.get(f"device/{rank}")) for rank in range(self.size())]
        same = [rank for rank, taken in enumerate(every) if taken == index]
        if len(same) > 1:
            raise RuntimeError(_TWICE.format(ranks=" and ".join(map(str, same)), device=f"{device.NAME}:{index}"))

    def held(self, value: Any) -> Any:
        """Tensors of the NPU as those of the host that share their data. Raises `RuntimeError` for others."""
        if isinstance(value, torch.Tensor):
            if value.dtype is torch.float64:
                raise RuntimeError(_FLOAT64)
            if value.device.type == device.NAME:
                return device.held_by(value)
            if not self._serves_host():
                raise RuntimeError(_HOST)
            return value
        return [self.held(member) for member in value] if isinstance(value, (list, tuple)) else value

    def _serves_host(self) -> bool:
        """Whether the program asked for another backend for tensors of the host."""
        settings: Any = dist.distributed_c10d._world.pg_backend_config
        return "cpu:" in str(settings.get(self, ""))

    def barrier(self, opts: Any = None) -> Any:
        """Wait for all."""
        self.called("barrier", ())
        return self._gloo.barrier()

    def reduce_scatter(self, outputs: Any, inputs: Any, opts: Any = None) -> Any:
        """The sum of the tensors of all ranks, each rank its own: gloo has it for one tensor only."""
        self.called("reduce_scatter", (inputs,))
        for out, parts in zip(self.held(outputs), self.held(inputs), strict=True):
            stacked = torch.stack([part.contiguous() for part in parts])
            self._gloo.allreduce([stacked], _reduction(opts)).wait()
            out.copy_(stacked[self.rank()])
        return _Done(outputs)

    def alltoall(self, outputs: Any, inputs: Any, opts: Any = None) -> Any:
        """Each rank gets its part of all: gloo has it for one tensor only."""
        self.called("alltoall", (inputs,))
        outs, parts = self.held(outputs), self.held(inputs)
        sent = torch.cat([part.reshape(-1) for part in parts])
        got: Any = sent.new_empty(sum(out.numel() for out in outs))
        sizes = [out.numel() for out in outs], [part.numel() for part in parts]
        self._gloo.alltoall_base(got, sent, *sizes, dist.AllToAllOptions()).wait()
        for target, piece in zip(outs, got.split(sizes[0]), strict=True):
            target.copy_(piece.view_as(target))
        return _Done(outputs)


class _Done(_Work):
    """Work that is done."""

    def __init__(self, result: Any) -> None:
        super().__init__()
        self._result = result
        self._future: Any = torch.futures.Future()
        self._future.set_result(result)

    def wait(self, timeout: Any = None) -> bool:
        """Nothing is outstanding."""
        return True

    def is_completed(self) -> bool:
        return True

    def is_success(self) -> bool:
        return True

    def result(self) -> Any:
        return self._result

    def get_future(self) -> Any:
        return self._future


def _reduction(opts: Any) -> Any:
    made: Any = dist.AllreduceOptions()
    if opts is not None:
        made.reduceOp = opts.reduceOp
    return made


def _first(values: Any) -> torch.Tensor | None:
    """The first tensor among arguments."""
    for value in values:
        tensor = (
            value if isinstance(value, torch.Tensor) else _first(value) if isinstance(value, (list, tuple)) else None
        )
        if tensor is not None:
            return tensor
    return None


def _forwarded(name: str, collective: bool) -> Any:
    def called(self: HcclGroup, *args: Any) -> Any:
        if collective:
            self.called(name, args)
        return getattr(self._gloo, name)(*map(self.held, args))

    return called


def _one_by_one(name: str) -> Any:
    def called(self: HcclGroup, outputs: Any, inputs: Any, opts: Any = None) -> Any:
        for out, source in zip(outputs, inputs, strict=True):
            getattr(self, name)(out, source, *([] if opts is None else [opts])).wait()
        return _Done(outputs)

    return called


for _name in (*_COLLECTIVES, *_BETWEEN_TWO):
    setattr(HcclGroup, _name, _forwarded(_name, _name in _COLLECTIVES))
for _name, _older in _RENAMED.items():
    setattr(HcclGroup, _name, getattr(HcclGroup, _older))
for _name, _older in _LISTED.items():
    setattr(HcclGroup, _name, _one_by_one(_older))
