"""Loss scaling: the optimizers that scale, the managers that move the scale, and what they are made of."""

from __future__ import annotations

from npulint.assemble.context import Context
from npulint.assemble.flow import Site, argument
from npulint.assemble.module import Module
from npulint.assemble.recognizers.tensorflow.optimizers import (
    DISTRIBUTED,
    LOSS_SCALE_MANAGERS,
    LOSS_SCALE_OPTIMIZERS,
    ROOTS,
    is_keras,
    layers,
    scales,
    wrapped_by,
)
from npulint.facts.code import Call, Const, Value
from npulint.facts.model import Fact

_SCALING = frozenset((*LOSS_SCALE_OPTIMIZERS, *LOSS_SCALE_MANAGERS))
_NPU = ("npu_bridge.", "npu_device.")
_REWRITES = "enable_mixed_precision_graph_rewrite"
_CLIPPING = "tensorflow.clip_by_"
_SCALE_OBJECTS = ("FixedLossScale", "DynamicLossScale")  # of tf.train.experimental: they are no managers
_CALLERS = 3  # functions around a call that may be called below control_dependencies


def matches(name: str) -> bool:
    """Constructors of loss scale optimizers and managers."""
    return name.rpartition(".")[2] in _SCALING and name.startswith(ROOTS)


def facts_for_call(context: Context, module: Module, index: int, name: str) -> list[Fact]:
    """The ``loss_scale`` fact of a constructor."""
    what = "manager" if name.rpartition(".")[2] in LOSS_SCALE_MANAGERS else "optimizer"
    call = module.code.calls[index]
    inner = (argument(call, "opt", 0) or argument(call, "optimizer", 0)) if what == "optimizer" else None
    return [
        context.call_fact(
            "loss_scale",
            name,
            module,
            index,
            native="no" if name.startswith(_NPU) else "yes",
            what=what,
            wraps_distributed=lambda: _wraps(context, module, inner, call, DISTRIBUTED),
            wraps_scaled=lambda: _wraps_scaled(context, (module, index), inner),
            wraps_clipping=lambda: _wraps_clipping(context, module, inner, call),
            wraps_keras=lambda: _wraps_keras(context, module, inner, call),
            flag=lambda: _flag(context, module, call),
            manager=lambda: _manager(context, module, call) if what == "optimizer" else "unknown",
            branch="yes"
            if any(module.blocks[b].kind in ("if", "else") for b in module.ancestors(call.block))
            else "no",
            dependent=lambda: "yes" if _dependent(context, module, call.block, 0) else "no",
        )
    ]


def _wraps(context: Context, module: Module, inner: Value | None, call: Call, wrappers: tuple[str, ...]) -> str:
    return "yes" if inner is not None and wrapped_by(context, module, inner, call, wrappers) else "no"


def _wraps_scaled(context: Context, site: Site, inner: Value | None) -> str:
    """Whether what is wrapped scales the loss already; ``self.opt = Scaled(self.opt)`` wraps what was there before."""
    module, index = site
    found = [] if inner is None else layers(context, module, inner, module.code.calls[index])
    others = [(at, name) for at, name in found if (at[0].path, at[1]) != (module.path, index)]
    return "yes" if any(scales(at, name) or name.endswith(_REWRITES) for at, name in others) else "no"


def _wraps_clipping(context: Context, module: Module, inner: Value | None, call: Call) -> str:
    """Whether an own optimizer among what is wrapped clips in its compute_gradients, where gradients are scaled."""
    for _, name in () if inner is None else layers(context, module, inner, call):
        target = context.names.function(name)
        if target is None or target[0].blocks[target[1]].kind != "class":
            continue
        home, method = target[0], target[0].definition(target[1], "compute_gradients")
        inside = home.calls_in.get(method, ()) if method >= 0 else ()
        if any(context.names.of_call(home, at).startswith(_CLIPPING) for at in inside):
            return "yes"
    return "no"


def _wraps_keras(context: Context, module: Module, inner: Value | None, call: Call) -> str:
    """Whether what is wrapped is, in every case that can be seen, an optimizer of tf.keras."""
    sites = [] if inner is None else context.flow.sites(module, inner, call.block, call.line)
    return "yes" if sites and all(is_keras(context.names.of_call(home, at)) for home, at in sites) else "no"


def _flag(context: Context, module: Module, call: Call) -> str:
    value = argument(call, "is_distributed", 2)
    if value is None:
        return "missing"
    known = context.known(module, value, call)
    if known.symbol:  # an option or the environment decides
        return "unknown"
    return "yes" if known.single is True else "no" if known.single is False else "unknown"


def _manager(context: Context, module: Module, call: Call) -> str:
    """What an optimizer is given as its manager: npu, native, object (a LossScale of tf.train.experimental), constant,
    missing or unknown."""
    value = argument(call, "loss_scale_manager", 1)
    if value is None:
        starred = any(k == "**" for k, _ in call.keywords) or any(getattr(a, "op", "") == "star" for a in call.args)
        return "unknown" if starred else "missing"
    if isinstance(value, Const):
        return "constant"
    names = [context.names.of_call(home, at) for home, at in context.flow.sites(module, value, call.block, call.line)]
    if names and all(n.rpartition(".")[2] in LOSS_SCALE_MANAGERS for n in names):
        if all(n.startswith(_NPU) for n in names):
            return "npu"
        if all(n.startswith("tensorflow.") and n.rpartition(".")[2] in _SCALE_OBJECTS for n in names):
            return "object"
        return "native" if all(n.startswith("tensorflow.") for n in names) else "unknown"
    return "unknown"


def _dependent(context: Context, module: Module, block: int, depth: int) -> bool:
    """Whether code runs below ``tf.control_dependencies``, there or in every function that calls it."""
    if "control_dependencies" in context.under(module, block):
        return True
    function = module.function_of(block)
    callers = context.flow.callers(module, function) if function >= 0 and depth < _CALLERS else []
    return bool(callers) and all(
        _dependent(context, home, home.code.calls[at].block, depth + 1) for home, at in callers
    )
