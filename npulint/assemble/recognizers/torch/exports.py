"""Models that are traced for another format, and where their parameters are meanwhile."""

from __future__ import annotations

from functools import partial

from npulint.assemble.context import Context
from npulint.assemble.flow import argument
from npulint.assemble.module import Module
from npulint.facts.calls import receiver_of
from npulint.facts.code import Call, CallResult, Ref, Value
from npulint.facts.model import Fact

_EXPORTS = frozenset(("torch.onnx.export", "torch.export.export", "torch.export.export_for_training"))
_MOVES = frozenset(("cuda", "npu", "to"))
_DEPTH = 6


def matches(name: str) -> bool:
    """What traces a model."""
    return name in _EXPORTS


def facts_for_call(context: Context, module: Module, index: int, name: str) -> list[Fact]:
    """An ``export`` fact."""
    call = module.code.calls[index]
    return [context.call_fact("export", name, module, index, model=partial(_place, context, module, call))]


def facts_for_module(context: Context, module: Module) -> list[Fact]:
    """None: all exports are calls."""
    return []


def _place(context: Context, module: Module, call: Call) -> str:
    """``device`` when the function moves the model there, ``host`` when it makes the model and leaves it, else
    ``unknown``."""
    value = argument(call, "model", 0) or argument(call, "mod", 0)
    if value is None:
        return "unknown"
    if _moves(context, module, value, 0):
        return "device"
    if not isinstance(value, Ref):
        return "unknown"
    function = module.function_of(call.block)
    before = [i for i in module.calls_in.get(function, ()) if module.code.calls[i].line < call.line]
    for index in reversed(before):
        if module.callee_name(index) in (*_MOVES, "cpu") and receiver_of(module.code.calls[index]) == value:
            return "device" if _moves(context, module, CallResult(index), 0) else "host"
    made = [b for b in module.code.assignments if b.target == value.name and module.function_of(b.block) == function]
    if any(_moves(context, module, bind.value, 0) for bind in made):
        return "device"
    return "host" if made and all(isinstance(bind.value, CallResult) for bind in made) else "unknown"


def _moves(context: Context, module: Module, value: Value, depth: int) -> bool:
    """Whether an expression puts a model on a device: ``Net().npu()``, ``build().to(device).eval()``."""
    if not isinstance(value, CallResult) or depth > _DEPTH:
        return False
    call = module.code.calls[value.call]
    last = module.callee_name(value.call)
    if last == "cpu":
        return False
    if last in _MOVES:
        target = argument(call, "device", 0)
        known = None if target is None else context.known(module, target, call).single
        return last != "to" or (target is not None and known != "cpu")
    source = receiver_of(call)
    return source is not None and _moves(context, module, source, depth + 1)
