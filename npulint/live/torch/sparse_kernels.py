"""Sparse tensors of the fake NPU: torch_npu makes and copies them, and has kernels for few operators."""

from __future__ import annotations

from functools import partial
from typing import Any

import torch

from npulint.data.aten import verdict
from npulint.live.torch.device import NAME, held_by, to_device
from npulint.live.torch.kernels import Kernels
from npulint.live.torch.recorder import op_name

_C: Any = torch._C
_handling: Any = _C.DispatchKeySet(_C.DispatchKey.SparseCPU)
"""Kernels of the CPU that only handle indices and values do so for any device."""
_DEFAULTS = "clone is_coalesced sparse_dim dense_dim values indices".split()
"""Those of them for which PyTorch has defaults that refuse other devices."""
_HANDLED = frozenset(
    "_sparse_coo_tensor_with_dims_and_tensors _sparse_coo_tensor_with_dims _indices _values indices values "
    "is_coalesced _coalesced_ sparse_dim dense_dim _nnz _dimI _dimV sparse_resize_ sparse_resize_and_clear_ empty "
    "clone detach copy_sparse_to_sparse_ _to_copy resize_as_sparse_".split()
)
_SPARSE = "sparse"


class SparseKernels:
    """The operators of sparse tensors for a version."""

    def __init__(self, kernels: Kernels, release: str) -> None:
        self._kernels = kernels
        self._release = release

    def register(self, own: Any, boxed: Any) -> None:
        """Register the kernels in libraries of single operators and of all others."""
        boxed.fallback(self.boxed, "SparsePrivateUse1")
        for name in _DEFAULTS:
            own.impl(name, partial(self.boxed, getattr(torch.ops.aten, name).default), "SparsePrivateUse1")

    def boxed(self, op: Any, *args: Any, **kwargs: Any) -> Any:
        """Run an operator on sparse tensors. Raises `NotImplementedError`, as torch_npu does, where it has no kernel
        for these."""
        name, base = op_name(op), op._schema.name.partition("::")[2]
        sparse = [one for one in (*args, *kwargs.values()) if isinstance(one, torch.Tensor) and one.is_sparse]
        if base in _HANDLED:
            return op.redispatch(_handling, *args, **kwargs)
        self._kernels.recorder.add(name, sparse)
        if _SPARSE in verdict(_out_of(name), self._release).kernels:
            return self._computed(op, args, kwargs)
        self._kernels.failed = name
        raise NotImplementedError(f"The operator '{op._schema.name}' is not currently supported on the NPU backend.")

    def _computed(self, op: Any, args: Any, kwargs: Any) -> Any:
        out = op(*map(_held, args), **{key: _held(one) for key, one in kwargs.items()})
        if op._schema.name.endswith("_") and isinstance(args[0], torch.Tensor) and not args[0].is_sparse:
            return args[0]  # what it holds has changed
        return _lifted(out)


def _out_of(name: str) -> str:
    """The overload that a verdict about sparse layouts stands at."""
    base = name.split(".")[1]
    return f"aten.{base.rstrip('_')}.out" if base.rstrip("_") in ("add", "mul") else f"aten.{base}.default"


def _held(value: Any) -> Any:
    if not isinstance(value, torch.Tensor) or value.is_cpu:
        return torch.device("cpu") if isinstance(value, torch.device) and value.type == NAME else value
    if not value.is_sparse:
        return held_by(value)
    parts = held_by(value._indices()), held_by(value._values())
    return torch.sparse_coo_tensor(*parts, value.shape, is_coalesced=value.is_coalesced(), check_invariants=False)


def _lifted(out: Any) -> Any:
    if not isinstance(out, torch.Tensor):
        return out
    if not out.is_sparse:
        return to_device(out)
    parts = to_device(out._indices()), to_device(out._values())
    made: Any = torch.sparse_coo_tensor(*parts, out.shape, check_invariants=False)
    return made._coalesced_(out.is_coalesced())
