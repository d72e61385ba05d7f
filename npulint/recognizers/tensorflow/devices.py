"""Devices and distribution: device strings, Horovod, strategies, interfaces of the adapter."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.attributes import Flag, attribute
from npulint.facts.kinds import fact_kind
from npulint.model.code.used_results import consumed
from npulint.model.running.code_facts import CallFact
from npulint.model.values.context import once_per_file
from npulint.model.values.cursors import CallSite, Expr, Scope
from npulint.model.values.walker import walker
from npulint.recognizers.registry import recognizes
from npulint.recognizers.tensorflow.optimizers import LOSS_SCALE_OPTIMIZERS, is_wrapped_by, wrapped

# Towers: the model is built once per GPU, in a loop over devices or by slim's deployment module.

_DEVICE = "tensorflow.device"
_DEPLOYMENT = "DeploymentConfig"
_TOWER_NAMES = lazy_compile(r"gpu|cuda|tower|clone|device")
_LISTS = frozenset("enumerate list sorted zip tuple".split())


@fact_kind("towers")
class Towers(CallFact):
    """A device scope depends on its loop, or clones are configured; the name is the canonical callee."""

    _counts: tuple[int, ...]  # possible numbers of towers; empty if unknown

    @attribute
    def many(self) -> Flag:
        """Whether the model is built more than once."""
        if not self._counts:
            return "unknown"
        return "yes" if min(self._counts) > 1 else "no" if max(self._counts) <= 1 else "unknown"

    @attribute
    def towers(self) -> str:
        """How often at most; 0 if that is not known."""
        return str(max(self._counts, default=0))


@recognizes(matching=lambda name: name == _DEVICE or name.endswith(_DEPLOYMENT))
def towers(call: CallSite) -> list[Towers]:
    """Device scopes and slim's deployment configuration."""
    if call.name != _DEVICE:
        clones = call.argument("num_clones", 0)
        return [] if clones is None else [Towers(call, call.name, tuple(_numbers(clones)))]
    loop = call.scope.loop
    device = call.argument("device_name_or_function", 0)
    if loop is None or device is None:
        return []
    over = call.expr(loop.record.test)
    words = [*_words(over), *_words(device)]
    is_tower = _changes(device, loop) and _TOWER_NAMES.search(" ".join(words).lower())
    return [Towers(call, call.name, tuple(_lengths(over)))] if is_tower else []


def is_repeated(call: CallSite) -> bool:
    """Whether a device scope certainly contains one of several towers."""
    return call.name == _DEVICE and any(fact.many == "yes" for fact in towers(call))


def _changes(device: Expr, loop: Scope) -> bool:
    """Whether a device is computed from the loop variable."""
    assigned = [assignment for assignment in loop.assignments if assignment.scope is loop]
    elements = [
        (assignment.target, assignment.value.subscript[0] if assignment.value.subscript else assignment.value)
        for assignment in assigned
    ]
    return not {target for target, value in elements if value.operator == "iter"}.isdisjoint(_words(device))


def _words(value: Expr) -> list[str]:
    """The names and texts in an expression, including those in calls."""
    return [part.written or part.text for part in value.mentioned if part.written or part.text]


@walker(depth=7, otherwise=list)
def _lengths(value: Expr) -> list[int]:
    """The possible numbers of iterations of a loop."""
    if value.is_display:
        return [len(value.items)]
    call = value.call
    if call is not None:
        return _lengths_of_result(call) if call.args else []
    lengths = [_lengths(assignment.value) for assignment in value.assignments]
    return [number for part in lengths for number in part] if all(lengths) else []


def _lengths_of_result(call: CallSite) -> list[int]:
    if call.last in ("range", "xrange"):
        return _numbers(call.args[:2][-1])
    if call.last == "split":
        return _pieces(call)
    return _lengths(call.args[0]) if call.last in _LISTS else []


@walker(depth=7, otherwise=list)
def _numbers(value: Expr) -> list[int]:
    """The possible numbers of a value; also ``len(…)`` of a list or of a split text."""
    call = value.call
    if call is not None and call.last == "len":
        return _lengths(call.args[0]) if call.args else []
    values = value.known.values
    numbers = [number for number in values if isinstance(number, int) and not isinstance(number, bool)]
    if numbers or not value.written:
        return numbers if len(numbers) == len(values) else []
    assigned = [_numbers(assignment.value) for assignment in value.assignments]
    return [number for part in assigned for number in part] if all(assigned) else []


def _pieces(call: CallSite) -> list[int]:
    """The possible numbers of parts of ``text.split(",")``."""
    separator = call.args[0].text
    values = call.receiver.known.values if call.receiver is not None and call.receiver.written else ()
    texts = [text for text in values if isinstance(text, str) and not text.startswith("tensorflow.")]  # not only names
    return [len(text.split(separator)) for text in texts] if separator else []


# From functions with a device argument to its keyword and position.
_DEVICE_CALLS = {
    "tensorflow.device": ("device_name_or_function", 0),
    "tensorflow.Graph().device": ("device_name_or_function", 0),
    "tensorflow.train.replica_device_setter": ("worker_device", 2),
    "tensorflow.nn.rnn_cell.DeviceWrapper": ("device", 1),
    "tensorflow.contrib.rnn.DeviceWrapper": ("device", 1),
}
_ONE_DEVICE = "OneDeviceStrategy"
_GPU = lazy_compile(r"gpu|cuda", re.IGNORECASE)
Stack = Literal["horovod", "tf.distribute", "npu", "tpu"]
_STACKS: tuple[tuple[Stack, re.Pattern[str]], ...] = (
    ("horovod", lazy_compile(r"^horovod\.")),
    (
        "tf.distribute",
        lazy_compile(
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
_STACKED = ("tensorflow.", "horovod.", "npu_bridge.", "hccl.", "npu_device.")  # prefixes of their names
What = Literal["init", "rank", "optimizer", "broadcast", "strategy", "allreduce", "other"]
_WHAT: tuple[tuple[What, re.Pattern[str]], ...] = (
    ("optimizer", lazy_compile(r"Optimizer$|optimizer(?:_wrapper)?$")),
    ("broadcast", lazy_compile(r"roadcast")),
    ("init", lazy_compile(r"init|shutdown")),
    ("rank", lazy_compile(r"rank|size$")),
    ("allreduce", lazy_compile(r"all_?reduce|all_?gather|reduce_scatter")),
    ("strategy", lazy_compile(r"Strategy$")),
)


@fact_kind("device")
class DeviceText(CallFact):
    """A string names the device for operations; the name is the string, or several strings separated by slashes."""

    computed: bool
    """Whether the text is computed."""
    written: Literal["literal", "computed", "elsewhere"]
    """How the text is written: as a literal in the call, there with literal parts that name a GPU, or elsewhere."""

    @attribute
    def via(self) -> str:
        """The canonical name of the function that gets the text."""
        return self.call.name

    @attribute
    def gpu(self) -> bool:
        """Whether it names a GPU."""
        return _GPU.search(self.name) is not None

    @attribute
    def tower(self) -> bool:
        """Whether it is the device scope of one of several towers."""
        return is_repeated(self.call)


@recognizes(matching=lambda name: name in _DEVICE_CALLS or name.endswith(f".{_ONE_DEVICE}"))
def device_texts(call: CallSite) -> Iterator[DeviceText]:
    """Device strings, also partly computed ones."""
    value = call.argument(*_DEVICE_CALLS.get(call.name, ("device", 0)))
    if value is None:
        return
    values, parts = value.known, _texts(value)
    texts = [text for text in values.values if isinstance(text, str)] or parts
    if not values.exact:
        texts += [text for text in _returned(value) if text not in texts]
    if texts:
        computed: Literal["computed", "elsewhere"] = "computed" if _GPU.search(" ".join(parts)) else "elsewhere"
        yield DeviceText(call, " / ".join(texts), not values.exact, "literal" if value.is_literal else computed)


@walker(depth=3, otherwise=list)
def _returned(value: Expr) -> list[str]:
    """The literal parts of texts that a function of the project may give back, also to callers that hand them on."""
    handed_to = value.passed_to
    if handed_to is not None:
        given = [expr for _, expr in handed_to.passed(value.written) if expr is not None]
        return [text for expr in given for text in _returned(expr)]
    made = value.call
    function = None if made is None else made.target
    if function is None or function.kind != "function":
        return []
    given = [expr for back in function.returns for expr in (back, *(kept.value for kept in back.assignments[:2]))]
    return list(dict.fromkeys(text for expr in given for text in _texts(expr)))


@fact_kind("distribution")
class DistributionCall(CallFact):
    """A function or class for distributed training is called; the name is its canonical name."""

    stack: Stack
    """The distribution stack: horovod, tf.distribute, the adapter's, or that for TPUs."""

    @attribute
    def what(self) -> What:
        """The purpose of the function."""
        last = self.name.rpartition(".")[2]
        return next((what for what, pattern in _WHAT if pattern.search(last)), "other")

    @attribute
    def wraps_scaled(self) -> bool:
        """Whether it wraps an optimizer that already scales the loss."""
        inner = wrapped(self.call)
        return inner is not None and is_wrapped_by(inner, LOSS_SCALE_OPTIMIZERS)

    @attribute
    def devices(self) -> Literal["one", "unknown"]:
        """How many devices a strategy has: one that is named, or those that it finds."""
        last = self.name.rpartition(".")[2]
        if last == _ONE_DEVICE:
            return "one"
        devices, number = self.call.argument("devices", 0), self.call.argument("num_gpus", 1)
        listed = [] if devices is None else devices.displays
        named = bool(listed) and all(len(display.items) == 1 for display in listed)
        return "one" if named or (number is not None and number.single == 1) else "unknown"

    @attribute
    def kept(self) -> bool:
        """Whether its result is used."""
        return self.call.index in _consumed(self.scope)


@once_per_file
def _consumed(scope: Scope) -> set[int]:
    """The calls of a file whose results are used."""
    return consumed(scope.module)


def _is_distributed(name: str) -> bool:
    may_be = name.startswith(_STACKED) or name.endswith(".TPUClusterResolver")
    return may_be and name not in _DEVICE_CALLS and any(pattern.search(name) for _, pattern in _STACKS)


@recognizes(matching=_is_distributed)
def distribution_calls(call: CallSite) -> list[DistributionCall]:
    """Calls of interfaces for distributed training."""
    name = call.name
    return [DistributionCall(call, name, next(stack for stack, pattern in _STACKS if pattern.search(name)))]


@walker(depth=7, otherwise=list)
def _texts(value: Expr) -> list[str]:
    """The literal parts of a computed text (``'/gpu:%d' % i``, f-strings, ``.format``)."""
    if value.is_literal:
        return [value.text] if isinstance(value.literal, str) else []
    call = value.call
    parts = value.operands() if call is None else call.callee.operands(".")[:1]
    return [text for part in parts for text in _texts(part)]
