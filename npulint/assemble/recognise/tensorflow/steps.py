"""Train steps: minimize, apply_gradients, fit, Estimator.train and the ready-made training loops."""

from __future__ import annotations

from npulint.assemble.context import Context
from npulint.assemble.flow import argument
from npulint.assemble.module import Module
from npulint.assemble.recognise.tensorflow.optimizers import LOSS_SCALE_OPTIMIZERS, wrapped_by
from npulint.facts.code import Call, Items, Op, Ref, Result, Value
from npulint.facts.model import Fact
from npulint.later import regex

_STEPS = frozenset(("minimize", "apply_gradients"))
_ESTIMATOR_STEPS = frozenset(("train", "train_and_evaluate"))
_KERAS_STEPS = frozenset(("fit", "fit_generator", "train_on_batch"))
_KERAS_MODEL = regex(
    r"^(?:tensorflow\.)?keras\.(?:models?\.)?(?:Model|Sequential)\(\)|^tensorflow\.keras\.applications\.\w+\(\)"
)
_LOOPS = frozenset(
    (
        "tensorflow.contrib.slim.learning.train",
        "tensorflow.contrib.training.train",
        "tensorflow.estimator.train_and_evaluate",
    )
)
_WORDS = _STEPS | _ESTIMATOR_STEPS | _KERAS_STEPS
_MODEL_NAME = regex(r"model$|net$")
_OPTIMIZER_NAME = regex(r"opt(?:im)?(?:izer)?\d*(?:\(\))?(?:\[\])?$|solver$|trainer$")


def wants(name: str) -> bool:
    """Calls that may be a train step."""
    return name.rpartition(".")[2] in _WORDS or name in _LOOPS


def of_call(context: Context, module: Module, index: int, name: str) -> list[Fact]:
    """The ``train_step`` fact of a call, if it is one."""
    last = name.rpartition(".")[2]
    on = name.rpartition(".")[0]
    if last in _STEPS:
        return _optimizer_step(context, module, index, name)
    if name in _LOOPS or (last in _ESTIMATOR_STEPS and "Estimator()" in name):
        return [_step(context, module, index, last, on)]
    if last in _KERAS_STEPS and (_KERAS_MODEL.match(name) or _named_like_a_model(name)):
        return [_step(context, module, index, last, "keras")]
    return []


def _step(context: Context, module: Module, index: int, last: str, on: str) -> Fact:
    return context.call_fact("train_step", last, module, index, scaled="unknown", on=on, gradients="unknown")


def _optimizer_step(context: Context, module: Module, index: int, name: str) -> list[Fact]:
    call = module.code.calls[index]
    receiver = _receiver(call)
    optimizer = _on_optimizer(name) or _looks_like_optimizer(name)
    if not optimizer and not _made_as_optimizer(context, module, receiver, call):
        return []
    on, _, last = name.rpartition(".")
    scaled = receiver is not None and wrapped_by(context, module, receiver, call, LOSS_SCALE_OPTIMIZERS)
    return [
        context.call_fact(
            "train_step",
            last,
            module,
            index,
            scaled="yes" if scaled else "no",
            on=on,
            gradients=lambda: _gradients(context, module, call),
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


def _made_as_optimizer(context: Context, module: Module, receiver: Value | None, call: Call) -> bool:
    """Whether a parameter or the like is an optimizer wherever the project makes it."""
    sites = [] if receiver is None else context.flow.sites(module, receiver, call.block, call.line)
    return bool(sites) and all(_on_optimizer(f"{context.names.of_call(home, at)}().minimize") for home, at in sites)


def _gradients(context: Context, module: Module, call: Call) -> str:
    """How apply_gradients got its gradients: compute_gradients, tf.gradients, tape or unknown."""
    value = argument(call, "grads_and_vars", 0)
    names = _sources(context, module, value, call.block, call.line, 0) if value is not None else set()
    for word in ("compute_gradients", "gradients", "gradient"):
        if any(n.rpartition(".")[2] == word for n in names):
            return {"gradients": "tf.gradients", "gradient": "tape"}.get(word, word)
    return "unknown"


def _sources(context: Context, module: Module, value: Value, block: int, line: int, depth: int) -> set[str]:
    """The canonical names of the calls that an expression is built from."""
    if depth > 8:
        return set()
    found: set[str] = set()
    if isinstance(value, Result):
        call = module.code.calls[value.call]
        found.add(context.names.of_call(module, value.call))
        for part in call.args:
            found |= _sources(context, module, part, call.block, call.line, depth + 1)
    elif isinstance(value, Ref):
        for home, bind in context.flow.bindings(module, value.name, block, line)[:6]:
            found |= _sources(context, home, bind.value, bind.block, bind.line, depth + 1)
    elif isinstance(value, Op):
        for part in value.operands:
            found |= _sources(context, module, part, block, line, depth + 1)
    elif isinstance(value, Items):
        for part in value.items[:8]:
            found |= _sources(context, module, part, block, line, depth + 1)
    return found


def _receiver(call: Call) -> Value | None:
    if isinstance(call.callee, Ref):
        return Ref(call.callee.name.rpartition(".")[0])
    if isinstance(call.callee, Op) and call.callee.op == ".":
        return call.callee.operands[0]
    return None
