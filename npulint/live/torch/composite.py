"""Composite operators that the NPU runs as a whole, with gradients that torch has no formula for. The gradient is
computed on the CPU from the parts and reported under the name of the operator."""

from __future__ import annotations

from typing import Any

import torch

from npulint.live.torch.autocast import casting_kernels
from npulint.live.torch.device import held_by, to_device
from npulint.live.torch.fallback_kernels import gru_cell
from npulint.live.torch.kernels import Kernel, Kernels, is_composite, kernel_set, tensors_in
from npulint.live.torch.recorder import op_name
from npulint.live.torch.sparse_kernels import SparseKernels

_C: Any = torch._C
_Library: Any = torch.library.Library
_Function: Any = torch.autograd.Function
_below: Any = _C._AutoDispatchBelowAutograd


class Registration:
    """The kernels of the fake NPU for a version, registered with the dispatcher until `end`."""

    def __init__(self, kernels: Kernels, release: str) -> None:
        self._boxed = _Library("_", "IMPL")
        self._own = _Library("aten", "IMPL")
        self._boxed.fallback(kernels.boxed, "PrivateUse1")
        SparseKernels(kernels, release).register(self._own, self._boxed)
        for op in kernel_set(release):
            kernel = kernels.of(op) if op is not torch.ops.aten.convolution.default else _convolution(kernels.of(op))
            self._own.impl(op, kernel, "PrivateUse1")
            if is_composite(op):
                self._own.impl(op, _whole(op, kernel, kernels), "AutogradPrivateUse1")

        if torch.ops.aten._thnn_fused_gru_cell.default not in kernel_set(release):
            for key in ("AutogradPrivateUse1", "PrivateUse1"):
                self._own.impl("gru_cell", gru_cell, key)
        self._boxed.fallback(torch.library.fallthrough_kernel, "AutocastPrivateUse1")
        for op, kernel in casting_kernels():
            self._own.impl(op, kernel, "AutocastPrivateUse1")

    def end(self) -> None:
        """Unregister the kernels."""
        self._own._destroy()
        self._boxed._destroy()


def _convolution(kernel: Kernel) -> Kernel:
    """A kernel that the tracer of torch.jit can follow: it records the operator that computes a convolution, not the
    convolution."""
    computing = torch.ops.aten._convolution.default

    def traced(*args: Any, **kwargs: Any) -> Any:
        if _C._get_tracing_state() is None:
            return kernel(*args, **kwargs)
        return computing(*args, False, False, True, True, **kwargs)

    return traced


def _whole(op: Any, kernel: Kernel, kernels: Kernels) -> Kernel:
    """A kernel above autograd that treats the operator as a whole."""
    changes = any(argument.alias_info is not None and argument.alias_info.is_write for argument in op._schema.arguments)
    is_contiguous = op._schema.name == "aten::contiguous"
    composite = _C.DispatchKey.CompositeImplicitAutograd

    def differentiated(*args: Any, **kwargs: Any) -> Any:
        if _C._get_tracing_state() is not None:  # the tracer of torch.jit knows the parts only
            return op._op_dk(composite, *args, **kwargs)
        tensors = list(tensors_in((*args, *kwargs.values())))
        if not (torch.is_grad_enabled() and any(tensor.requires_grad for tensor in tensors)):
            with _below():
                return kernel(*args, **kwargs)
        if changes or (is_contiguous and args[0].is_contiguous(**_format(args, kwargs))):
            return op._op_dk(composite, *args, **kwargs)
        return _CompositeFunction.apply(_Call(op, args, kwargs, kernels), *tensors)

    return differentiated


def _format(args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """The memory format requested from `contiguous`."""
    return {"memory_format": args[1]} if len(args) > 1 else kwargs


class _Call:
    """An operator call whose tensor arguments can be replaced in order."""

    def __init__(self, op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], kernels: Kernels) -> None:
        self.op, self.args, self.kwargs, self.kernels = op, args, kwargs, kernels
        self.name = op_name(op)
        self.several = len(op._schema.returns) > 1

    def on(self, tensors: list[torch.Tensor]) -> Any:
        """The result for other tensors."""
        left = iter(tensors)
        return self.op(*_put(self.args, left), **dict(zip(self.kwargs, _put(self.kwargs.values(), left), strict=True)))


def _put(tensors: Any, left: Any) -> list[Any]:
    return [
        next(left)
        if isinstance(tensor, torch.Tensor)
        else _put(tensor, left)
        if isinstance(tensor, (list, tuple))
        else tensor
        for tensor in tensors
    ]


class _CompositeFunction(_Function):
    """A composite as one autograd function: its parts and their gradients run on the CPU."""

    @staticmethod
    def forward(ctx: Any, call: _Call, *tensors: torch.Tensor) -> Any:
        held = [
            (tensor if tensor.is_cpu else held_by(tensor)).detach().requires_grad_(tensor.requires_grad)
            for tensor in tensors
        ]
        recorder = call.kernels.recorder
        site, phase = recorder.sites.here()  # the parts create their own nodes
        with torch.enable_grad():
            out = call.on(held)
        parts = list(out) if call.several or isinstance(out, (list, tuple)) else [out]
        recorder.put(call.name, parts, site, phase)
        ctx.held, ctx.parts, ctx.call = held, parts, call
        lifted = [to_device(part.detach()) for part in parts]
        ctx.mark_non_differentiable(*(new for new, one in zip(lifted, parts, strict=True) if not one.requires_grad))
        return tuple(lifted) if call.several or isinstance(out, (list, tuple)) else lifted[0]

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor | None) -> Any:
        pairs = [
            (part, held_by(grad))
            for part, grad in zip(ctx.parts, grads, strict=True)
            if grad is not None and part.requires_grad
        ]
        leaves = [one for one in ctx.held if one.requires_grad]
        ctx.call.kernels.recorder.add(ctx.call.name, [grad for _, grad in pairs])
        found = iter(_grads(pairs, leaves))
        gradients = [next(found) if one.requires_grad else None for one in ctx.held]
        return None, *(None if gradient is None else to_device(gradient) for gradient in gradients)


def _grads(
    pairs: list[tuple[torch.Tensor, torch.Tensor]], leaves: list[torch.Tensor]
) -> tuple[torch.Tensor | None, ...]:
    if not pairs:
        return (None,) * len(leaves)
    outs, grads = zip(*pairs, strict=True)
    return torch.autograd.grad(outs, leaves, grads, retain_graph=True, allow_unused=True)
