"""Optimizers of TensorFlow and their wrappers: loss scale and distribution."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.attributes import Flag, attribute, flag
from npulint.facts.code import CallResult, Value, nested, written_values
from npulint.facts.kinds import fact_kind
from npulint.model.running.code_facts import CallFact
from npulint.model.running.uses import is_never_read
from npulint.model.values.context import Context, once, once_per_file
from npulint.model.values.cursors import CallSite, Expr, Scope, module_scopes
from npulint.recognizers.registry import recognizes
from npulint.recognizers.tensorflow.estimator_classes import is_canned

_OPTIMIZER = lazy_compile(
    r"^(?:tensorflow\.(?:train|contrib\.opt|keras\.optimizers|contrib\.optimizer_v2)|keras\.optimizers)\."
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
_REDUCING = tuple(name for name in DISTRIBUTED if name != "CrossShardOptimizer")  # that one reduces on TPUs only
_OWN_STEPS = frozenset(("apply_gradients", "compute_gradients", "minimize"))  # of a class that is an optimizer itself
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
    """The library of the optimizer: Keras or another part of TensorFlow."""

    @attribute
    def scaled(self) -> Flag:
        """Whether a wrapper that scales the loss gets it."""
        return _is_wrapped(self.call, LOSS_SCALE_OPTIMIZERS)

    @attribute
    def distributed(self) -> Flag:
        """Whether a wrapper that reduces the gradients of all devices gets it."""
        return _is_wrapped(self.call, _REDUCING)

    @attribute
    def use(self) -> Literal["step", "inner", "none"]:
        """What becomes of it: none (it is assigned to a name that nothing reads), inner (another optimizer is made of
        it, or applies its own gradients with it), or step (all others: it makes the update itself, or may do so)."""
        if self.call in _inner(self.call.context) or self.scope.routine.last_name in _OWN_STEPS:
            return "inner"
        return "none" if is_never_read(self.call) else "step"

    @attribute
    def beside(self) -> Literal["statement", "function", "none"]:
        """Whether another optimizer is created in the same statement, or else in the same function, which may be in
        another branch."""
        others = _optimizer_calls(self.scope.routine) - {self.call.index}
        if not others:
            return "none"
        return "statement" if others & _created_together(self.call) else "function"

    @attribute
    def canned(self) -> Literal["argument", "several", "elsewhere", "no"]:
        """How a canned Estimator, which builds a separate graph, gets it: as an argument, as one of several optimizers,
        from elsewhere (such as a name), or no: not."""
        return _handed_to_canned(self.call.context).get(self.call, "no")


@fact_kind("optimizer")
class NamedOptimizer(CallFact):
    """``optimize_loss(loss, step, rate, "Adam")`` creates the optimizer itself; the name is its canonical class."""

    what: Literal["tf"] = "tf"
    """The library of the optimizer."""
    use: Literal["step"] = "step"
    """What becomes of it: it makes the update."""


@once
def _handed_to_canned(context: Context) -> dict[CallSite, Literal["argument", "several", "elsewhere"]]:
    """How canned Estimators get the optimizers that calls create."""
    canned: dict[CallSite, Literal["argument", "several", "elsewhere"]] = {}
    for module in module_scopes(context):
        for index, name in enumerate(module.call_names):
            given = _optimizers_given(module.call(index)) if is_canned(name) else []
            for value in given:
                how: Literal["argument", "elsewhere"] = "elsewhere" if value.written else "argument"
                canned.update(dict.fromkeys(value.sites, "several" if len(given) > 1 else how))
    return canned


def _optimizers_given(call: CallSite) -> list[Expr]:
    """The arguments of a call that are optimizers."""
    named = [value for key, value in call.keywords.items() if key.endswith("optimizer")]
    return named + [value for value in call.args if any(_makes_optimizer(site.name) for site in value.sites)]


@once
def _optimizer_calls(routine: Scope) -> frozenset[int]:
    """The indices of the calls in a function that create an optimizer."""
    return frozenset(call.index for call in routine.calls if _makes_optimizer(call.name))


def _created_together(call: CallSite) -> set[int]:
    """The indices of the calls in the same expression or on the same line, or among the arguments of the same call."""
    together = _together(call.scope)
    return together.of_call.get(call.index, set()) | together.of_place.get((call.line, call.scope.block), set())


class _Together(NamedTuple):
    """The calls of a module that are in one expression or among the arguments of one call, by each of them; and those
    on one line of a block."""

    of_call: dict[int, set[int]]
    of_place: dict[tuple[int, int], set[int]]


@once_per_file
def _together(module: Scope) -> _Together:
    together = _Together({}, {})
    code = module.module.code
    groups = []
    for value, block, line in written_values(code):
        inside = _results(value)
        if inside:
            groups.append(inside)
            together.of_place.setdefault((line, block), set()).update(inside)
    for outer in code.calls:
        given = (*outer.args, *(value for _, value in outer.keywords))
        groups.append(set[int]().union(*map(_results, given)))
    for group in groups:
        for index in group:
            together.of_call.setdefault(index, set()).update(group)
    return together


def _results(value: Value) -> set[int]:
    return {part.call for part in nested(value) if isinstance(part, CallResult)}


@once
def _inner(context: Context) -> set[CallSite]:
    """The calls that make an optimizer of which another optimizer of TensorFlow or of the project is made."""
    calls: set[CallSite] = set()
    for module in module_scopes(context):
        for index, name in enumerate(module.call_names):
            if _makes_optimizer(name) and name.rpartition(".")[2] not in DISTRIBUTED:
                held = wrapped(module.call(index))
                calls.update([] if held is None else held.sites)
    return calls


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
    if _OPTIMIZER.match(name) and name.rpartition(".")[2] not in DISTRIBUTED:
        return [Optimizer(call, name, "keras" if "keras." in name else "tf")]
    target = call.target if _OWN.search(name) else None
    own = target is not None and target.kind == "class" and any(_OPTIMIZER.match(base.name) for base in target.bases)
    return [Optimizer(call, name, "tf")] if own else []


def _named_optimizer(call: CallSite) -> list[NamedOptimizer]:
    value = call.argument("optimizer", 3)
    text = None if value is None else value.single
    class_name = _BY_NAME.get(text) if isinstance(text, str) else None
    return [] if class_name is None else [NamedOptimizer(call, f"tensorflow.train.{class_name}")]


def is_keras(name: str) -> bool:
    """Whether a constructor creates a tf.keras optimizer."""
    return name.startswith("tensorflow.keras.optimizers.") and bool(_OPTIMIZER.match(name))


def _is_wrapped(call: CallSite, wrappers: tuple[str, ...]) -> Flag:
    """Whether one of the wrappers gets the optimizer that a call creates, directly or through other wrappers."""
    calls, unsure = call.context.memoize(
        ("wrapped", wrappers), lambda: _wrapped_by(module_scopes(call.context), wrappers)
    )
    return flag(True if call in calls else None if unsure else False)


def _wrapped_by(modules: list[Scope], wrappers: tuple[str, ...]) -> tuple[set[CallSite], bool]:
    """The constructors of the optimizers that the wrappers get, and whether a wrapper gets an unknown optimizer."""
    calls: set[CallSite] = set()
    unsure = False
    for call in (call for module in modules for call in module.calls_named(*wrappers)):
        inner = wrapped(call)
        constructors = [] if inner is None else layers(inner.sites)
        calls.update(constructors)
        unsure = unsure or not constructors
    return calls, unsure


def wrapped(call: CallSite) -> Expr | None:
    """The optimizer argument of a wrapper."""
    return call.argument("opt", 0) or call.argument("optimizer", 0)


def layers(makers: Iterable[CallSite]) -> list[CallSite]:
    """The calls that created an optimizer, and those that created what they wrap."""
    calls = level = list(makers)
    for _ in range(_WRAPS):
        inner = [expr for expr in map(wrapped, level) if expr is not None]
        level = [maker for expr in inner for maker in expr.sites]
        calls = calls + level
    return calls


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
