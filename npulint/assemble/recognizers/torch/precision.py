"""Mixed precision: autocast, models made half, and constants that float16 cannot hold."""

from __future__ import annotations

import math

from npulint.assemble.context import Context
from npulint.assemble.flow import argument
from npulint.assemble.module import Module
from npulint.assemble.recognizers.torch import scaling
from npulint.assemble.recognizers.torch.receiver_types import is_model, receiver
from npulint.facts.code import Assignment, Call, CallResult, Const, Op, Ref, Value
from npulint.facts.model import Fact, Span
from npulint.lazy_regex import lazy_compile

_AUTOCAST = frozenset(("torch.autocast", "torch.cuda.amp.autocast", "torch.npu.amp.autocast"))
_FILLS = frozenset(("masked_fill", "masked_fill_"))
_HALF_MAX = 65504.0
_HALVES = ("torch.float16", "torch.half")
_INFINITE = frozenset(("numpy.inf", "math.inf", "torch.inf", "numpy.Inf", "numpy.infty", "numpy.NINF"))
_CASTS = frozenset(("half", "bfloat16", "to", "type"))
_TRAINING = lazy_compile(r"\.backward$|^torch\.optim\.\w+$|NpuFused|^apex\.amp\.")
_SHAPES = frozenset("repeat view reshape unsqueeze expand contiguous transpose permute squeeze".split())
_DEPTH = 5


def matches(name: str) -> bool:
    """Autocast, casts to half precision, mask fills."""
    last = name.rpartition(".")[2]
    return last in _FILLS or last in _CASTS or name in _AUTOCAST or name == "torch.where"


def facts_for_call(context: Context, module: Module, index: int, name: str) -> list[Fact]:
    """``autocast``, ``half_model`` and ``mask_fill`` facts."""
    last = name.rpartition(".")[2]
    if name in _AUTOCAST:
        return [_autocast(context, module, index, name)]
    if last in _FILLS or name == "torch.where":
        return _fill(context, module, index, last)
    return _cast(context, module, index, last)


def facts_for_module(context: Context, module: Module) -> list[Fact]:
    """Mask constants that are assigned or multiplied."""
    found = []
    for bind in module.code.assignments:
        if bind.target.endswith("]"):
            if bind.key.__class__ is not Const and _is_mask_key(bind):
                found += _assigned(context, module, bind)
        elif isinstance(bind.value, Op) and bind.value.op == "*":
            found += _multiplied(context, module, bind)
    return found


# -- autocast ---------------------------------------------------------------------------------------


def _autocast(context: Context, module: Module, index: int, name: str) -> Fact:
    call = module.code.calls[index]
    return context.call_fact(
        "autocast",
        name,
        module,
        index,
        device=lambda: scaling.device(context, module, call, name),
        enabled=lambda: scaling.enabled(context, module, call),
        dtype=lambda: _dtype(context, module, call),
        alternative=lambda: scaling.alternative(context, module, call),
    )


def _dtype(context: Context, module: Module, call: Call) -> str:
    """float16, bfloat16, default or unknown."""
    value = argument(call, "dtype", -1)
    if value is None:
        return "default"
    single = context.known(module, value, call).single
    if single in _HALVES:
        return "float16"
    return "bfloat16" if single == "torch.bfloat16" else "unknown"


# -- half models ------------------------------------------------------------------------------------


def _cast(context: Context, module: Module, index: int, last: str) -> list[Fact]:
    call = module.code.calls[index]
    kind = last
    if last in ("to", "type"):
        kind = _cast_to(context, module, call)
    if kind not in ("half", "bfloat16"):
        return []
    if not is_model(context, module, receiver(call), call.block, call.line):
        return []
    return [
        context.call_fact("half_model", kind, module, index, trained=lambda: _trained(context, module, call)),
    ]


def _cast_to(context: Context, module: Module, call: Call) -> str:
    """half or bfloat16 when a call of ``to`` names that dtype."""
    for value in (*call.args, *(v for k, v in call.keywords if k == "dtype")):
        if isinstance(value, Ref) and value.name.rpartition(".")[2] in ("float16", "half", "bfloat16"):
            name = context.names.of_name(module, value.name, call.block, call.line)
            if name in _HALVES:
                return "half"
            return "bfloat16" if name == "torch.bfloat16" else ""
    return ""


def _trained(context: Context, module: Module, call: Call) -> str:
    """Whether the function that halves the model also trains it."""
    function = module.function_of(call.block)
    return (
        "yes"
        if any(_TRAINING.search(context.names.of_call(module, i)) for i in module.calls_in.get(function, ()))
        else "no"
    )


# -- mask constants ---------------------------------------------------------------------------------


def _fill(context: Context, module: Module, index: int, last: str) -> list[Fact]:
    call = module.code.calls[index]
    found = []
    for value in call.args[1:3] if last == "where" else [argument(call, "value", 1)]:
        size = _size(context, module, value, call.block, call.line) if value is not None else None
        if size is not None and size < 0:
            tensor = receiver(call) if last != "where" else call.args[1 if value is call.args[2] else 2]
            found.append(_mask_fact(context, module, last, call, size, tensor))
    return found[:1]


def _mask_fact(
    context: Context, module: Module, name: str, at: Call | Assignment, size: float, tensor: Value | None
) -> Fact:
    span = Span(at.line, at.column, at.end_line, at.end_column)
    attrs = {
        "fill": "-inf" if math.isinf(size) else f"{size:g}",
        "infinite": "yes" if math.isinf(size) else "no",
        "tensor": tensor.name if isinstance(tensor, Ref) else "unknown",
        "half": lambda: _is_half(context, module, tensor, at.block, at.line),
    }
    return Fact("mask_fill", name, module.path, span, attrs, None, context.around(module, at.block))


def _is_mask_key(bind: Assignment) -> bool:
    key = bind.key
    if isinstance(key, Op):
        return key.op in ("==", "!=", "<", ">", "<=", ">=", "~", "&", "|")
    return isinstance(key, Ref) and "mask" in key.name


def _assigned(context: Context, module: Module, bind: Assignment) -> list[Fact]:
    """``scores[mask] = -1e9``."""
    size = _size(context, module, bind.value, bind.block, bind.line)
    if size is None or size > 0:
        return []
    return [_mask_fact(context, module, "assign", bind, size, Ref(bind.target.partition("[")[0]))]


def _multiplied(context: Context, module: Module, bind: Assignment) -> list[Fact]:
    """``mask = (1 - mask) * -1e9``."""
    left, right = bind.value.operands if isinstance(bind.value, Op) else (None, None)
    for factor, tensor in ((right, left), (left, right)):
        size = _size(context, module, factor, bind.block, bind.line) if isinstance(factor, Const | Op) else None
        if size is not None and size < 0 and not math.isinf(size) and not isinstance(tensor, Const):
            return [_mask_fact(context, module, "multiply", bind, size, tensor)]
    return []


def _size(context: Context, module: Module, value: Value | None, block: int, line: int, depth: int = 0) -> float | None:
    """A number that float16 cannot hold, infinity included; None for anything else."""
    number: object = None
    if isinstance(value, Const):
        number = value.value
    elif isinstance(value, Op) and value.op == "neg" and depth < _DEPTH:
        inner = _size(context, module, value.operands[0], block, line, depth + 1)
        return None if inner is None else -inner
    elif isinstance(value, Ref):
        if context.names.of_name(module, value.name, block, line) in _INFINITE:
            return -math.inf if value.name.endswith("NINF") else math.inf
        number = context.flow.known(module, value, block, line).single
    elif isinstance(value, CallResult):
        number = _float_of(context, module, value)
    if isinstance(number, bool) or not isinstance(number, int | float):
        return None
    return float(number) if abs(number) > _HALF_MAX else None


def _float_of(context: Context, module: Module, value: CallResult) -> float | None:
    """``float("-inf")``."""
    call = module.code.calls[value.call]
    text = call.args[0] if call.args and context.names.of_call(module, value.call) == "float" else None
    if isinstance(text, Const) and isinstance(text.value, str | int | float):
        try:
            return float(text.value)
        except ValueError:
            return None
    return None


def _is_half(context: Context, module: Module, value: Value | None, block: int, line: int, depth: int = 0) -> str:
    """Whether a tensor was certainly made float16 on the way: yes or unknown."""
    if value is None or depth > _DEPTH:
        return "unknown"
    if isinstance(value, CallResult):
        call = module.code.calls[value.call]
        last = module.callee_name(value.call)
        if last == "half" or (last in ("to", "type") and _cast_to(context, module, call) == "half"):
            return "yes"
        if last in ("float", "double", "bfloat16", "to", "type"):
            return "unknown"
        dtype = argument(call, "dtype", -1)
        if isinstance(dtype, Ref) and context.names.of_name(module, dtype.name, block, line) in _HALVES:
            return "yes"
        if last in _SHAPES:
            return _is_half(context, module, receiver(call), call.block, call.line, depth + 1)
        return "unknown"
    if isinstance(value, Ref):
        binds = context.flow.bindings(module, value.name, block, line)
        if len(binds) == 1:
            home, bind = binds[0]
            return _is_half(context, home, bind.value, bind.block, bind.line, depth + 1)
        return "unknown"
    if isinstance(value, Op) and value.op in ("+", "-", "*", "neg"):
        tensors = [v for v in value.operands if not isinstance(v, Const)]
        answers = [_is_half(context, module, v, block, line, depth + 1) for v in tensors]
        return "yes" if answers and set(answers) == {"yes"} else "unknown"
    return "unknown"
