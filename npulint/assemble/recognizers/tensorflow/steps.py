"""Train steps: minimize, apply_gradients, fit, Estimator.train and the ready-made training loops."""

from __future__ import annotations

from npulint.assemble.context import Context
from npulint.assemble.flow import Site, argument
from npulint.assemble.module import Module
from npulint.assemble.recognizers.tensorflow.gradients import gradient_calls, receiver
from npulint.assemble.recognizers.tensorflow.optimizers import (
    LOSS_SCALE_OPTIMIZERS,
    OPTIMIZE_LOSS,
    layers,
    layers_of,
    scales,
)
from npulint.facts.code import Call, Value
from npulint.facts.model import Fact
from npulint.lazy_regex import lazy_compile

_STEPS = frozenset(("minimize", "apply_gradients"))
_ESTIMATOR_STEPS = frozenset(("train", "train_and_evaluate"))
_KERAS_STEPS = frozenset(("fit", "fit_generator", "train_on_batch"))
_KERAS_MODEL = lazy_compile(
    r"^(?:tensorflow\.)?keras\.(?:models?\.)?(?:Model|Sequential)\(\)|^tensorflow\.keras\.applications\.\w+\(\)"
)
_LOOPS = frozenset(
    (
        "tensorflow.contrib.slim.learning.train",
        "tensorflow.contrib.training.train",
        "tensorflow.estimator.train_and_evaluate",
    )
)
_MAKERS = {  # functions that make the train step of an optimizer that they are given: its position
    "tensorflow.contrib.slim.learning.create_train_op": 1,
    "tensorflow.contrib.training.create_train_op": 1,
    OPTIMIZE_LOSS: 3,
}
_WORDS = _STEPS | _ESTIMATOR_STEPS | _KERAS_STEPS
_MODEL_NAME = lazy_compile(r"model$|net$")
_OPTIMIZER_NAME = lazy_compile(r"opt(?:im)?(?:izer)?\d*(?:\(\))?(?:\[\])?$|solver$|trainer$")


def matches(name: str) -> bool:
    """Calls that may be a train step."""
    return name.rpartition(".")[2] in _WORDS or name in _LOOPS or name in _MAKERS


def facts_for_call(context: Context, module: Module, index: int, name: str) -> list[Fact]:
    """The ``train_step`` fact of a call, if it is one."""
    last = name.rpartition(".")[2]
    on = name.rpartition(".")[0]
    if last in _STEPS:
        return _optimizer_step(context, module, index, name)
    if name in _MAKERS:
        return [_made_step(context, module, index, name)]
    if name in _LOOPS or (last in _ESTIMATOR_STEPS and _on_estimator(name, on)):
        return [_step(context, module, index, last, on)]
    if last in _KERAS_STEPS and (_KERAS_MODEL.match(name) or _named_like_a_model(name)):
        return [_step(context, module, index, last, "keras")]
    return []


def _step(context: Context, module: Module, index: int, last: str, on: str) -> Fact:
    return context.call_fact("train_step", last, module, index, scaled="unknown", on=on, gradients="unknown")


def _on_estimator(name: str, on: str) -> bool:
    """An Estimator, also one of the ready-made ones."""
    ready = name.startswith("tensorflow.estimator.") and on.endswith(("Classifier()", "Regressor()"))
    return ready or "Estimator()" in name


def step_optimizer(context: Context, site: Site) -> Value | None:
    """The optimizer whose step a call of minimize, apply_gradients, create_train_op or the like makes."""
    module, index = site
    name = context.names.of_call(module, index)
    call = module.code.calls[index]
    return argument(call, "optimizer", _MAKERS[name]) if name in _MAKERS else receiver(call)


def is_scaled(context: Context, site: Site) -> bool:
    """Whether the step that a call makes may be one of a loss scale optimizer."""
    module, index = site
    value = step_optimizer(context, site)
    made = [] if value is None else layers(context, module, value, module.code.calls[index])
    return any(scales(at, name) for at, name in made)


def made_scaled(context: Context, made: Site) -> bool:
    """Whether an optimizer that was made at a place scales the loss, itself or by what it wraps."""
    return any(scales(inner, name) for inner, name in layers_of(context, [made]))


def _made_step(context: Context, module: Module, index: int, name: str) -> Fact:
    """``create_train_op(loss, optimizer)`` and ``optimize_loss(loss, step, rate, optimizer)``."""
    call = module.code.calls[index]
    given = argument(call, "optimizer", _MAKERS[name])
    sites = [] if given is None else context.flow.sites(module, given, call.block, call.line)
    return context.call_fact(
        "train_step",
        name.rpartition(".")[2],
        module,
        index,
        scaled=lambda: "yes" if is_scaled(context, (module, index)) else "no" if sites else "unknown",
        on=name,
        gradients="compute_gradients",
    )


def _optimizer_step(context: Context, module: Module, index: int, name: str) -> list[Fact]:
    call = module.code.calls[index]
    optimizer = _on_optimizer(name) or _looks_like_optimizer(name)
    if not optimizer and not _made_as_optimizer(context, module, receiver(call), call):
        return []
    on, _, last = name.rpartition(".")
    return [
        context.call_fact(
            "train_step",
            last,
            module,
            index,
            scaled=_known_scaled(context, (module, index)),
            on=on,
            beside_scaled=lambda: _beside_scaled(context, module, call),
            gradients=lambda: _gradients(context, module, call),
            source_scaled=lambda: _source_scaled(context, module, index, last),
        )
    ]


def _named_like_a_model(name: str) -> bool:
    """A model kept in a name that says so (``?self.model.fit``)."""
    return name.startswith("?") and bool(_MODEL_NAME.search(name.rpartition(".")[0].lower()))


def _on_optimizer(name: str) -> bool:
    base = name.rpartition(".")[0]
    return (
        "Optimizer" in base
        or base.startswith("tensorflow.keras.optimizers.")
        or "optimizer" in base.lower()
        or base.endswith("mixed_precision_graph_rewrite()")
    )


def _looks_like_optimizer(name: str) -> bool:
    base = name.rpartition(".")[0].rpartition(".")[2].lower()
    return name.startswith("?") and bool(_OPTIMIZER_NAME.search(base))


def _made_as_optimizer(context: Context, module: Module, value: Value | None, call: Call) -> bool:
    """Whether a parameter or the like is an optimizer wherever the project makes it."""
    sites = [] if value is None else context.flow.sites(module, value, call.block, call.line)
    return bool(sites) and all(_on_optimizer(f"{context.names.of_call(home, at)}().minimize") for home, at in sites)


def _gradients(context: Context, module: Module, call: Call) -> str:
    """How apply_gradients got its gradients: compute_gradients, tf.gradients, tape or unknown."""
    names = {context.names.of_call(home, at) for home, at in gradient_calls(context, module, call)}
    for word in ("compute_gradients", "gradients", "gradient"):
        if any(n.rpartition(".")[2] == word for n in names):
            return {"gradients": "tf.gradients", "gradient": "tape"}.get(word, word)
    return "unknown"


def _source_scaled(context: Context, module: Module, index: int, last: str) -> str:
    """Whether the optimizer whose compute_gradients the applied gradients come from scales the loss: yes, no, or
    unknown, also where that of either optimizer depends on a condition."""
    call = module.code.calls[index]
    if last != "apply_gradients":
        return "unknown"
    own = all_scaled(context, (module, index))
    sites = [s for s in gradient_calls(context, module, call) if s[0].callee_name(s[1]) == "compute_gradients"]
    answers = {all_scaled(context, site) for site in sites}
    return answers.pop() if len(answers) == 1 and own != "unknown" else "unknown"


def _beside_scaled(context: Context, module: Module, call: Call) -> str:
    """Whether the same file scales the loss of another optimizer; unknown below a condition, where either may run."""
    if any(module.blocks[b].kind in ("if", "else") for b in module.ancestors(call.block)):
        return "unknown"
    calls = module.calls_of(*LOSS_SCALE_OPTIMIZERS)
    scaling = any(context.names.of_call(module, i).startswith("npu_bridge.") for i in calls)
    return "yes" if scaling else "no"


def _known_scaled(context: Context, site: Site) -> str:
    if is_scaled(context, site):
        return "yes"
    module, index = site
    call = module.code.calls[index]
    value = receiver(call)
    return "no" if value is not None and context.flow.sites(module, value, call.block, call.line) else "unknown"


def all_scaled(context: Context, site: Site) -> str:
    """Whether every optimizer scales the loss that the method at a place may belong to: yes, none (no) or unknown."""
    module, index = site
    call = module.code.calls[index]
    value = receiver(call)
    sites = [] if value is None else context.flow.sites(module, value, call.block, call.line)
    answers = {made_scaled(context, made) for made in sites}
    return "unknown" if len(answers) != 1 else "yes" if answers.pop() else "no"
