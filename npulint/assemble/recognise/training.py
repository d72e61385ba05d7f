"""Training: optimizers, loss scale, train steps, session runs in loops."""

from __future__ import annotations

import re

from npulint.assemble.context import Context
from npulint.assemble.flow import argument
from npulint.assemble.module import Module
from npulint.facts.code import Call, Items, Op, Ref, Result, Table, Value
from npulint.facts.model import Fact
from npulint.later import regex

_OPTIMIZER = regex(
    r"^tensorflow\.(?:train|contrib\.opt|keras\.optimizers|contrib\.optimizer_v2)\.(?:\w*Optimizer\w*|Adam|SGD|RMSprop|Adagrad|Adadelta|Adamax|Nadam|Ftrl)$"
)
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
_STEPS = frozenset(("minimize", "apply_gradients"))
_ESTIMATOR_STEPS = frozenset(("train", "train_and_evaluate"))
_KERAS_STEPS = frozenset(("fit", "fit_generator", "train_on_batch"))
_KERAS_MODEL = regex(
    r"^(?:tensorflow\.)?keras\.(?:models?\.)?(?:Model|Sequential)\(\)|^tensorflow\.keras\.applications\.\w+\(\)"
)
_WRAPS = 4


_OWN = regex(r":[\w.]*Optimizer\w*$")
_WORDS = frozenset((*LOSS_SCALE_OPTIMIZERS, *_MANAGERS, *_STEPS, *_ESTIMATOR_STEPS, *_KERAS_STEPS, "run"))


def wants(name: str) -> bool:
    """Optimizers, loss scale, train steps and session runs."""
    return (
        name.rpartition(".")[2] in _WORDS or name in _LOOPS or bool(_OPTIMIZER.match(name)) or bool(_OWN.search(name))
    )


def of_call(context: Context, module: Module, index: int, name: str) -> list[Fact]:
    """Facts about training for one call."""
    last = name.rpartition(".")[2]
    if name.startswith(("tensorflow.", "npu_bridge.", "npu_device.", "horovod.")):
        if last in LOSS_SCALE_OPTIMIZERS or last in _MANAGERS:
            return [_loss_scale(context, module, index, name, last)]
        if _OPTIMIZER.match(name) and last not in _DISTRIBUTED:
            return [context.call_fact("optimizer", name, module, index, what="keras" if ".keras." in name else "tf")]
    if _OWN.search(name):
        return _own_optimizer(context, module, index, name)
    if last in _STEPS or last in _ESTIMATOR_STEPS or last in _KERAS_STEPS or name in _LOOPS:
        return _step(context, module, index, name, last)
    if last == "run" and is_session_run(name):
        return [_run(context, module, index, name)]
    return []


_LOOPS = frozenset(
    (
        "tensorflow.contrib.slim.learning.train",
        "tensorflow.contrib.training.train",
        "tensorflow.estimator.train_and_evaluate",
    )
)


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


def _step(context: Context, module: Module, index: int, name: str, last: str) -> list[Fact]:
    call = module.code.calls[index]
    if last in _STEPS:
        receiver = _receiver(call)
        if not (
            _on_optimizer(name) or _looks_like_optimizer(name) or _made_as_optimizer(context, module, receiver, call)
        ):
            return []
        scaled = receiver is not None and wrapped_by(context, module, receiver, call, LOSS_SCALE_OPTIMIZERS)
        return [
            context.call_fact(
                "train_step",
                last,
                module,
                index,
                scaled="yes" if scaled else "no",
                on=name.rpartition(".")[0],
                gradients=lambda: _gradients(context, module, call),
            )
        ]
    if name in _LOOPS or (last in _ESTIMATOR_STEPS and "Estimator()" in name):
        return [
            context.call_fact(
                "train_step", last, module, index, scaled="unknown", on=name.rpartition(".")[0], gradients="unknown"
            )
        ]
    if last in _KERAS_STEPS and (_KERAS_MODEL.match(name) or _keras_subclass(context, name)):
        return [context.call_fact("train_step", last, module, index, scaled="unknown", on="keras", gradients="unknown")]
    return []


def _keras_subclass(context: Context, name: str) -> bool:
    """A model kept in a name: only where the receiver is called model and the module uses Keras."""
    return name.startswith("?") and bool(re.search(r"model$|net$", name.rpartition(".")[0].lower()))


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
    return name.startswith("?") and bool(re.search(r"opt(?:im)?(?:izer)?\d*(?:\(\))?(?:\[\])?$|solver$|trainer$", base))


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


def is_session_run(name: str) -> bool:
    """Whether ``….run`` belongs to a session."""
    base = name.rpartition(".")[0]
    return base.endswith(("Session()", "session()")) or bool(re.search(r"(?:^|[.?])_?(?:tf)?sess(?:ion)?$", base))


def _run(context: Context, module: Module, index: int, name: str) -> Fact:
    call = module.code.calls[index]
    fetched = argument(call, "fetches", 0)
    fed = argument(call, "feed_dict", 1)
    return context.call_fact(
        "run",
        "tensorflow.Session().run",
        module,
        index,
        fetches=" ".join(fetched_names(fetched)),
        fed="yes" if fed is not None else "no",
        loops=str(context.loops(module, call.block)),
        gated="yes" if context.gated(module, call.block) else "no",
        runs=lambda: len(runs_beside(context, module, call.block)),
    )


def runs_beside(context: Context, module: Module, block: int) -> list[int]:
    """The session runs that happen in every round of the loop around `block`; none outside a loop."""
    loop = context.loop_of(module, block)
    return [] if loop < 0 else context.once(("runs", module.path), lambda: _runs_by_loop(context, module)).get(loop, [])


def _runs_by_loop(context: Context, module: Module) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for index, call in enumerate(module.code.calls):
        if module.written(index) != "run" or context.gated(module, call.block):
            continue
        if is_session_run(context.names.of_call(module, index)):
            found.setdefault(context.loop_of(module, call.block), []).append(index)
    return found


def fetched_names(value: Value | None) -> list[str]:
    """The names that a fetch mentions, as written."""
    if isinstance(value, Ref):
        return [value.name]
    if isinstance(value, Items):
        return [n for v in value.items for n in fetched_names(v)]
    if isinstance(value, Table):
        return [n for v in value.values for n in fetched_names(v)]
    return []


def _receiver(call: Call) -> Value | None:
    if isinstance(call.callee, Ref):
        return Ref(call.callee.name.rpartition(".")[0])
    if isinstance(call.callee, Op) and call.callee.op == ".":
        return call.callee.operands[0]
    return None
