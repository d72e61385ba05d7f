"""Global steps that are counted by hand, not by apply_gradients."""

from __future__ import annotations

from npulint.assemble.context import Context
from npulint.assemble.flow import argument
from npulint.assemble.module import Module
from npulint.assemble.recognizers.tensorflow.gradients import receiver
from npulint.assemble.recognizers.tensorflow.optimizers import LOSS_SCALE_OPTIMIZERS
from npulint.assemble.recognizers.tensorflow.steps import is_scaled
from npulint.facts.code import CallResult, Op, Ref, Value
from npulint.facts.model import Fact
from npulint.lazy_regex import lazy_compile

_ASSIGNING = frozenset(("tensorflow.assign", "tensorflow.assign_add"))
_METHODS = (".assign", ".assign_add")
_NAME = lazy_compile(r"(?:^|[._])global_?step(?:_tensor|_op|_var)?$")
_CHOOSING = frozenset(("tensorflow.cond", "tensorflow.where", "tensorflow.case"))
_DEPTH = 5
_MADE = ("get_global_step()", "get_or_create_global_step()", "create_global_step()")


def matches(name: str) -> bool:
    """Assignments of TensorFlow variables."""
    return name in _ASSIGNING or name.endswith(_METHODS)


def facts_for_call(context: Context, module: Module, index: int, name: str) -> list[Fact]:
    """A ``step_count`` fact where the global step is assigned to, in a graph and on every way through it."""
    call = module.code.calls[index]
    apart = name in _ASSIGNING
    counted = argument(call, "ref", 0) if apart else receiver(call)
    new = argument(call, "value", 1 if apart else 0)
    function = module.function_of(call.block)
    if counted is None or not _is_step(context, module, counted, index):
        return []
    chosen = new is not None and _is_chosen(context, module, new, call.block, call.line, 0)
    if chosen or (function >= 0 and module.blocks[function].kind == "lambda"):
        return []
    scaled = context.memoize(("scaled steps", module.path), lambda: _scales(context, module))
    return [context.call_fact("step_count", name, module, index, beside_scaled="yes" if scaled else "no")]


def _is_step(context: Context, module: Module, value: Value, index: int) -> bool:
    call = module.code.calls[index]
    if isinstance(value, Ref) and _NAME.search(value.name):
        return True
    return context.names.of_value(module, value, call.block, call.line).endswith(_MADE)


def _is_chosen(context: Context, module: Module, value: Value, block: int, line: int, depth: int) -> bool:
    """Whether a value comes from ``tf.cond`` or the like: a skipped step may then leave it as it was."""
    if depth > _DEPTH:
        return False
    if isinstance(value, CallResult):
        call = module.code.calls[value.call]
        return context.names.of_call(module, value.call) in _CHOOSING or any(
            _is_chosen(context, module, part, call.block, call.line, depth + 1) for part in call.args
        )
    if isinstance(value, Op):
        return any(_is_chosen(context, module, part, block, line, depth + 1) for part in value.operands)
    bound = context.flow.bindings(module, value.name, block, line)[:4] if isinstance(value, Ref) else []
    return any(_is_chosen(context, home, b.value, b.block, b.line, depth + 1) for home, b in bound)


def _scales(context: Context, module: Module) -> bool:
    """Whether a train step of the module is one of a loss scale optimizer of the NPU."""
    scaling = any(
        context.names.of_call(module, index).startswith("npu_bridge.")
        for index in module.calls_of(*LOSS_SCALE_OPTIMIZERS)
    )
    return scaling and any(is_scaled(context, (module, at)) for at in module.calls_of("apply_gradients", "minimize"))
