"""What programs do to the storages of the NPU that PyTorch refuses for devices made in Python: FSDP frees and restores
them, and parameters move to the NPU by their ``data``."""

from __future__ import annotations

from typing import Any

import torch

from npulint.live.torch import device

_Base: Any = torch._C.StorageBase
_data: Any = torch._C.TensorBase.data
_compatible: Any = torch._has_compatible_shallow_copy_type


def apply() -> None:
    """Let storages of the NPU be resized, and ``tensor.data`` be set to a tensor of another device. Modules then keep
    their parameters when they move, as with torch_npu (its ``HasCompatibleShallowCopyType.cpp``): an optimizer that was
    created before has them still."""
    storages: Any = torch.UntypedStorage
    storages.resize_, storages.nbytes, storages.size = _resize, _nbytes, _nbytes
    tensor: Any = torch.Tensor
    tensor.data = property(_data.__get__, _set_data)
    tensor.record_stream = _record_stream
    namespace: Any = torch
    namespace._has_compatible_shallow_copy_type = _are_compatible


def _resize(self: Any, size: int) -> Any:
    """The memory stays: only its size is another, and at most what it was."""
    if self.device.type != device.NAME:
        return _Base.resize_(self, size)
    if size > _Base.nbytes(self):
        raise NotImplementedError("the fake NPU does not enlarge storages")
    self.resized = size
    return self


def _are_compatible(input: torch.Tensor, from_: torch.Tensor) -> bool:
    """Whether one tensor can take over the storage of another: both are dense, of the host or of the NPU. The names are
    those of the original, which torch.compile compares."""
    dense = all(
        tensor.layout == torch.strided and tensor.device.type in ("cpu", device.NAME) for tensor in (input, from_)
    )
    return dense or _compatible(input, from_)


def _record_stream(self: torch.Tensor, stream: Any) -> None:
    """Does nothing: all work is synchronous."""


def _nbytes(self: Any) -> int:
    size = getattr(self, "resized", None)
    return int(_Base.nbytes(self) if size is None else size)


def _set_data(self: torch.Tensor, new: torch.Tensor) -> None:
    if new.device.type == self.device.type or device.NAME not in (new.device.type, self.device.type):
        _data.__set__(self, new)
        return
    with torch.no_grad():
        made = new.detach()
        if isinstance(self, torch.nn.Parameter):
            made = torch.nn.Parameter(made, self.requires_grad)
        elif self.requires_grad:
            made.requires_grad_()
    swap: Any = torch.utils.swap_tensors
    swap(self, made)
