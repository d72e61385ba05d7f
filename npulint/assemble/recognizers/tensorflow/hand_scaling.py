"""Losses that the project multiplies by a loss scale itself."""

from __future__ import annotations

import re

from npulint.assemble.context import Context
from npulint.assemble.flow import argument
from npulint.assemble.module import Module
from npulint.assemble.recognizers.tensorflow.steps import all_scaled
from npulint.facts.code import CallResult, Op, Ref, Value
from npulint.facts.model import Fact
from npulint.lazy_regex import lazy_compile

_TAKERS = (".compute_gradients", ".minimize")
_SCALE = lazy_compile(r"(?:^|[._])(?:loss_?scal(?:e|ing|er)\w*|scaled_loss)$", re.IGNORECASE)
_DEPTH = 3


def matches(name: str) -> bool:
    """Methods of optimizers that take a loss."""
    return name.endswith(_TAKERS)


def facts_for_call(context: Context, module: Module, index: int, name: str) -> list[Fact]:
    """A ``hand_scaled`` fact where the loss that is handed over is multiplied by a scale; `scaled` tells whether the
    optimizer scales it as well."""
    call = module.code.calls[index]
    loss = argument(call, "loss", 0)
    if loss is None or not _multiplied(context, module, loss, call.block, call.line, 0):
        return []
    last = name.rpartition(".")[2]
    return [context.call_fact("hand_scaled", last, module, index, scaled=lambda: all_scaled(context, (module, index)))]


def _multiplied(context: Context, module: Module, value: Value, block: int, line: int, depth: int) -> bool:
    if depth > _DEPTH:
        return False
    if isinstance(value, Op):
        return value.op == "*" and any(_is_scale(module, part) for part in value.operands)
    if isinstance(value, CallResult):
        call = module.code.calls[value.call]
        times = context.names.of_call(module, value.call) in ("tensorflow.multiply", "tensorflow.scalar_mul")
        return times and any(_is_scale(module, part) for part in call.args)
    bound = context.flow.bindings(module, value.name, block, line) if isinstance(value, Ref) else []
    return len(bound) == 1 and _multiplied(
        context, bound[0][0], bound[0][1].value, bound[0][1].block, bound[0][1].line, depth + 1
    )


def _is_scale(module: Module, value: Value) -> bool:
    if isinstance(value, CallResult):
        return module.callee_name(value.call) == "get_loss_scale"
    return isinstance(value, Ref) and bool(_SCALE.search(value.name))
