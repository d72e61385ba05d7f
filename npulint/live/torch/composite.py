"""Composite operators that the NPU runs as a whole, with gradients that torch has no formula for. The gradient is
computed on the CPU from the parts and reported under the name of the operator."""

from __future__ import annotations

from functools import cache, partial
from typing import Any

import torch

from npulint.data.aten import verdict
from npulint.live.torch.device import NAME, held_by, to_device
from npulint.live.torch.fallback_kernels import gru_cell
from npulint.live.torch.kernels import Kernel, Kernels, is_composite, kernel_set, tensors_in
from npulint.live.torch.recorder import op_name

# Sparse tensors of the fake NPU: torch_npu makes and copies them, and has kernels for few operators.

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
        sparse = [
            argument
            for argument in (*args, *kwargs.values())
            if isinstance(argument, torch.Tensor) and argument.is_sparse
        ]
        if base in _HANDLED:
            return op.redispatch(_handling, *args, **kwargs)
        self._kernels.recorder.add(name, sparse)
        if _SPARSE in verdict(_out_of(name), self._release).kernels:
            return self._computed(op, args, kwargs)
        self._kernels.failed = name
        raise NotImplementedError(f"The operator '{op._schema.name}' is not currently supported on the NPU backend.")

    def _computed(self, op: Any, args: Any, kwargs: Any) -> Any:
        out = op(*map(_held, args), **{key: _held(argument) for key, argument in kwargs.items()})
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


# Autocast on the fake NPU: the casts of an autocast region on accelerators.

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


def _castable(argument: Any) -> bool:
    return (
        isinstance(argument, torch.Tensor)
        and not argument.is_cpu
        and argument.is_floating_point()
        and argument.dtype is not torch.float64
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
        ctx.mark_non_differentiable(*(new for new, part in zip(lifted, parts, strict=True) if not part.requires_grad))
        return tuple(lifted) if call.several or isinstance(out, (list, tuple)) else lifted[0]

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor | None) -> Any:
        pairs = [
            (part, held_by(grad))
            for part, grad in zip(ctx.parts, grads, strict=True)
            if grad is not None and part.requires_grad
        ]
        leaves = [tensor for tensor in ctx.held if tensor.requires_grad]
        ctx.call.kernels.recorder.add(ctx.call.name, [grad for _, grad in pairs])
        leaf_gradients = iter(_grads(pairs, leaves))
        gradients = [next(leaf_gradients) if tensor.requires_grad else None for tensor in ctx.held]
        return None, *(None if gradient is None else to_device(gradient) for gradient in gradients)


def _grads(
    pairs: list[tuple[torch.Tensor, torch.Tensor]], leaves: list[torch.Tensor]
) -> tuple[torch.Tensor | None, ...]:
    if not pairs:
        return (None,) * len(leaves)
    outs, grads = zip(*pairs, strict=True)
    return torch.autograd.grad(outs, leaves, grads, retain_graph=True, allow_unused=True)
