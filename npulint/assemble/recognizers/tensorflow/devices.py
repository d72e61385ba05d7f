"""Devices and distribution: device strings, horovod, strategies, the NPU's own interfaces."""

from __future__ import annotations

import re

from npulint.assemble.context import Context
from npulint.assemble.cursors import call_at
from npulint.assemble.flow import argument
from npulint.assemble.module import Module
from npulint.assemble.recognizers.tensorflow.optimizers import LOSS_SCALE_OPTIMIZERS, is_wrapped_by, wrapped
from npulint.assemble.recognizers.tensorflow.towers import is_repeated
from npulint.assemble.used_results import consumed
from npulint.facts.code import Const, Op, Value
from npulint.facts.model import Fact
from npulint.lazy_regex import lazy_compile

_DEVICE_CALLS = frozenset(("tensorflow.device", "tensorflow.train.replica_device_setter", "tensorflow.Graph().device"))
_GPU = lazy_compile(r"gpu|cuda", re.IGNORECASE)
_STACKS = (
    ("horovod", lazy_compile(r"^horovod\.")),
    (
        "tf.distribute",
        re.compile(
            r"^tensorflow\.(?:contrib\.)?distribute\.|^tensorflow\.train\.(?:SyncReplicasOptimizer|Server|ClusterSpec)$"
        ),
    ),
    (
        "npu",
        lazy_compile(
            r"^npu_bridge\.npu_init\.(?:NPUDistributedOptimizer|npu_distributed_optimizer_wrapper|npu_tf_optimizer|npu_keras_optimizer|npu_allreduce|hccl_ops\.\w+|NPUBroadcastGlobalVariables\w+|get_(?:npu_)?(?:local_)?rank_\w+|npu_strategy\.\w+)$|^(?:npu_bridge\.)?hccl\.|^npu_device\.distribute\.[\w.]+$"
        ),
    ),
    ("tpu", lazy_compile(r"^tensorflow\.(?:contrib\.tpu|tpu|estimator\.tpu)\.|\.TPUClusterResolver$")),
)
_STACKED = ("tensorflow.", "horovod.", "npu_bridge.", "hccl.", "npu_device.")  # how names of these begin
_WHAT = (
    ("optimizer", lazy_compile(r"Optimizer$|optimizer(?:_wrapper)?$")),
    ("broadcast", lazy_compile(r"roadcast")),
    ("init", lazy_compile(r"init|shutdown")),
    ("rank", lazy_compile(r"rank|size$")),
    ("allreduce", lazy_compile(r"all_?reduce|all_?gather|reduce_scatter")),
    ("strategy", lazy_compile(r"Strategy$")),
)


def matches(name: str) -> bool:
    """Device scopes and members of the distribution stacks."""
    if not name.startswith(_STACKED) and not name.endswith(".TPUClusterResolver"):
        return False
    return name in _DEVICE_CALLS or any(pattern.search(name) for _, pattern in _STACKS)


def facts_for_call(context: Context, module: Module, index: int, name: str) -> list[Fact]:
    """``device`` and ``distribution`` facts."""
    if name in _DEVICE_CALLS:
        return _device(context, module, index, name)
    for stack, pattern in _STACKS:
        if pattern.search(name):
            last = name.rpartition(".")[2]
            what = next((w for w, p in _WHAT if p.search(last)), "other")
            return [
                context.call_fact(
                    "distribution",
                    name,
                    module,
                    index,
                    stack=stack,
                    what=what,
                    wraps_scaled=lambda: _wraps_scaled(context, module, index),
                    kept=lambda: "yes" if index in _consumed(context, module) else "no",
                )
            ]
    return []


def _consumed(context: Context, module: Module) -> set[int]:
    found: set[int] = context.memoize(("consumed", module.path), lambda: consumed(module))
    return found


def _wraps_scaled(context: Context, module: Module, index: int) -> str:
    """Whether the first argument is an optimizer that scales the loss already."""
    inner = wrapped(call_at(context, module, index))
    return "yes" if inner is not None and is_wrapped_by(inner, LOSS_SCALE_OPTIMIZERS) else "no"


def _device(context: Context, module: Module, index: int, name: str) -> list[Fact]:
    call = module.code.calls[index]
    value = argument(call, "device_name_or_function", 0) or argument(call, "worker_device", 1)
    if name.endswith("replica_device_setter"):
        value = argument(call, "worker_device", 2)
    if value is None:
        return []
    known = context.known(module, value, call)
    literal = _texts(context, module, value, 0)
    texts = [str(v) for v in known.values if isinstance(v, str)] or literal
    if not texts:
        return []
    text = " / ".join(texts)
    return [
        context.call_fact(
            "device",
            text,
            module,
            index,
            gpu="yes" if _GPU.search(text) else "no",
            via=name,
            computed="no" if known.exact else "yes",
            written="literal"
            if isinstance(value, Const)
            else "computed"
            if _GPU.search(" ".join(literal))
            else "elsewhere",
            tower=lambda: "yes" if is_repeated(call_at(context, module, index)) else "no",
        )
    ]


def _texts(context: Context, module: Module, value: Value, depth: int) -> list[str]:
    """The literal parts of a computed text (``'/gpu:%d' % i``, f-strings, ``.format``)."""
    if isinstance(value, Const):
        return [value.value] if isinstance(value.value, str) else []
    if isinstance(value, Op) and depth < 6:
        return [t for v in value.operands for t in _texts(context, module, v, depth + 1)]
    if hasattr(value, "call"):
        callee = module.code.calls[value.call].callee
        if isinstance(callee, Op) and callee.op == ".":
            return _texts(context, module, callee.operands[0], depth + 1)
    return []
