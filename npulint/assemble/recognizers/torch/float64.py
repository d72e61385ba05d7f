"""Tensors in double precision, and whether a collective gets them."""

from __future__ import annotations

from typing import Literal

from npulint.assemble.code_facts import CallFact
from npulint.assemble.cursors import CallSite, Expr
from npulint.assemble.recognizers.registry import recognizes
from npulint.assemble.recognizers.torch.tensors import on_host
from npulint.facts.attributes import attribute
from npulint.facts.kinds import fact_kind

_DOUBLE = frozenset(("torch.float64", "torch.double"))
_ON_GPU = frozenset(("torch.cuda.DoubleTensor", "torch.npu.DoubleTensor"))
_MADE = frozenset(
    """tensor as_tensor zeros ones full empty arange linspace logspace eye rand randn zeros_like ones_like full_like
    empty_like rand_like randn_like scalar_tensor""".split()
)
_CAST = frozenset(("to", "type", "new_zeros", "new_ones", "new_full", "new_tensor", "new_empty"))
_COLLECTIVES = ("all_reduce", "reduce", "all_gather", "reduce_scatter", "all_gather_into_tensor")
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
            return "cpu" if values and all(str(value).startswith("cpu") for value in values) else "other"
        receiver = self.call.receiver if self.name.startswith("torch.Tensor.") else None
        if receiver is not None:
            return "cpu" if on_host(receiver) else "unknown"
        return "unknown" if self.name.endswith("_like") else "cpu"

    @attribute
    def reduced(self) -> bool:
        """Whether a collective gets the tensor, directly or by the name assigned in the same function."""
        collectives = (one for one in self.call.scope.routine.calls if one.last in _COLLECTIVES)
        return any(
            one.name.startswith("torch.distributed.") and any(self._may_be(value) for value in one.args)
            for one in collectives
        )

    def _may_be(self, value: Expr) -> bool:
        """Whether an argument is the tensor."""
        if not value.written:
            return _is_result(value, self.call)
        return any(_is_result(one, self.call) for one in self.call.scope.namespace.assigned(value.written))


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
    if name not in _ON_GPU and not _names_double(call, last):
        return []
    return [DoubleTensor(call, name if name.startswith("torch.") and "(" not in name else f"torch.Tensor.{last}")]


def _names_double(call: CallSite, last: str) -> bool:
    if last == "double":
        return not call.arguments
    dtype = call.argument("dtype")
    values = [] if dtype is None else [dtype]
    if last in ("to", "type"):
        values += call.args
    return any(value.written and value.name in _DOUBLE for value in values)
