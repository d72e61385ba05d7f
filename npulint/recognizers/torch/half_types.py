"""Which tensors of PyTorch are certainly float16: cast to it, or given by operations that autocast computes in it."""

from __future__ import annotations

from typing import Literal

from npulint.facts.kinds import fact_kind
from npulint.model.running.code_facts import CallFact
from npulint.model.values.cursors import CallSite, Expr, scope_named
from npulint.model.values.half_range import number
from npulint.model.values.walker import walker
from npulint.recognizers.registry import recognizes
from npulint.recognizers.torch.operations import call_operation, operation

Half = Literal["cast", "autocast", "unknown"]

HALVES = ("torch.float16", "torch.half", "torch.HalfTensor")
"""The canonical names of float16."""
_LOWERED = frozenset(  # autocast computes these in float16
    """matmul bmm mm mv addmm addbmm baddbmm einsum linear conv1d conv2d conv3d conv_transpose1d conv_transpose2d
    conv_transpose3d""".split()
)
_LOWERED_MODULES = frozenset(
    f"torch.nn.{name}" for name in "Linear Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d".split()
)
_SAME_MODULES = frozenset(  # these give the type of their input
    f"torch.nn.{name}"
    for name in """Sigmoid Tanh ReLU LeakyReLU ReLU6 Dropout Dropout2d Identity Flatten BatchNorm1d BatchNorm2d
    MaxPool2d AdaptiveAvgPool2d AvgPool2d""".split()
)
_SAME = frozenset(  # these give the type of their first argument, in autocast as well
    """repeat view reshape unsqueeze expand contiguous transpose permute squeeze flatten detach clone npu cuda [] neg
    abs relu relu6 sigmoid tanh sqrt square clamp clamp_min clamp_max clip mean var std max amax dropout
    masked_fill leaky_relu""".split()
)
_JOINT = frozenset("add sub mul div maximum minimum".split())  # the wider type of their arguments
_TYPED = frozenset(("float", "double", "bfloat16", "to", "type"))


def cast_to(call: CallSite) -> str:
    """half or bfloat16 if a call of ``to`` names that dtype, else empty."""
    dtype = call.argument("dtype")
    for value in (*call.args, *(() if dtype is None else (dtype,))):
        if value.written.rpartition(".")[2] in ("float16", "half", "HalfTensor", "bfloat16"):
            name = value.name
            return "half" if name in HALVES else "bfloat16" if name == "torch.bfloat16" else ""
    return ""


@walker(depth=12, otherwise=lambda: "unknown", steps=200)
def half_by(value: Expr) -> Half:
    """What certainly made a tensor float16: a cast, or the list of autocast if that is on."""
    if value.written:
        assigned = value.assignments
        if len(assigned) == 1 and assigned[0].target == value.written:
            return half_by(assigned[0].value)
    call = value.call
    half = _of_call(call) if call is not None else None
    return half or _of_operation(value)


def _of_call(call: CallSite) -> Half | None:
    """What a call says of the type of its result; None if that depends on its arguments."""
    last = call.last
    if last == "half" or (last in ("to", "type") and cast_to(call) == "half"):
        return "cast"
    if last in _TYPED:
        return "unknown"
    dtype = call.argument("dtype")
    if dtype is not None:
        return "cast" if dtype.written and dtype.name in HALVES else "unknown"
    return _of_module(call) if call.name.endswith("()") else None


def _of_module(call: CallSite) -> Half | None:
    """What made the result of calling a module: of ``nn.Sequential`` its last layers decide, of a project's own module
    what its ``forward`` returns."""
    kind = call.name[:-2]
    if kind == "torch.nn.Sequential":
        makers = call.callee.sites
        return _of_layers(makers[0]) if len(makers) == 1 else "unknown"
    owner = scope_named(call.context, kind) if ":" in kind else None
    forward = None if owner is None else owner.definition("forward")
    if forward is not None:
        halves = {half_by(expr) for expr in forward.returns}
        return halves.pop() if len(halves) == 1 else "unknown"
    return "autocast" if kind in _LOWERED_MODULES else None


def _of_layers(made: CallSite) -> Half:
    """What makes the result of a sequence of layers float16."""
    names = [argument.call.name if argument.call is not None else "?" for argument in reversed(made.args)]
    decisive = next((name for name in names if name not in _SAME_MODULES), "?")
    return "autocast" if decisive in _LOWERED_MODULES else "unknown"


def _of_operation(value: Expr) -> Half:
    made = operation(value)
    if made is None:
        return "unknown"
    if made.op in ("matmul", *_LOWERED):
        return "autocast"
    if made.op in _SAME and made.inputs:
        return half_by(made.inputs[0])
    if made.op not in _JOINT:
        return "unknown"
    tensors = [half_by(expr) for expr in made.inputs if number(expr) is None]
    kinds = set(tensors)
    return "unknown" if "unknown" in kinds or not kinds else "autocast" if "autocast" in kinds else "cast"


# Numerically sensitive operations on tensors that the same code has cast to float16.

_SENSITIVE = frozenset(
    "exp log log2 log10 softmax log_softmax norm var std prod cumprod cumsum logsumexp cross_entropy nll_loss "
    "binary_cross_entropy kl_div mse_loss smooth_l1_loss reciprocal rsqrt".split()
)


@fact_kind("half_math")
class HalfMath(CallFact):
    """An operation that overflows or loses precision in float16 gets a tensor that the same function has cast to
    float16. The name is the operation."""


@recognizes(matching=lambda name: name.rpartition(".")[2] in _SENSITIVE)
def half_math(call: CallSite) -> list[HalfMath]:
    """Calls of sensitive operations on a tensor that the same function has cast to float16."""
    operation = call_operation(call)
    if not operation.inputs or call.has_keyword("dtype"):
        return []
    return [HalfMath(call, operation.op)] if half_by(operation.inputs[0]) == "cast" else []
