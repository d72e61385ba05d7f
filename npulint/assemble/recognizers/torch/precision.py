"""Mixed precision: autocast, models made half, and constants that float16 cannot hold."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Literal

from npulint.assemble.code_facts import CallFact, PlaceFact
from npulint.assemble.cursors import AssignmentSite, CallSite, Expr, Scope, assignment_at
from npulint.assemble.npu_server import npu_server
from npulint.assemble.recognizers.registry import recognizes, recognizes_in_modules
from npulint.assemble.recognizers.torch import scaling
from npulint.assemble.recognizers.torch.receiver_types import is_model
from npulint.assemble.training import training_of
from npulint.assemble.walker import walker
from npulint.facts.attributes import Flag, attribute
from npulint.facts.code import Op, Scalar
from npulint.facts.kinds import fact_kind
from npulint.lazy_regex import lazy_compile

_FILLS = frozenset(("masked_fill", "masked_fill_"))
_HALF_MAX = 65504.0
_HALVES = ("torch.float16", "torch.half")
_INFINITE = frozenset(("numpy.inf", "math.inf", "torch.inf", "numpy.Inf", "numpy.infty", "numpy.NINF"))
_CASTS = frozenset(("half", "bfloat16", "to", "type"))
_TRAINING = lazy_compile(r"\.backward$|^torch\.optim\.\w+$|NpuFused|^apex\.amp\.")
_SHAPES = frozenset("repeat view reshape unsqueeze expand contiguous transpose permute squeeze".split())
_MASKS = ("==", "!=", "<", ">", "<=", ">=", "~", "&", "|")  # operators that return a mask


@recognizes("torch.autocast", "torch.cuda.amp.autocast", "torch.npu.amp.autocast", *scaling.HELPERS)
@fact_kind("autocast")
class Autocast(CallFact):
    """An autocast context is created; the name is its canonical constructor."""

    @attribute
    def device(self) -> str:
        """The device type that it is for: cuda, npu, cpu, another one or unknown."""
        return scaling.device(self.call)

    @attribute
    def enabled(self) -> Flag:
        """Whether it is enabled."""
        return scaling.enabled(self.call)

    @attribute
    def dtype(self) -> Literal["float16", "bfloat16", "default", "unknown"]:
        """The element type that operators compute in."""
        value = self.call.argument("dtype")
        if value is None:
            return "default"
        single = value.single
        return "float16" if single in _HALVES else "bfloat16" if single == "torch.bfloat16" else "unknown"

    @attribute
    def alternative(self) -> bool:
        """Whether the same name, or the same call in another branch, means the NPU's."""
        return scaling.alternative(self.call)

    @attribute
    def trains(self) -> bool:
        """Whether every training step opens it, or the training loop runs in it."""
        if self.step == "yes":
            return True
        loops = (loop for loop in training_of(self.call.context).loops if loop.module is self.scope.module)
        return any(one.kind == "with" and one.test.call == self.call for loop in loops for one in loop.ancestors)

    @attribute
    def dead(self) -> bool:
        """Whether an NPU server never comes to it, whatever the options are."""
        return npu_server(self.call.context).runs(self.scope, self.span.line) == "no"


# -- half models ------------------------------------------------------------------------------------


@fact_kind("half_model")
class HalfModel(CallFact):
    """A model is cast to half precision; the name is half or bfloat16."""

    @attribute
    def trained(self) -> bool:
        """Whether the function that casts the model also trains it."""
        return any(_TRAINING.search(call.name) for call in self.call.scope.routine.calls)


@recognizes(matching=lambda name: name.rpartition(".")[2] in _CASTS)
def half_models(call: CallSite) -> list[HalfModel]:
    """``model.half()``, ``model.to(torch.bfloat16)`` and the like."""
    last = call.name.rpartition(".")[2]
    target = _cast_to(call) if last in ("to", "type") else last
    return [HalfModel(call, target)] if target and is_model(call.receiver) else []


def _cast_to(call: CallSite) -> str:
    """half or bfloat16 if a call of ``to`` names that dtype, else empty."""
    dtype = call.argument("dtype")
    for value in (*call.args, *(() if dtype is None else (dtype,))):
        if value.written.rpartition(".")[2] in ("float16", "half", "bfloat16"):
            name = value.name
            return "half" if name in _HALVES else "bfloat16" if name == "torch.bfloat16" else ""
    return ""


# -- mask constants ---------------------------------------------------------------------------------


@fact_kind("mask_fill")
class MaskFill(PlaceFact):
    """Masked elements of a tensor are set to a negative constant that float16 cannot represent: by a call (the name is
    its method), an assignment (``assign``) or a product (``multiply``)."""

    fill: str
    """The constant."""
    _tensor: Expr | None

    @attribute
    def infinite(self) -> bool:
        """Whether the constant is infinite."""
        return self.fill == "-inf"

    @attribute
    def tensor(self) -> str:
        """The tensor, as written, or unknown."""
        return (self._tensor.written if self._tensor is not None else "") or "unknown"

    @attribute
    def half(self) -> Literal["yes", "unknown"]:
        """Whether the tensor was certainly cast to float16 before."""
        return "yes" if self._tensor is not None and _is_half(self._tensor) else "unknown"


def _mask_fill(place: CallSite | AssignmentSite, name: str, size: float, tensor: Expr | None) -> MaskFill:
    return MaskFill(place.scope, place.span, name, f"{size:g}", tensor)


@recognizes(matching=lambda name: name == "torch.where" or name.rpartition(".")[2] in _FILLS)
def mask_fills(call: CallSite) -> Iterable[MaskFill]:
    """``scores.masked_fill(mask, -1e9)``, ``torch.where(mask, scores, -1e9)``."""
    last = call.name.rpartition(".")[2]
    fills: list[tuple[Expr, Expr | None]]
    if last == "where":
        values = call.args[1:3]
        fills = list(zip(values, reversed(values), strict=True)) if len(values) > 1 else []
    else:
        value = call.argument("value", 1)
        fills = [] if value is None else [(value, call.receiver)]
    for fill, tensor in fills:
        size = _size(fill)
        if size is not None and size < 0:
            return [_mask_fill(call, last, size, tensor)]
    return []


@recognizes_in_modules
def assigned_masks(module: Scope) -> list[MaskFill]:
    """Mask constants that are assigned (``scores[mask] = -1e9``) or multiplied (``mask = (1 - mask) * -1e9``)."""
    found = []
    for record in module.module.code.assignments:  # there are many
        if record.target.endswith("]"):
            found += _assigned(assignment_at(module.context, module.module, record))
        elif isinstance(record.value, Op) and record.value.op == "*":
            found += _multiplied(assignment_at(module.context, module.module, record))
    return found


def _assigned(assignment: AssignmentSite) -> list[MaskFill]:
    key = assignment.key
    if key.operator not in _MASKS and "mask" not in key.written:
        return []
    size = _size(assignment.value)
    return [_mask_fill(assignment, "assign", size, assignment.holder)] if size is not None and size < 0 else []


def _multiplied(assignment: AssignmentSite) -> list[MaskFill]:
    left, right = assignment.value.operands("*")
    for factor, tensor in ((right, left), (left, right)):
        size = _size(factor) if factor.is_literal or factor.operator else None
        if size is not None and size < 0 and not math.isinf(size) and not tensor.is_literal:
            return [_mask_fill(assignment, "multiply", size, tensor)]
    return []


def _size(value: Expr) -> float | None:
    """A number that float16 cannot represent, including infinity; None for anything else."""
    sign = 1
    while value.operator == "neg":
        value, sign = value.operands()[0], -sign
    number = _number(value)
    if isinstance(number, bool) or not isinstance(number, int | float):
        return None
    return sign * float(number) if abs(number) > _HALF_MAX else None


def _number(value: Expr) -> Scalar:
    """The number that a literal, a name or ``float("-inf")`` evaluates to."""
    if value.written:
        infinite = -math.inf if value.written.endswith("NINF") else math.inf
        return infinite if value.name in _INFINITE else value.single
    return value.literal if value.call is None else _converted(value.call)


def _converted(call: CallSite) -> float | None:
    """The result of ``float("-inf")``."""
    text = call.args[0].literal if call.args and call.name == "float" else None
    try:
        return None if text is None else float(text)
    except ValueError:
        return None


@walker(depth=6, otherwise=bool)
def _is_half(value: Expr) -> bool:
    """Whether a tensor was certainly cast to float16 before."""
    if value.call is not None:
        return _gives_half(value.call)
    if value.written:
        assignments = value.assignments
        return len(assignments) == 1 and _is_half(assignments[0].value)
    tensors = [one for one in value.operands("+", "-", "*", "neg") if not one.is_literal]
    return bool(tensors) and all(_is_half(one) for one in tensors)


def _gives_half(call: CallSite) -> bool:
    last = call.last
    if last == "half" or (last in ("to", "type") and _cast_to(call) == "half"):
        return True
    if last in ("float", "double", "bfloat16", "to", "type"):
        return False
    dtype = call.argument("dtype")
    if dtype is not None and dtype.written and dtype.name in _HALVES:
        return True
    receiver = call.receiver if last in _SHAPES else None
    return receiver is not None and _is_half(receiver)
