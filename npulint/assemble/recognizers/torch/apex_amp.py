"""apex's amp.initialize: at which level, with which optimizer, how the loss is scaled."""

from __future__ import annotations

from npulint.assemble.context import Context
from npulint.assemble.cursors import Expr, call_at, scope_at
from npulint.assemble.flow import argument
from npulint.assemble.module import Module
from npulint.assemble.recognizers.torch.optimizer_classes import families
from npulint.assemble.recognizers.torch.receiver_types import INITIALIZE, makers
from npulint.assemble.recognizers.torch.scaling import given
from npulint.facts.code import Call, Ref, SequenceDisplay, Value
from npulint.facts.model import Fact

_EXTREME = 32768
_WRAPPERS = frozenset(
    (
        "torch.nn.DataParallel",
        "torch.nn.parallel.DistributedDataParallel",
        "apex.parallel.DistributedDataParallel",
    )
)


def matches(name: str) -> bool:
    """amp.initialize."""
    return name == INITIALIZE


def facts_for_call(context: Context, module: Module, index: int, name: str) -> list[Fact]:
    """``apex_amp`` facts."""
    return [_initialize(context, module, index)]


def facts_for_module(context: Context, module: Module) -> list[Fact]:
    """All are calls."""
    return []


def _initialize(context: Context, module: Module, index: int) -> Fact:
    call = module.code.calls[index]
    model, optimizer = argument(call, "models", 0), argument(call, "optimizers", 1)
    return context.call_fact(
        "apex_amp",
        "initialize",
        module,
        index,
        level=lambda: _level(context, module, call),
        combine_grad=lambda: given(call_at(context, module, index), "combine_grad"),
        combine_ddp=lambda: given(call_at(context, module, index), "combine_ddp"),
        optimizer=lambda: _family(context, module, optimizer, call),
        wrapped=lambda: _wrapped(context, module, model, call),
        half=lambda: _halved_before(context, module, model, call),
        scale=lambda: _loss_scale(context, module, call),
        scale_chosen=lambda: _is_chosen(context, module, call),
    )


def _level(context: Context, module: Module, call: Call) -> str:
    value = argument(call, "opt_level", 3)
    if value is None:
        return "unknown" if any(k == "**" for k, _ in call.keywords) else "O1"
    single = context.known(module, value, call).single
    return single if isinstance(single, str) and single in ("O0", "O1", "O2", "O3") else "unknown"


def _loss_scale(context: Context, module: Module, call: Call) -> str:
    """dynamic, off (1), static, extreme (not below what float16 holds), missing or unknown."""
    value = argument(call, "loss_scale", -1)
    if value is None:
        return "missing"
    single = context.known(module, value, call).single
    if single is None:
        return "unknown"
    if isinstance(single, str):
        if single == "dynamic":
            return "dynamic"
        try:
            single = float(single)
        except ValueError:
            return "unknown"
    if isinstance(single, bool):
        return "unknown"
    return "off" if single == 1 else "extreme" if single >= _EXTREME else "static"


def _is_chosen(context: Context, module: Module, call: Call) -> str:
    """Whether an option, a parameter or a variable of the environment decides the loss scale."""
    value = argument(call, "loss_scale", -1)
    return "no" if value is None or not context.known(module, value, call).symbol else "yes"


def _family(context: Context, module: Module, value: Value | None, call: Call) -> str:
    if value is None:
        return "missing"
    made = makers(Expr(value, scope_at(context, module, call.block), call.line))
    return families(context, [(one.module, one.index) for one in made])


def _wrapped(context: Context, module: Module, model: Value | None, call: Call) -> str:
    """Whether the model was made parallel before: yes, sometimes (in one branch) or no."""
    if model is None:
        return "no"
    values = model.items if isinstance(model, SequenceDisplay) else (model,)
    answers: set[bool] = set()
    for value in values:
        sites = context.flow.sites(module, value, call.block, call.line)
        answers.update(context.names.of_call(home, at) in _WRAPPERS for home, at in sites)
    return "no" if True not in answers else "yes" if answers == {True} else "sometimes"


def _halved_before(context: Context, module: Module, model: Value | None, call: Call) -> str:
    """Whether the same function calls ``half`` on the model before, on the way to this call."""
    if not isinstance(model, Ref):
        return "no"
    around = module.ancestors(call.block)
    for index in module.calls_in.get(module.function_of(call.block), ()):
        other = module.code.calls[index]
        if other.line >= call.line or other.block not in around:
            continue
        if isinstance(other.callee, Ref) and other.callee.name == f"{model.name}.half":
            return "yes"
    return "no"
