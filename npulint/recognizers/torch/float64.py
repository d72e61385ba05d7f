"""Tensors in double precision, and whether a collective gets them."""

from __future__ import annotations

from typing import Literal

from npulint.facts.attributes import attribute
from npulint.facts.kinds import fact_kind
from npulint.model.running.adaptors import patched
from npulint.model.running.code_facts import CallFact
from npulint.model.running.npu_server import npu_server
from npulint.model.values.cursors import CallSite, Expr
from npulint.model.values.walker import walker
from npulint.recognizers.registry import recognizes
from npulint.recognizers.torch.tensors import is_host_tensor, on_host

_DOUBLE = frozenset(("torch.float64", "torch.double"))
_ON_GPU = frozenset(("torch.cuda.DoubleTensor", "torch.npu.DoubleTensor"))
_MADE = frozenset(
    """tensor as_tensor zeros ones full empty arange linspace logspace eye rand randn zeros_like ones_like full_like
    empty_like rand_like randn_like scalar_tensor""".split()
)
_CAST = frozenset(("to", "type", "new_zeros", "new_ones", "new_full", "new_tensor", "new_empty"))
_COLLECTIVES = ("all_reduce", "reduce", "all_gather", "reduce_scatter", "all_gather_into_tensor")
_JOINS = frozenset(("torch.stack", "torch.cat", "torch.concat"))
_HOST = frozenset(("numpy", "pandas", "scipy"))


@fact_kind("float64")
class DoubleTensor(CallFact):
    """A tensor is created in or cast to double precision; the name is the function or ``torch.Tensor.<method>``."""

    @attribute
    def device(self) -> Literal["cpu", "other", "unknown"]:
        """The device of the tensor: cpu, or other (an accelerator, or a device chosen elsewhere)."""
        if self.name in _ON_GPU:
            return "other"
        chosen = self.call.argument("device")
        if chosen is not None:
            values = chosen.known.values
            named = bool(values) and all(str(value).startswith("cpu") for value in values)
            return "cpu" if named or _is_device_of_host_tensor(chosen) else "other"
        receiver = self.call.receiver if self.name.startswith("torch.Tensor.") else None
        if receiver is not None:
            return "cpu" if on_host(receiver) else "unknown"
        return "unknown" if self.name.endswith("_like") else "cpu"

    @attribute
    def float8(self) -> bool:
        """Whether its file computes with eight-bit floating point types, which only some chips have."""
        return any(name_use.name.startswith("torch.float8_") for name_use in self.scope.module.code.name_uses)

    @attribute
    def reduced(self) -> bool:
        """Whether a collective of PyTorch gets the tensor, directly or by the name assigned in the same function."""
        collectives = (call for call in self.call.scope.routine.calls if call.last in _COLLECTIVES)
        return any(
            _takes_float64(collective)
            and self._may_precede(collective)
            and any(self._may_be(value) for value in collective.args)
            for collective in collectives
        )

    def _may_precede(self, other: CallSite) -> bool:
        """Whether the tensor may be there before another call in its function: one above, or one in the same loop."""
        return self.call.line <= other.line or self.call.scope.loop is not None

    def _may_be(self, value: Expr) -> bool:
        """Whether an argument is the tensor."""
        if not value.written:
            return _is_result(value, self.call)
        return any(_is_result(expr, self.call) for expr in self.call.scope.namespace.assigned(value.written))


def _is_device_of_host_tensor(device: Expr) -> bool:
    """Whether a device is that of a tensor of the host: ``x.device``."""
    holder, _, last = device.written.rpartition(".")
    return last == "device" and bool(holder) and is_host_tensor(device.scope.named(holder, device.line))


def _takes_float64(collective: CallSite) -> bool:
    """Whether a collective passes on what it gets; adaptors may replace it by one that converts it."""
    name = collective.name
    return name.startswith("torch.distributed.") and patched(collective.context, name) is None


def _is_result(value: Expr, call: CallSite) -> bool:
    """Whether a value is the result of a call, possibly moved or reshaped."""
    made = value.call
    while made is not None and made != call:
        made = None if made.receiver is None else made.receiver.call
    return made is not None


def _may_be_double(name: str) -> bool:
    """Whether a name is a tensor factory, a cast, or a type with its precision in the name."""
    base, _, last = name.rpartition(".")
    if base == "torch" or name in _ON_GPU:
        return base != "torch" or last in _MADE
    method = base.startswith("?") or "()" in base
    return method and (last == "double" or last in _CAST) and base.partition(".")[0] not in _HOST


@recognizes(matching=_may_be_double)
def double_tensors(call: CallSite) -> list[DoubleTensor]:
    """Calls whose element type is certainly double."""
    name, last = call.name, call.name.rpartition(".")[2]
    certain = name in _ON_GPU and patched(call.context, name) is None
    if not certain and not _names_double(call, last):
        return []
    return [DoubleTensor(call, name if name.startswith("torch.") and "(" not in name else f"torch.Tensor.{last}")]


def _names_double(call: CallSite, last: str) -> bool:
    if last == "double":
        return not call.arguments
    dtype = call.argument("dtype")
    values = [] if dtype is None else [dtype]
    if last in ("to", "type"):
        values += call.args
    return any(map(_is_double, values))


@walker(depth=4, otherwise=bool)
def _is_double(value: Expr) -> bool:
    """Whether a type is certainly double: ``torch.float64``, or a variable that is nothing else on an NPU server."""
    branches = value.operands("if")
    if branches:
        truth = npu_server(value.context).truth(branches[0])
        return truth is not None and _is_double(branches[1] if truth else branches[2])
    if not value.written or value.name not in _DOUBLE:
        return False
    chosen = (assignment.value for assignment in value.assignments)
    return all(_is_double(expr) for expr in chosen if expr.operator == "if")


# -- lists of tensors that are reduced together ------------------------------------------------------


@fact_kind("float64")
class DoubleCollective(CallFact):
    """A collective gets a tensor that was joined from tensors in double precision; the name is the collective."""

    device: Literal["other"] = "other"
    """The device of the tensors."""
    reduced: bool = True
    """Whether a collective gets the tensor."""


@recognizes(*(f"torch.distributed.{name}" for name in _COLLECTIVES))
def double_collectives(call: CallSite) -> list[DoubleCollective]:
    """``parts.append(torch.zeros(1, dtype=torch.float64, device=device))``, then ``all_reduce(torch.stack(parts))``."""
    joined = [made for value in call.args[:1] for made in _calls_of(value) if made.name in _JOINS and made.args]
    parts = {made.args[0].written for made in joined} - {""}
    gathered = [append for append in call.scope.routine.calls if append.last == "append" and append.args]
    items = [append.args[0] for append in gathered if append.written.rpartition(".")[0] in parts]
    return [DoubleCollective(call, call.name)] if any(map(_is_double_on_device, items)) else []


def _calls_of(value: Expr) -> list[CallSite]:
    """The calls whose results a value may be in its own function."""
    values = value.scope.namespace.assigned(value.written) if value.written else [value]
    return [expr.call for expr in values if expr.call is not None]


def _is_double_on_device(item: Expr) -> bool:
    return any(
        _may_be_double(made.name) and _names_double(made, made.last) and DoubleTensor(made, made.name).device == "other"
        for made in _calls_of(item)
    )
