"""Matrix products and convolutions in half precision, as the cube unit of an NPU computes them: it adds up in float32
and rounds the result once. CPUs without float16 instructions take about a hundredth of the time this way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

PRODUCTS = frozenset(
    """mm bmm mv dot addmm addmv baddbmm matmul matmul_backward linear linear_backward
    convolution _convolution convolution_backward convolution_overrideable""".split()
)
"""Operators by name without overload; their default overloads."""


def in_float32(op: Any) -> Callable[..., Any]:
    """An operator whose float16 arguments are computed in float32, with results in float16."""

    def compute(*args: Any, **kwargs: Any) -> Any:
        if not any(_is_half(argument) for argument in args):
            return op(*args, **kwargs)
        out = op(*(argument.float() if _is_half(argument) else argument for argument in args), **kwargs)
        return tuple(_rounded(one) for one in out) if isinstance(out, tuple) else _rounded(out)

    return compute


def _is_half(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.dtype is torch.float16


def _rounded(value: Any) -> Any:
    return value.half() if isinstance(value, torch.Tensor) else value
