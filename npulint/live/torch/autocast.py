"""Autocast on the fake NPU: the casts of an autocast region on accelerators."""

from __future__ import annotations

from functools import cache
from typing import Any

import torch

from npulint.live.torch.device import NAME

_C: Any = torch._C
_has: Any = _C._dispatch_has_kernel_for_dispatch_key
_LOW = frozenset(
    """_convolution conv1d conv2d conv3d conv_tbc conv_transpose1d conv_transpose2d conv_transpose3d convolution
    prelu addmm addmv addr matmul einsum mm mv linalg_vecdot linear addbmm baddbmm bmm chain_matmul linalg_multi_dot
    _thnn_fused_lstm_cell _thnn_fused_gru_cell lstm_cell gru_cell rnn_tanh_cell rnn_relu_cell
    _scaled_dot_product_flash_attention scaled_dot_product_attention""".split()
)
"""Operators cast to the type of the region."""
_WIDEST = frozenset(
    "addcdiv addcmul atan2 bilinear cross dot vdot grid_sampler index_put tensordot scatter_add cat stack".split()
)
"""Operators cast to the widest type among their inputs; all others that are cast at all do in float32."""


@cache
def casting_kernels() -> list[tuple[Any, Any]]:
    """The operators that an autocast region casts, with kernels that do it."""
    kernels = []
    for name in sorted(_C._dispatch_get_all_op_names()):
        if name.startswith("aten::") and _has(name, "AutocastCUDA"):
            base, _, overload = name.removeprefix("aten::").partition(".")
            op = getattr(getattr(torch.ops.aten, base, None), overload or "default", None)
            if op is not None:
                kernels.append((op, _kernel(op, base)))
    return kernels


def _kernel(op: Any, base: str) -> Any:
    key = _C.DispatchKey.AutocastPrivateUse1

    def kernel(*args: Any, **kwargs: Any) -> Any:
        if base in _LOW:
            dtype = torch.get_autocast_dtype(NAME)
        else:
            dtype = _widest((*args, *kwargs.values())) if base in _WIDEST else torch.float32
        with _C._ExcludeDispatchKeyGuard(_C.DispatchKeySet(key)):
            return op(*_cast(args, dtype), **dict(zip(kwargs, _cast(kwargs.values(), dtype), strict=True)))

    return kernel


def _castable(one: Any) -> bool:
    return (
        isinstance(one, torch.Tensor) and not one.is_cpu and one.is_floating_point() and one.dtype is not torch.float64
    )


def _widest(values: Any) -> torch.dtype:
    wide = torch.get_autocast_dtype(NAME)
    for value in values:
        inner = _widest(value) if isinstance(value, (list, tuple)) else value.dtype if _castable(value) else wide
        wide = torch.float32 if inner is torch.float32 else wide
    return wide


def _cast(values: Any, dtype: torch.dtype) -> list[Any]:
    return [
        value.to(dtype)
        if _castable(value) and value.dtype is not dtype
        else _cast(value, dtype)
        if isinstance(value, (list, tuple))
        else value
        for value in values
    ]
