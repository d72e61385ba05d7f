"""Optimizers and what wraps them: loss scale and distribution."""

from __future__ import annotations

from npulint.assemble.context import Context
from npulint.assemble.flow import argument
from npulint.assemble.module import Module
from npulint.facts.code import Call, Value
from npulint.facts.model import Fact
from npulint.later import regex

_OPTIMIZER = regex(
    r"^tensorflow\.(?:train|contrib\.opt|keras\.optimizers|contrib\.optimizer_v2)\."
    r"(?:\w*Optimizer\w*|Adam|SGD|RMSprop|Adagrad|Adadelta|Adamax|Nadam|Ftrl)$"
)
_OWN = regex(r":[\w.]*Optimizer\w*$")
LOSS_SCALE_OPTIMIZERS = (
    "NPULossScaleOptimizer",
    "NpuLossScaleOptimizer",
    "NPUOptimizer",
    "LossScaleOptimizer",
    "MixedPrecisionLossScaleOptimizer",
)
_MANAGERS = ("FixedLossScaleManager", "ExponentialUpdateLossScaleManager", "FixedLossScale", "DynamicLossScale")
_DISTRIBUTED = (
    "NPUDistributedOptimizer",
    "npu_distributed_optimizer_wrapper",
    "npu_tf_optimizer",
    "npu_keras_optimizer",
    "DistributedOptimizer",
    "CrossShardOptimizer",
    "SyncReplicasOptimizer",
)
_WRAPS = 4  # wrappers around wrappers that are looked through
_ROOTS = ("tensorflow.", "npu_bridge.", "npu_device.", "horovod.")
_SCALING = frozenset((*LOSS_SCALE_OPTIMIZERS, *_MANAGERS))


def wants(name: str) -> bool:
    """Constructors of optimizers, loss scale optimizers and loss scale managers."""
    return name.rpartition(".")[2] in _SCALING or bool(_OPTIMIZER.match(name)) or bool(_OWN.search(name))


def of_call(context: Context, module: Module, index: int, name: str) -> list[Fact]:
    """``optimizer`` and ``loss_scale`` facts."""
    last = name.rpartition(".")[2]
    if name.startswith(_ROOTS):
        if last in _SCALING:
            return [_loss_scale(context, module, index, name, last)]
        if _OPTIMIZER.match(name) and last not in _DISTRIBUTED:
            return [context.call_fact("optimizer", name, module, index, what="keras" if ".keras." in name else "tf")]
    return _own_optimizer(context, module, index, name) if _OWN.search(name) else []


def _own_optimizer(context: Context, module: Module, index: int, name: str) -> list[Fact]:
    """The project's own class, when it is derived from an optimizer of TensorFlow."""
    target = context.names.function(name)
    if target is None or target[0].blocks[target[1]].kind != "class":
        return []
    home, block = target
    record = home.blocks[block]
    bases = [context.names.of_value(home, base, record.parent, record.line) for base in record.bases]
    if not any(_OPTIMIZER.match(base) for base in bases):
        return []
    return [context.call_fact("optimizer", name, module, index, what="tf")]


def _loss_scale(context: Context, module: Module, index: int, name: str, last: str) -> Fact:
    native = "no" if name.startswith(("npu_bridge.", "npu_device.")) else "yes"
    what = "manager" if last in _MANAGERS else "optimizer"
    call = module.code.calls[index]
    inner = argument(call, "opt", 0) if what == "optimizer" else None
    return context.call_fact(
        "loss_scale",
        name,
        module,
        index,
        native=native,
        what=what,
        wraps_distributed=lambda: (
            "yes" if inner is not None and wrapped_by(context, module, inner, call, _DISTRIBUTED) else "no"
        ),
        flag=lambda: _flag(context, module, call),
    )


def _flag(context: Context, module: Module, call: Call) -> str:
    value = argument(call, "is_distributed", 2)
    if value is None:
        return "missing"
    known = context.known(module, value, call).single
    return "yes" if known is True else "no" if known is False else "unknown"


def wrapped_by(context: Context, module: Module, value: Value, call: Call, wrappers: tuple[str, ...]) -> bool:
    """Whether an optimizer value was made by, or handed through, one of `wrappers`."""
    queue = [(s, 0) for s in context.flow.sites(module, value, call.block, call.line)]
    while queue:
        (home, at), depth = queue.pop()
        if context.names.of_call(home, at).rpartition(".")[2] in wrappers:
            return True
        inner = home.code.calls[at]
        if inner.args and depth < _WRAPS:
            queue += [(s, depth + 1) for s in context.flow.sites(home, inner.args[0], inner.block, inner.line)]
    return False
