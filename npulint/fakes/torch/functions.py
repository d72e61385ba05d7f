"""Operators of torch_npu, computed by those of PyTorch."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch.nn import functional as F

Tensor = torch.Tensor


def npu_format_cast(tensor: Tensor, acl_format: int) -> Tensor:
    """The tensor itself: its layout on the host is one only."""
    return tensor


def get_npu_format(tensor: Tensor) -> int:
    """ND."""
    return 2


def npu_rms_norm(inputs: Tensor, gamma: Tensor, epsilon: float = 1e-6) -> tuple[Tensor, Tensor]:
    """The normalised tensor, and what it was multiplied by."""
    factor = torch.rsqrt(inputs.float().pow(2).mean(-1, keepdim=True) + epsilon)
    return (inputs * factor).to(inputs.dtype) * gamma, factor


def npu_fusion_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    head_num: int,
    input_layout: str,
    pse: Tensor | None = None,
    padding_mask: Tensor | None = None,
    atten_mask: Tensor | None = None,
    scale: float = 1.0,
    keep_prob: float = 1.0,
    pre_tockens: int = 2147483647,
    next_tockens: int = 2147483647,
    **more: Any,
) -> tuple[Any, ...]:
    """Attention; a true element of the mask leaves out, and `scale` is 1 unless given."""
    heads = [_heads(tensor, head_num, input_layout) for tensor in (query, key, value)]
    scores = torch.matmul(heads[0], heads[1].transpose(-1, -2)) * scale
    if pse is not None:
        scores = scores + pse
    if atten_mask is not None:
        mask = _compressed(scores, atten_mask) if more.get("sparse_mode") in (2, 3) else atten_mask
        scores = scores.masked_fill(mask.bool(), -math.inf)
    weights = F.dropout(torch.softmax(scores, -1), 1.0 - keep_prob) if keep_prob < 1 else torch.softmax(scores, -1)
    out = torch.matmul(weights, heads[2])
    return _back(out, input_layout), None, None, None, 0, 0, 0


def _compressed(scores: Tensor, mask: Tensor) -> Tensor:
    rows, columns = scores.shape[-2:]
    return torch.triu(torch.ones(rows, columns, device=mask.device), 1 + columns - rows)


def _heads(tensor: Tensor, count: int, layout: str) -> Tensor:
    """A tensor as batch, heads, positions, width."""
    if layout == "BNSD":
        return tensor
    if layout == "BSND":
        return tensor.transpose(1, 2)
    if layout == "SBH":
        tensor = tensor.transpose(0, 1)
    elif layout != "BSH":
        raise ValueError(f"input_layout {layout!r} is none of BSH, SBH, BSND, BNSD")
    return tensor.reshape(*tensor.shape[:-1], count, -1).transpose(1, 2)


def _back(out: Tensor, layout: str) -> Tensor:
    if layout == "BNSD":
        return out
    out = out.transpose(1, 2)
    if layout == "BSND":
        return out
    out = out.flatten(2)
    return out.transpose(0, 1) if layout == "SBH" else out


def npu_bmmV2(self: Tensor, mat2: Tensor, output_sizes: Any) -> Tensor:
    """A product of batches of matrices."""
    return torch.matmul(self, mat2)


def npu_linear(inputs: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """A linear layer."""
    return F.linear(inputs, weight, bias)


def npu_fast_gelu(self: Tensor) -> Tensor:
    """The approximation of GELU by a sigmoid."""
    return self * torch.sigmoid(1.702 * self)


def npu_swiglu(self: Tensor, dim: int = -1) -> Tensor:
    """SwiGLU of two halves."""
    first, other = self.chunk(2, dim)
    return F.silu(first) * other


def npu_rotary_mul(inputs: Tensor, r1: Tensor, r2: Tensor) -> Tensor:
    """Rotary position embedding: `r1` are the cosines, `r2` the sines."""
    first, other = inputs.chunk(2, -1)
    return inputs * r1 + torch.cat((-other, first), -1) * r2


def npu_reshape(self: Tensor, shape: Any, can_refresh: bool = False) -> Tensor:
    """Another shape."""
    return self.reshape(tuple(shape))


def npu_dtype_cast(self: Tensor, dtype: torch.dtype) -> Tensor:
    """Another element type."""
    return self.to(dtype)


def npu_confusion_transpose(self: Tensor, perm: Any, shape: Any, transpose_first: bool) -> Tensor:
    """A transposition and another shape, in either order."""
    if transpose_first:
        return self.permute(*perm).reshape(tuple(shape))
    return self.reshape(tuple(shape)).permute(*perm)


def one_(self: Tensor) -> Tensor:
    """Fill with ones."""
    return self.fill_(1)


def npu_one_hot(
    self: Tensor, num_classes: int = -1, depth: int = 1, on_value: float = 1, off_value: float = 0
) -> Tensor:
    """One-hot rows of float32."""
    wide = F.one_hot(self.long(), depth).float()
    return wide * on_value + (1 - wide) * off_value


def npu_scaled_masked_softmax(x: Tensor, mask: Tensor, scale: Any = 1.0, fixed_triu_mask: bool = False) -> Tensor:
    """Softmax of scaled scores; a true element of the mask leaves out."""
    if fixed_triu_mask:
        mask = torch.triu(torch.ones(x.shape[-2:], device=x.device), 1)
    return torch.softmax((x * scale).masked_fill(mask.bool(), -10000.0), -1)


def npu_mish(self: Tensor) -> Tensor:
    """Mish."""
    return F.mish(self)


def npu_silu(self: Tensor) -> Tensor:
    """SiLU."""
    return F.silu(self)


def npu_gelu(self: Tensor, approximate: str = "none") -> Tensor:
    """GELU."""
    return F.gelu(self, approximate=approximate)


def npu_geglu(self: Tensor, dim: int = -1, approximate: int = 1, activate_left: bool = False) -> tuple[Tensor, Tensor]:
    """GEGLU of two halves, and the GELU of the one."""
    first, other = self.chunk(2, dim)
    left, right = (first, other) if activate_left else (other, first)
    gelu = F.gelu(left, approximate="tanh" if approximate else "none")
    return gelu * right, gelu


def npu_add_rms_norm(x1: Tensor, x2: Tensor, gamma: Tensor, epsilon: float = 1e-6) -> tuple[Tensor, Tensor, Tensor]:
    """The normalised sum, what it was multiplied by, and the sum."""
    total = x1 + x2
    return (*npu_rms_norm(total, gamma, epsilon), total)


def npu_max(self: Tensor, dim: int, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    """The largest elements and their positions."""
    values, indices = torch.max(self, dim, keepdim)
    return values, indices.int()


def npu_min(self: Tensor, dim: int, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    """The smallest elements and their positions."""
    values, indices = torch.min(self, dim, keepdim)
    return values, indices.int()


def npu_transpose(self: Tensor, perm: Any, require_contiguous: bool = True) -> Tensor:
    """A permutation."""
    return self.permute(*perm).contiguous()


def npu_broadcast(self: Tensor, size: Any) -> Tensor:
    """Another size."""
    return self.expand(tuple(size)).contiguous()


def npu_softmax_cross_entropy_with_logits(features: Tensor, labels: Tensor) -> Tensor:
    """The loss of each row for probabilities as labels."""
    return -(labels * F.log_softmax(features, -1)).sum(-1)


MEMBERS: dict[str, Any] = {
    **{
        function.__name__: function
        for function in (npu_format_cast, get_npu_format, npu_rms_norm, npu_fusion_attention)
    },
    **{function.__name__: function for function in (npu_bmmV2, npu_linear, npu_fast_gelu, npu_swiglu, npu_rotary_mul)},
    **{function.__name__: function for function in (npu_reshape, npu_dtype_cast, npu_confusion_transpose, one_)},
    **{
        function.__name__: function
        for function in (npu_one_hot, npu_scaled_masked_softmax, npu_mish, npu_silu, npu_gelu, npu_geglu)
    },
    **{function.__name__: function for function in (npu_add_rms_norm, npu_max, npu_min, npu_transpose, npu_broadcast)},
    "npu_softmax_cross_entropy_with_logits": npu_softmax_cross_entropy_with_logits,
    "fast_gelu": npu_fast_gelu,
}
