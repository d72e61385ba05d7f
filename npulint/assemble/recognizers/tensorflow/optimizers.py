"""Optimizers of TensorFlow and their wrappers: loss scale and distribution."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from npulint.assemble.code_facts import CallFact
from npulint.assemble.cursors import CallSite, Expr, Scope, module_scopes
from npulint.assemble.recognizers.registry import recognizes
from npulint.facts.attributes import Flag, attribute, flag
from npulint.facts.kinds import fact_kind
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
_WRAPS = 4  # maximum nested wrappers
ROOTS = ("tensorflow.", "npu_bridge.", "npu_device.", "horovod.")
SCALING = frozenset((*LOSS_SCALE_OPTIMIZERS, *LOSS_SCALE_MANAGERS))
_BY_NAME = {  # the optimizers that tf.contrib.layers.optimize_loss creates by name
    "Adagrad": "AdagradOptimizer",
    "Adam": "AdamOptimizer",
    "Ftrl": "FtrlOptimizer",
    "Momentum": "MomentumOptimizer",
    "RMSProp": "RMSPropOptimizer",
    "SGD": "GradientDescentOptimizer",
}
OPTIMIZE_LOSS = "tensorflow.contrib.layers.optimize_loss"


@fact_kind("optimizer")
class Optimizer(CallFact):
    """An optimizer of TensorFlow, or a project class derived from one, is created; the name is its canonical class."""

    what: Literal["tf", "keras"]
    """The library of the optimizer: tf.keras or another part of TensorFlow."""

    @attribute
    def scaled(self) -> Flag:
        """Whether a wrapper that scales the loss gets it."""
        return _is_wrapped(self.call, LOSS_SCALE_OPTIMIZERS)

    @attribute
    def distributed(self) -> Flag:
        """Whether a wrapper that reduces the gradients of all devices gets it."""
        return _is_wrapped(self.call, DISTRIBUTED)

    @attribute
    def alone(self) -> bool:
        """Whether the same function creates no other optimizer, not even in another branch."""
        return not any(_makes_optimizer(one.name) for one in self.call.scope.routine.calls if one != self.call)


@fact_kind("optimizer")
class NamedOptimizer(CallFact):
    """``optimize_loss(loss, step, rate, "Adam")`` creates the optimizer itself; the name is its canonical class."""

    what: Literal["tf"] = "tf"
    """The library of the optimizer."""


def _makes_optimizer(name: str) -> bool:
    """Whether a canonical name is an optimizer constructor, or a function that creates one by name."""
    return (bool(_OPTIMIZER.match(name)) or bool(_OWN.search(name)) or name == OPTIMIZE_LOSS) and (
        name.rpartition(".")[2] not in SCALING
    )


@recognizes(matching=_makes_optimizer)
def optimizers(call: CallSite) -> list[Optimizer] | list[NamedOptimizer]:
    """Calls of optimizer constructors, except those that only distribute another optimizer."""
    name = call.name
    if name == OPTIMIZE_LOSS:
        return _named_optimizer(call)
    if name.startswith(ROOTS) and _OPTIMIZER.match(name) and name.rpartition(".")[2] not in DISTRIBUTED:
        return [Optimizer(call, name, "keras" if ".keras." in name else "tf")]
    target = call.target if _OWN.search(name) else None
    own = target is not None and target.kind == "class" and any(_OPTIMIZER.match(base.name) for base in target.bases)
    return [Optimizer(call, name, "tf")] if own else []


def _named_optimizer(call: CallSite) -> list[NamedOptimizer]:
    value = call.argument("optimizer", 3)
    text = None if value is None else value.single
    known = _BY_NAME.get(text) if isinstance(text, str) else None
    return [] if known is None else [NamedOptimizer(call, f"tensorflow.train.{known}")]


def is_keras(name: str) -> bool:
    """Whether a constructor creates a tf.keras optimizer."""
    return name.startswith("tensorflow.keras.optimizers.") and bool(_OPTIMIZER.match(name))


def _is_wrapped(call: CallSite, wrappers: tuple[str, ...]) -> Flag:
    """Whether one of the wrappers gets the optimizer that a call creates, directly or through other wrappers."""
    known, unsure = call.context.memoize(
        ("wrapped", wrappers), lambda: _wrapped_by(module_scopes(call.context), wrappers)
    )
    return flag(True if call in known else None if unsure else False)


def _wrapped_by(modules: list[Scope], wrappers: tuple[str, ...]) -> tuple[set[CallSite], bool]:
    """The constructors of the optimizers that the wrappers get, and whether a wrapper gets an unknown optimizer."""
    known: set[CallSite] = set()
    unsure = False
    for call in (call for module in modules for call in module.calls_named(*wrappers)):
        inner = wrapped(call)
        found = [] if inner is None else layers(inner.sites)
        known.update(found)
        unsure = unsure or not found
    return known, unsure


def wrapped(call: CallSite) -> Expr | None:
    """The optimizer argument of a wrapper."""
    return call.argument("opt", 0) or call.argument("optimizer", 0)


def layers(makers: Iterable[CallSite]) -> list[CallSite]:
    """The calls that created an optimizer, and those that created what they wrap."""
    found = level = list(makers)
    for _ in range(_WRAPS):
        inner = [one for one in map(wrapped, level) if one is not None]
        level = [maker for one in inner for maker in one.sites]
        found = found + level
    return found


def scales(call: CallSite) -> bool:
    """Whether a constructor creates an optimizer that scales the loss; an NPUOptimizer does so only on request."""
    last = call.name.rpartition(".")[2]
    if last != "NPUOptimizer":
        return last in LOSS_SCALE_OPTIMIZERS
    switch = call.argument("is_loss_scale", 3)
    return switch is not None and (not switch.is_literal or bool(switch.literal))


def is_wrapped_by(value: Expr, wrappers: tuple[str, ...]) -> bool:
    """Whether an optimizer was created by, or passed through, one of `wrappers`."""
    return any(call.name.rpartition(".")[2] in wrappers for call in layers(value.sites))


def scales_for_npu(module: Scope) -> bool:
    """Whether a file creates a loss scale optimizer of the adapter."""
    return any(call.name.startswith("npu_bridge.") for call in module.calls_named(*LOSS_SCALE_OPTIMIZERS))
