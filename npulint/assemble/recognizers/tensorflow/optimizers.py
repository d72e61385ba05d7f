"""Optimizers and what wraps them: loss scale and distribution."""

from __future__ import annotations

from npulint.assemble.context import Context
from npulint.assemble.flow import Site, argument
from npulint.assemble.module import Module
from npulint.facts.code import Call, Const, Value
from npulint.facts.model import Fact
from npulint.lazy_regex import lazy_compile

_OPTIMIZER = lazy_compile(
    r"^tensorflow\.(?:train|contrib\.opt|keras\.optimizers|contrib\.optimizer_v2)\."
    r"(?:\w*Optimizer\w*|Adam|SGD|RMSprop|Adagrad|Adadelta|Adamax|Nadam|Ftrl)$"
)
_OWN = lazy_compile(r":[\w.]*Optimizer\w*$")
LOSS_SCALE_OPTIMIZERS = (
    "NPULossScaleOptimizer",
    "NpuLossScaleOptimizer",
    "NPUOptimizer",
    "LossScaleOptimizer",
    "MixedPrecisionLossScaleOptimizer",
)
LOSS_SCALE_MANAGERS = (
    "FixedLossScaleManager",
    "ExponentialUpdateLossScaleManager",
    "FixedLossScale",
    "DynamicLossScale",
)
DISTRIBUTED = (
    "NPUDistributedOptimizer",
    "npu_distributed_optimizer_wrapper",
    "npu_tf_optimizer",
    "npu_keras_optimizer",
    "DistributedOptimizer",
    "CrossShardOptimizer",
    "SyncReplicasOptimizer",
)
_WRAPS = 4  # wrappers around wrappers that are looked through
ROOTS = ("tensorflow.", "npu_bridge.", "npu_device.", "horovod.")
_SCALING = frozenset((*LOSS_SCALE_OPTIMIZERS, *LOSS_SCALE_MANAGERS))
_BY_NAME = {  # what tf.contrib.layers.optimize_loss makes of a text
    "Adagrad": "AdagradOptimizer",
    "Adam": "AdamOptimizer",
    "Ftrl": "FtrlOptimizer",
    "Momentum": "MomentumOptimizer",
    "RMSProp": "RMSPropOptimizer",
    "SGD": "GradientDescentOptimizer",
}
OPTIMIZE_LOSS = "tensorflow.contrib.layers.optimize_loss"


def matches(name: str) -> bool:
    """Constructors of optimizers, and what makes one of a name."""
    return (bool(_OPTIMIZER.match(name)) or bool(_OWN.search(name)) or name == OPTIMIZE_LOSS) and (
        name.rpartition(".")[2] not in _SCALING
    )


def facts_for_call(context: Context, module: Module, index: int, name: str) -> list[Fact]:
    """The ``optimizer`` fact of a constructor."""
    if name == OPTIMIZE_LOSS:
        return _named_optimizer(context, module, index)
    if name.startswith(ROOTS) and _OPTIMIZER.match(name) and name.rpartition(".")[2] not in DISTRIBUTED:
        return [_optimizer(context, module, index, name, "keras" if ".keras." in name else "tf")]
    return _own_optimizer(context, module, index, name) if _OWN.search(name) else []


def _optimizer(context: Context, module: Module, index: int, name: str, what: str) -> Fact:
    """The fact of a constructor, with what its optimizer is handed to."""

    def handed_to(wrappers: tuple[str, ...]) -> str:
        known, unsure = context.memoize(("wrapped", wrappers), lambda: _wrapped(context, wrappers))
        return "yes" if (module.path, index) in known else "unknown" if unsure else "no"

    return context.call_fact(
        "optimizer",
        name,
        module,
        index,
        what=what,
        scaled=lambda: handed_to(LOSS_SCALE_OPTIMIZERS),
        distributed=lambda: handed_to(DISTRIBUTED),
        alone=lambda: "yes" if _alone(context, module, index) else "no",
    )


def _alone(context: Context, module: Module, index: int) -> bool:
    """Whether no other optimizer is made in the same function, perhaps in another branch."""
    function = module.function_of(module.code.calls[index].block)
    return not any(
        matches(name) and at != index and module.function_of(module.code.calls[at].block) == function
        for at, name in enumerate(context.names.of_calls(module))
    )


def _wrapped(context: Context, wrappers: tuple[str, ...]) -> tuple[set[tuple[str, int]], bool]:
    """The constructors whose optimizers some wrappers get, directly or wrapped already, and whether a wrapper gets one
    that cannot be told."""
    known: set[tuple[str, int]] = set()
    unsure = False
    for module in context.project.modules.values():
        for index in module.calls_of(*wrappers):
            call = module.code.calls[index]
            inner = argument(call, "opt", 0) or argument(call, "optimizer", 0)
            found = [] if inner is None else layers(context, module, inner, call)
            known.update((home.path, at) for (home, at), _ in found)
            unsure = unsure or not found
    return known, unsure


def _named_optimizer(context: Context, module: Module, index: int) -> list[Fact]:
    """``optimize_loss(loss, step, rate, "Adam")`` makes the optimizer itself."""
    call = module.code.calls[index]
    value = argument(call, "optimizer", 3)
    given = None if value is None else context.known(module, value, call).single
    known = _BY_NAME.get(given) if isinstance(given, str) else None
    if known is None:
        return []
    return [context.call_fact("optimizer", f"tensorflow.train.{known}", module, index, what="tf")]


def is_keras(name: str) -> bool:
    """Whether a constructor makes an optimizer of tf.keras."""
    return name.startswith("tensorflow.keras.optimizers.") and bool(_OPTIMIZER.match(name))


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
    return [_optimizer(context, module, index, name, "tf")]


def layers(context: Context, module: Module, value: Value, call: Call) -> list[tuple[Site, str]]:
    """The calls that may have made an optimizer, and those that made what they wrap, with their canonical names."""
    return layers_of(context, context.flow.sites(module, value, call.block, call.line))


def layers_of(context: Context, sites: list[Site]) -> list[tuple[Site, str]]:
    """The calls at some places, and those that made what they wrap, with their canonical names."""
    found: list[tuple[Site, str]] = []
    queue = [(s, 0) for s in sites]
    while queue:
        (home, at), depth = queue.pop()
        found.append(((home, at), context.names.of_call(home, at)))
        inner = home.code.calls[at]
        wrapped = argument(inner, "opt", 0) or argument(inner, "optimizer", 0)
        if wrapped is not None and depth < _WRAPS:
            queue += [(s, depth + 1) for s in context.flow.sites(home, wrapped, inner.block, inner.line)]
    return found


def scales(site: Site, name: str) -> bool:
    """Whether a constructor makes an optimizer that scales the loss; an NPUOptimizer does so only when it is told."""
    last = name.rpartition(".")[2]
    told = argument(site[0].code.calls[site[1]], "is_loss_scale", 3) if last == "NPUOptimizer" else None
    return last in LOSS_SCALE_OPTIMIZERS and (last != "NPUOptimizer" or told not in (None, Const(False)))


def wrapped_by(context: Context, module: Module, value: Value, call: Call, wrappers: tuple[str, ...]) -> bool:
    """Whether an optimizer value was made by, or handed through, one of `wrappers`."""
    return any(name.rpartition(".")[2] in wrappers for _, name in layers(context, module, value, call))
