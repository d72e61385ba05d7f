"""Backward calls: is the loss scaled, and by whom?"""

from __future__ import annotations

from npulint.assemble.context import Context
from npulint.assemble.module import Module
from npulint.assemble.recognizers.torch.receiver_types import receiver
from npulint.facts.code import Call, CallResult, Const, Ref, Value
from npulint.lazy_regex import lazy_compile

_SCALE_LOSS = "apex.amp.scale_loss()"
_ENGINE = lazy_compile(
    r"(?:accelerator|engine|fabric|strategy|ds_model|deepspeed|booster|manual)\w*(?:\(\)|\[\])*\.backward$|\.manual_backward$"
    r"|(?:^|\.)(?:deepspeed|accelerate|lightning\w*|colossalai)\.[\w.()\[\]]+\.backward$",
)


def scaled(context: Context, module: Module, index: int, name: str) -> str:
    """How the loss of a backward call is scaled: apex, bypassed (in apex's block, but not the scaled loss), scaler,
    engine (a library does it), unknown (the loss is handed in by somebody) or no."""
    call = module.code.calls[index]
    if name.endswith("scale().backward"):
        return "scaler"
    if _ENGINE.search(name) or any(not _is_gradient(v) for v in call.args):
        return "engine"
    block = scale_block(context, module, call.block)
    if block >= 0:
        return _in_block(context, module, call, block)
    loss = receiver(call)
    if isinstance(loss, Ref) and _is_scaled_value(context, module, loss, call):
        return "scaler"
    return "unknown" if _scaled_otherwise(module, call) else "no"


def is_stepped(module: Module, index: int) -> bool:
    """Whether the function around a call also calls ``step`` of something: it trains, it does not just look at
    gradients."""
    function = module.function_of(module.code.calls[index].block)
    return any(module.callee_name(other) == "step" for other in module.calls_in.get(function, ()))


def _is_gradient(value: Value) -> bool:
    """Whether a positional argument of backward is its gradient, not a loss for an engine."""
    if isinstance(value, Const | CallResult):
        return True
    return isinstance(value, Ref) and ("grad" in value.name or value.name.rpartition(".")[2] in ("one", "mone", "ones"))


def _scaled_otherwise(module: Module, call: Call) -> bool:
    """Whether another branch of a condition around the call hands the loss to something called a scaler."""
    branches = [module.blocks[b] for b in module.ancestors(call.block) if module.blocks[b].kind in ("if", "else")]
    if not branches:
        return False
    tests = {(record.parent, record.line) for record in branches}
    for index in module.calls_in.get(module.function_of(call.block), ()):
        other = module.code.calls[index]
        written = other.callee.name.lower() if isinstance(other.callee, Ref) else ""
        if "scale" in written and other.block != call.block:
            inner = (module.blocks[b] for b in module.ancestors(other.block))
            if any((record.parent, record.line) in tests for record in inner):
                return True
    return False


def scale_block(context: Context, module: Module, block: int) -> int:
    """The ``with amp.scale_loss(...)`` block around a block, or -1."""
    for ancestor in module.ancestors(block):
        record = module.blocks[ancestor]
        if record.kind == "with" and _is_scale_loss(context, module, ancestor):
            return ancestor
        if record.kind in ("function", "lambda"):
            return -1
    return -1


def _is_scale_loss(context: Context, module: Module, block: int) -> bool:
    record = module.blocks[block]
    name = context.names.of_value(module, record.test, record.parent, record.line)
    return name == _SCALE_LOSS or name.endswith("amp.scale_loss()")


def _in_block(context: Context, module: Module, call: Call, block: int) -> str:
    """apex, unless what is called is the very loss that amp.scale_loss was given."""
    test = module.blocks[block].test
    given = module.code.calls[test.call].args[:1] if isinstance(test, CallResult) else ()
    loss = receiver(call)
    names = [b.target for b in module.code.assignments if b.value == test and not b.target.startswith("[")]
    if isinstance(loss, Ref) and loss in given and loss.name not in names:
        return "bypassed"
    return "apex"


def _is_scaled_value(context: Context, module: Module, loss: Ref, call: Call) -> bool:
    return context.names.of_value(module, loss, call.block, call.line).endswith(".scale()")
