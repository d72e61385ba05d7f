"""Operators that a step on the NPU reaches and for which the CPU has no kernel, computed from others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

Tensor = torch.Tensor


def _matmul_backward(
    grad: Tensor, left: Tensor, right: Tensor, mask: list[bool]
) -> tuple[Tensor | None, Tensor | None]:
    matrix = left.unsqueeze(0) if left.dim() == 1 else left
    other = right.unsqueeze(-1) if right.dim() == 1 else right
    grad = grad.unsqueeze(-1) if right.dim() == 1 else grad
    grad = grad.unsqueeze(-2) if left.dim() == 1 else grad
    of_left = (grad @ other.mT.conj()).sum_to_size(matrix.shape).reshape(left.shape) if mask[0] else None
    if not mask[1]:
        return of_left, None
    if other.dim() == 2:
        of_right = _rows(matrix).mT.conj() @ _rows(grad)
    else:
        of_right = (matrix.mT.conj() @ grad).sum_to_size(other.shape)
    return of_left, of_right.reshape(right.shape)


def _rows(tensor: Tensor) -> Tensor:
    return tensor.flatten(0, -2) if tensor.dim() > 2 else tensor


def _gates(inputs: Tensor, hidden: Tensor, bias: Tensor | None, other: Tensor | None, parts: int) -> list[Tensor]:
    """The contributions of input and hidden state to each gate."""
    return [
        *(inputs if bias is None else inputs + bias).chunk(parts, 1),
        *(hidden if other is None else hidden + other).chunk(parts, 1),
    ]


def _lstm_cell(
    inputs: Tensor, hidden: Tensor, cell: Tensor, bias: Tensor | None = None, other: Tensor | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    gates = _gates(inputs, hidden, bias, other, 4)
    enter, forget, fresh, leave = (
        from_input + from_hidden for from_input, from_hidden in zip(gates[:4], gates[4:], strict=True)
    )
    enter, forget, fresh, leave = enter.sigmoid(), forget.sigmoid(), fresh.tanh(), leave.sigmoid()
    kept = forget * cell + enter * fresh
    return leave * kept.tanh(), kept, torch.cat([enter, forget, fresh, leave], 1)


def _lstm_cell_backward(
    grad_hidden: Tensor | None, grad_cell: Tensor | None, cell: Tensor, kept: Tensor, workspace: Tensor, has_bias: bool
) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
    if grad_hidden is None and grad_cell is None:
        return None, None, None
    enter, forget, fresh, leave = workspace.chunk(4, 1)
    hidden = torch.zeros_like(cell) if grad_hidden is None else grad_hidden
    shown = kept.tanh()
    through = hidden * leave * (1 - shown * shown) + (0 if grad_cell is None else grad_cell)
    gates = [
        through * fresh * enter * (1 - enter),
        through * cell * forget * (1 - forget),
        through * enter * (1 - fresh * fresh),
        hidden * shown * leave * (1 - leave),
    ]
    grads = torch.cat(gates, 1)
    return grads, through * forget, grads.sum(0) if has_bias else None


def _gru_cell(
    inputs: Tensor, hidden: Tensor, state: Tensor, bias: Tensor | None = None, other: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    gates = _gates(inputs, hidden, bias, other, 3)
    reset = (gates[0] + gates[3]).sigmoid()
    update = (gates[1] + gates[4]).sigmoid()
    fresh = (gates[2] + reset * gates[5]).tanh()
    return (state - fresh) * update + fresh, torch.cat([reset, update, fresh, state, gates[5]], 1)


def gru_cell(
    inputs: Tensor,
    state: Tensor,
    weight: Tensor,
    other_weight: Tensor,
    bias: Tensor | None = None,
    other: Tensor | None = None,
) -> Tensor:
    """The cell computed from its parts, as in versions without a fused kernel."""
    linear = torch.nn.functional.linear
    gates = [*linear(inputs, weight, bias).chunk(3, 1), *linear(state, other_weight, other).chunk(3, 1)]
    reset, update = (gates[0] + gates[3]).sigmoid(), (gates[1] + gates[4]).sigmoid()
    fresh = (gates[2] + gates[5] * reset).tanh()
    return (state - fresh) * update + fresh


def _gru_cell_backward(
    grad: Tensor, workspace: Tensor, has_bias: bool
) -> tuple[Tensor, Tensor, Tensor, Tensor | None, Tensor | None]:
    reset, update, fresh, state, hidden = workspace.chunk(5, 1)
    of_fresh = grad * (1 - update) * (1 - fresh * fresh)
    of_update = grad * (state - fresh) * update * (1 - update)
    of_reset = of_fresh * hidden * reset * (1 - reset)
    inputs = torch.cat([of_reset, of_update, of_fresh], 1)
    hiddens = torch.cat([of_reset, of_update, of_fresh * reset], 1)
    return inputs, hiddens, grad * update, inputs.sum(0) if has_bias else None, hiddens.sum(0) if has_bias else None


def _masked_scale(tensor: Tensor, mask: Tensor, scale: float) -> Tensor:
    return tensor * mask * scale


def _copy_from(source: Tensor, target: Tensor, non_blocking: bool = False) -> Tensor:
    if target.numel() == 0 and source.numel():
        target.resize_(source.shape)
    return target.copy_(source)


def _conv_depthwise(
    tensor: Tensor, weight: Tensor, size: Any, bias: Tensor | None, stride: Any, padding: Any, dilation: Any
) -> Tensor:
    return torch.conv2d(tensor, weight, bias, stride, padding, dilation, groups=tensor.shape[1])


def _of_classes(name: str, place: int) -> Callable[..., Any]:
    """A loss whose classes, at a place of its arguments, may be int32 on an NPU, and not on the CPU."""
    op: Any = getattr(torch.ops.aten, name).default

    def loss(*args: Any, **kwargs: Any) -> Any:
        classes = args[place] if len(args) > place else None
        if isinstance(classes, Tensor) and classes.dtype is torch.int32:
            args = (*args[:place], classes.long(), *args[place + 1 :])
        return op(*args, **kwargs)

    return loss


def _nothing(*gates: Any) -> None:
    """Does nothing: streams do not matter on the CPU."""


LACKING: dict[str, Callable[..., Any]] = {
    "matmul_backward": _matmul_backward,
    "_thnn_fused_lstm_cell": _lstm_cell,
    "_thnn_fused_lstm_cell_backward_impl": _lstm_cell_backward,
    "_thnn_fused_gru_cell": _gru_cell,
    "_thnn_fused_gru_cell_backward": _gru_cell_backward,
    "_masked_scale": _masked_scale,
    "_copy_from": _copy_from,
    "_copy_from_and_resize": _copy_from,
    "_conv_depthwise2d": _conv_depthwise,
    "record_stream": _nothing,
    **{name: _of_classes(name, 1) for name in ("nll_loss_forward", "nll_loss2d_forward", "cross_entropy_loss")},
    **{name: _of_classes(name, 2) for name in ("nll_loss_backward", "nll_loss2d_backward")},
}
"""Kernels by operator name without overload."""
