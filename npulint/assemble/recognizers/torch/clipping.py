"""Clipping of gradients: are they scaled at that moment, and whose are they?"""

from __future__ import annotations

from npulint.assemble.context import Context
from npulint.assemble.flow import argument
from npulint.assemble.module import Module
from npulint.assemble.recognizers.torch.backward import scale_block
from npulint.assemble.recognizers.torch.receiver_types import is_model, receiver
from npulint.facts.code import Call, CallResult, Ref, Value
from npulint.facts.model import Fact

_CLIPS = frozenset(f"torch.nn.utils.{name}" for name in ("clip_grad_norm_", "clip_grad_norm", "clip_grad_value_"))


def matches(name: str) -> bool:
    """The functions of PyTorch that clip gradients."""
    return name in _CLIPS


def facts_for_call(context: Context, module: Module, index: int, name: str) -> list[Fact]:
    """``grad_clip`` facts."""
    return [_clip(context, module, index, name)]


def facts_for_module(context: Context, module: Module) -> list[Fact]:
    """All are calls."""
    return []


def _clip(context: Context, module: Module, index: int, name: str) -> Fact:
    call = module.code.calls[index]
    return context.call_fact(
        "grad_clip",
        name,
        module,
        index,
        scaled=lambda: _clipped(context, module, call),
        params=lambda: _clipped_parameters(context, module, call),
        scaler=lambda: _stepped(context, module, call)[0],
        optimizer=lambda: _optimizer(context, module, call),
    )


def _clipped(context: Context, module: Module, call: Call) -> str:
    """What the gradients are when they are clipped: inside (apex's block: still scaled), scaler (scaled by one and not
    unscaled), unscaled (explicitly) or no."""
    if scale_block(context, module, call.block) >= 0:
        return "inside"
    function = module.function_of(call.block)
    around = set(module.ancestors(call.block))
    before = [i for i in module.calls_in.get(function, ()) if module.code.calls[i].line < call.line]
    names = {i: context.names.of_call(module, i) for i in before}
    if any(n.endswith(".unscale_") for n in names.values()):
        return "unscaled"
    for i, n in names.items():
        if n.endswith("scale().backward") and module.code.calls[i].block in around:
            return "scaler"
    return "no"


def _clipped_parameters(context: Context, module: Module, call: Call) -> str:
    """Whose gradients: master (apex's), model or unknown."""
    value = argument(call, "parameters", 0)
    name = context.names.of_value(module, value, call.block, call.line) if value is not None else "?"
    if name.endswith("master_params()"):
        return "master"
    if isinstance(value, CallResult):
        inner = module.code.calls[value.call]
        if module.callee_name(value.call) == "parameters" and is_model(
            context, module, receiver(inner), inner.block, inner.line
        ):
            return "model"
    return "unknown"


_UNKNOWN = "unknown"


def _optimizer(context: Context, module: Module, call: Call) -> str:
    """The optimizer whose gradients are clipped, as written where it is certain: that of apex's master_params or
    scale_loss, or the one that a scaler steps next."""
    value = argument(call, "parameters", 0)
    if isinstance(value, CallResult) and module.callee_name(value.call) == "master_params":
        return _named(argument(module.code.calls[value.call], "optimizer", 0))
    function = module.function_of(call.block)
    scaled = [
        _named(argument(module.code.calls[index], "optimizers", 1))
        for index in module.calls_in.get(function, ())
        if module.callee_name(index) == "scale_loss"
    ]
    if scaled:
        return scaled[0] if len(set(scaled)) == 1 else _UNKNOWN
    return _stepped(context, module, call)[1]


def _stepped(context: Context, module: Module, call: Call) -> tuple[str, str]:
    """The scaler and the optimizer that it steps after the clipping, as written; unknown where there are several, or
    where other gradients have been clipped since the last step."""
    first = 0
    found: list[tuple[str, str]] = []
    inside = module.calls_in.get(module.function_of(call.block), ())
    for index in sorted(inside, key=lambda index: module.code.calls[index].line):
        other, last = module.code.calls[index], module.callee_name(index)
        if other.line < call.line:
            clips = last.startswith("clip_grad_")
            first = 0 if last in ("step", "backward") else first + clips
        elif last == "backward" and other.line > call.line:
            break
        elif last == "step" and other.args:
            found.append((_named(receiver(other)), _named(other.args[0])))
    known = first == 0 and len(set(found)) == 1 and "scaler" in found[0][0].lower() and _UNKNOWN not in found[0]
    return found[0] if known else (_UNKNOWN, _UNKNOWN)


def _named(value: Value | None) -> str:
    return value.name if isinstance(value, Ref) else _UNKNOWN
