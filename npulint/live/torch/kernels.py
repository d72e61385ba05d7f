"""Runs the operators of the fake NPU on the CPU and records them.

The kernels of a torch_npu version are registered one by one, so that the dispatcher decomposes operators exactly as on
an NPU; operators without a kernel reach a boxed kernel, as they fall back to the CPU there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from typing import Any

import torch

from npulint.data.aten import verdict
from npulint.live.torch import device
from npulint.live.torch.device import held_by, numbers, renew, to_device, viewed
from npulint.live.torch.fallback_kernels import LACKING
from npulint.live.torch.recorder import KEY_ARGS, TO_CPU, KeyArgs, Recorder, op_name
from npulint.live.torch.session import FakeNpuError

# Matrix products and convolutions in half precision, as the cube unit of an NPU computes them: it adds up in float32
# and rounds the result once. CPUs without float16 instructions take about a hundredth of the time this way.

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
        return tuple(_rounded(part) for part in out) if isinstance(out, tuple) else _rounded(out)

    return compute


def _is_half(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.dtype is torch.float16


def _rounded(value: Any) -> Any:
    return value.half() if isinstance(value, torch.Tensor) else value


_C: Any = torch._C
_has: Any = _C._dispatch_has_kernel_for_dispatch_key
_FRESH, _VIEW, _SAME = range(3)
_MIXING = tuple("copy index foreach fused set_ pin_memory pack_padded pad_packed lstm gru rnn ctc_loss".split())
_NUMBERS = frozenset(part + end for part in "add sub mul div true_divide floor_divide".split() for end in ("", "_"))
"""Operators that convert plain numbers to tensors themselves."""
_WITH = {"_thnn_fused_gru_cell_backward": "_thnn_fused_gru_cell"}
"""Gradients that an NPU computes with the kernel of the operator itself."""
_HOSTED = {"_pack_padded_sequence": 1}  # index of the result that stays on the host
_NATIVE = frozenset(
    "as_strided as_strided_ view _reshape_alias view_as_real view_as_complex set_ alias is_set_to".split()
)
_CPU = torch.device("cpu")

Kernel = Callable[..., Any]


class KernelPlan:
    """How to run one operator: the arguments it writes to, and what its results are."""

    __slots__ = (
        "compute",
        "device",
        "hosted",
        "mixing",
        "name",
        "native",
        "plain",
        "read_key_args",
        "results",
        "scalars",
        "writes",
    )

    def __init__(self, op: Any) -> None:
        schema = op._schema
        base = schema.name.partition("::")[2]
        self.name = op_name(op) if base not in _WITH else f"aten.{_WITH[base]}.default"
        self.read_key_args = KEY_ARGS.get(base)
        self.compute = LACKING.get(base, op)
        if base in PRODUCTS and op._schema.overload_name == "":
            self.compute = in_float32(self.compute)
        self.native = op.redispatch if base in _NATIVE and not schema.name.startswith("prim") else None
        self.mixing = base.lstrip("_").startswith(_MIXING) or "copy" in base
        self.hosted = _HOSTED.get(base, -1)
        names = [argument.name for argument in schema.arguments]
        self.scalars = (
            [] if base in _NUMBERS else [n for n, argument in enumerate(schema.arguments) if _is_tensor(argument)]
        )
        self.device = "device" in names
        spots = {_alias(argument): place for place, argument in enumerate(schema.arguments) if _writes(argument)}
        self.writes = [(place, names[place]) for place in spots.values()]
        self.results = [_result(returned, spots, names) for returned in schema.returns]
        self.plain = len(self.results) == 1 and not self.writes and self.results[0][0] == _FRESH


def _is_tensor(argument: Any) -> bool:
    return str(argument.type) == "Tensor"


def _alias(argument: Any) -> frozenset[str]:
    return frozenset(argument.alias_info.before_set) if argument.alias_info is not None else frozenset()


def _writes(argument: Any) -> bool:
    return argument.alias_info is not None and bool(argument.alias_info.is_write)


def _result(returned: Any, spots: dict[frozenset[str], int], names: list[str]) -> tuple[int, int, str]:
    """What a result is: new, a view of an argument, or the argument (its position and name)."""
    if returned.alias_info is None:
        return _FRESH, -1, ""
    if not returned.alias_info.is_write or _alias(returned) not in spots:
        return _VIEW, -1, ""
    place = spots[_alias(returned)]
    return _SAME, place, names[place]


@cache
def _plan(op: Any) -> KernelPlan:
    return KernelPlan(op)


class Kernels:
    """The kernels of the device for a version, reporting to a recorder. `failed` is the last operator that could not
    run, `reason` why."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self._ledger = recorder.ledger
        self.failed = ""
        self.reason = ""

    def boxed(self, op: Any, *args: Any, **kwargs: Any) -> Any:
        """Run an operator without its own kernel."""
        return self.run(_plan(op), args, kwargs)

    def of(self, op: Any) -> Kernel:
        """The kernel of an operator."""
        plan = _plan(op)
        run = self.run

        def kernel(*args: Any, **kwargs: Any) -> Any:
            return run(plan, args, kwargs)

        return kernel

    def run(self, plan: KernelPlan, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The results of an operator for device tensors."""
        try:
            if numbers.watched:
                numbers.here = numbers.of_call(args, kwargs, plan.mixing, plan.name)
            if plan.native is not None:
                out = plan.native(device._native, *args, **kwargs)
                self.recorder.add(plan.name, out)
                return out
            self._ledger.keeps = torch.is_grad_enabled() and any(tensor.requires_grad for tensor in tensors_in(args))
            strict = not plan.mixing
            lowered = [argument if type(argument) in _PLAIN else _lowered(argument, strict) for argument in args]
            for place in plan.scalars:
                if place < len(lowered) and isinstance(lowered[place], (bool, int, float, complex)):
                    lowered[place] = torch.tensor(lowered[place])
            named = {key: _lowered(argument, strict) for key, argument in kwargs.items()} if kwargs else kwargs
            if plan.plain:
                out = plan.compute(*lowered, **named)
                return self._plain(plan, out, args, kwargs)
            return self._written(plan, args, kwargs, lowered, named)
        except FakeNpuError as error:
            self.failed, self.reason = plan.name, error.reason
            if error.reason == "sparse":
                self.recorder.add(plan.name, ())
            raise FakeNpuError(error.reason, plan.name) from None
        except NotImplementedError:
            self.failed = plan.name
            self.recorder.add(plan.name, ())
            raise

    def _plain(self, plan: KernelPlan, out: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        key_args: KeyArgs = plan.read_key_args(args, kwargs) if plan.read_key_args is not None else ()
        if plan.device and kwargs.get("device") is not None and kwargs["device"].type == "cpu":
            key_args, lifted = TO_CPU, out
        else:
            lifted = to_device(out) if isinstance(out, torch.Tensor) else _lifted(out)
        self.recorder.add(plan.name, out, key_args)
        return lifted

    def _written(
        self, plan: KernelPlan, args: tuple[Any, ...], kwargs: dict[str, Any], lowered: list[Any], named: dict[str, Any]
    ) -> Any:
        out = plan.compute(*lowered, **named)
        key_args: KeyArgs = plan.read_key_args(args, kwargs) if plan.read_key_args is not None else ()
        for place, name in plan.writes:
            there = place < len(args)
            value = args[place] if there else kwargs.get(name)
            _renew(value, lowered[place] if there else named.get(name))
            if value is not None and isinstance(value, torch.Tensor) and value.is_cpu:
                key_args = TO_CPU
        self.recorder.add(plan.name, out, key_args)
        if not plan.results:
            return None
        several = len(plan.results) > 1
        parts = out if several else (out,)
        results = [
            part
            if spot == plan.hosted
            else _finish(kind, part, args[place] if place < len(args) else kwargs.get(name), args)
            for spot, ((kind, place, name), part) in enumerate(zip(plan.results, parts, strict=True))
        ]
        return tuple(results) if several else results[0]


@lru_cache(maxsize=8)
def kernel_set(release: str) -> list[Any]:
    """The aten overloads that have a kernel in a PyTorch version."""
    kernels = []
    for name in sorted(_C._dispatch_get_all_op_names()):
        if not name.startswith("aten::"):
            continue
        base, _, overload = name.removeprefix("aten::").partition(".")
        if verdict(f"aten.{base}.{overload or 'default'}", release).word == "npu":
            op = getattr(getattr(torch.ops.aten, base, None), overload or "default", None)
            if op is not None:
                kernels.append(op)
    return kernels


@cache
def falls_apart(op: Any) -> bool:
    """Whether torch has an operator only as a composition of others."""
    return bool(_has(_qualified(op), "CompositeImplicitAutograd"))


def _qualified(op: Any) -> str:
    overload = op._schema.overload_name
    return f"{op._schema.name}.{overload}" if overload else str(op._schema.name)


def is_composite(op: Any) -> bool:
    """Whether torch decomposes an operator and has no gradient for it as a whole."""
    return falls_apart(op) and not _has(_qualified(op), "Autograd")


def _finish(kind: int, part: Any, value: Any, args: tuple[Any, ...]) -> Any:
    if kind == _SAME:
        return value
    return _lifted(part) if kind == _FRESH else _aliased(part, args)


def _aliased(part: Any, args: tuple[Any, ...]) -> Any:
    if isinstance(part, (list, tuple)):
        return [_aliased(tensor, args) for tensor in part]
    memory = part.untyped_storage()._cdata
    for argument in args:
        if isinstance(argument, torch.Tensor) and not argument.is_cpu:
            storage: Any = argument.untyped_storage()
            if storage.held.untyped_storage()._cdata == memory:
                return viewed(part, storage)
    return to_device(part)


def _renew(value: Any, held: Any) -> None:
    if isinstance(value, (list, tuple)):
        for part, other in zip(value, held, strict=True):
            _renew(part, other)
    elif value is not None and not value.is_cpu:
        storage = value.untyped_storage()
        moved = (
            _bytes(storage) != held.untyped_storage().nbytes()
            or storage.data_ptr() != held.untyped_storage().data_ptr()
        )
        if moved or value.shape != held.shape or value.stride() != held.stride():
            renew(value, held)


_bytes: Any = _C.StorageBase.nbytes  # what a storage really has


def _lowered(argument: Any, strict: bool) -> Any:
    """An argument on the CPU. `strict`: a CPU tensor with dimensions is an error."""
    if isinstance(argument, torch.Tensor):
        if not argument.is_cpu:
            return held_by(argument)
        if strict and argument.dim():
            raise FakeNpuError("mixed", "")
        return argument
    if isinstance(argument, (list, tuple)):
        return [part if type(part) in _PLAIN else _lowered(part, strict) for part in argument]
    if isinstance(argument, torch.device):
        return _CPU if argument.type == device.NAME else argument
    return None if isinstance(argument, torch.Generator) and argument.device.type == device.NAME else argument


_PLAIN = frozenset((int, float, bool, str, type(None), torch.dtype, torch.memory_format, torch.layout))


def _lifted(out: Any) -> Any:
    if isinstance(out, torch.Tensor):
        return to_device(out)
    return [_lifted(part) for part in out] if isinstance(out, (list, tuple)) else out


def tensors_in(value: Any) -> Iterator[torch.Tensor]:
    """The tensors in arguments, including lists."""
    for argument in value:
        if isinstance(argument, torch.Tensor):
            yield argument
        elif isinstance(argument, (list, tuple)):
            yield from tensors_in(argument)
