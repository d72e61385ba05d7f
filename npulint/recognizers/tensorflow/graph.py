"""V1 control flow and causes of dynamic shapes."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from typing import Literal, NamedTuple

import msgspec

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.attributes import attribute
from npulint.facts.code import Assignment, CallResult, Const, Op, Ref, Value, names_in, nested, written_values
from npulint.facts.kinds import fact_kind
from npulint.model.code.module import Module
from npulint.model.code.used_results import consumed
from npulint.model.running.code_facts import CallFact
from npulint.model.values.cursors import AssignmentSite, CallSite, Expr, assignment_at
from npulint.model.values.walker import walker
from npulint.recognizers.registry import recognizes
from npulint.recognizers.tensorflow.top_k_counts import K, is_beside_count, k_kind

# Whether the values of top_k are only summed, so that padding with zeros does not change the result.

_SUM = "tensorflow.reduce_sum"
_NAME = lazy_compile(r"[A-Za-z_]\w*\Z")
_PLAIN = lazy_compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*\Z")
_AXES = ("axis", "reduction_indices")
_ARGUMENTS = frozenset(("input_tensor", "name", *_AXES))
Summed = Literal["named", "direct", "no", "unknown"]


class Summation(msgspec.Struct, frozen=True):
    """How the values of a call of top_k are summed. `into` is the name that they are assigned to, `over` and `count`
    are the arguments of top_k, if they are names."""

    summed: Summed = "unknown"
    into: str | None = None
    over: str | None = None
    count: str | None = None


def summation(top_k: CallSite) -> Summation:
    """How the result of a call of top_k is `summed`: named (assigned to a name that is summed once and used nowhere
    else), direct (summed where it is computed), or no."""
    into = _summed_name(top_k)
    over, count = _plain_name(top_k.argument("input", 0)), _plain_name(top_k.argument("k", 1))
    if into and (count or into).partition(".")[0] == into:
        return Summation("no", "unknown", over, count)  # the name has another value when the number is read
    if into:
        return Summation("named", into, over, count)
    return Summation("no" if sum_of(top_k) is None else "direct", "unknown", over, count)


def sum_of(top_k: CallSite) -> CallSite | None:
    """The call that directly sums the values of a call of top_k."""
    values = _values(top_k)
    calls = top_k.scope.calls_named("reduce_sum")
    sums = [call for call in calls if (tensor := call.argument("input_tensor", 0)) and tensor.value in values]
    return sums[0] if len(sums) == 1 and _sums_last_axis(sums[0]) else None


def _plain_name(argument: Expr | None) -> str | None:
    return argument.written if argument is not None and _PLAIN.match(argument.written) else None


def _values(top_k: CallSite) -> tuple[Value, Value]:
    """The two expressions for the values of a result."""
    result = CallResult(top_k.index)
    return Op("[]", (result, Const(0))), Op(".", (result, Const("values")))


def _sums_last_axis(call: CallSite) -> bool:
    """Whether a call sums everything, or along the last axis, which top_k sorts."""
    if call.name != _SUM or len(call.args) > 2 or not _ARGUMENTS.issuperset(call.keywords):
        return False
    axis = next((expr for key in _AXES if (expr := call.argument(key, 1)) is not None), None)
    return axis is None or (axis.is_literal and axis.literal in (-1, None))


def _summed_name(top_k: CallSite) -> str:
    """The name of values that are only summed; empty if there is none."""
    result = CallResult(top_k.index)
    records = top_k.module.code.assignments  # creating a cursor for each use would cost more than this search
    parts = [
        assignment_at(top_k.context, top_k.module, record)
        for record in records
        if isinstance(record.value, Op) and record.value.op in ("[]", ".") and record.value.operands[0] == result
    ]
    kept = [part for part in parts if part.value.value in _values(top_k)]
    if len(kept) != 1 or not _NAME.match(kept[0].target) or any(_reads(part) for part in parts if part is not kept[0]):
        return ""
    reads = _reads(kept[0])
    sums = [call for call in top_k.scope.calls_named("reduce_sum") if [call.argument("input_tensor", 0)] == reads]
    is_plain = len(sums) == 1 and reads[0].written == kept[0].target
    same = is_plain and sums[0].scope.function is kept[0].scope.function
    return kept[0].target if same and _sums_last_axis(sums[0]) else ""


def _reads(kept: AssignmentSite) -> list[Expr]:
    """The expressions that read a name after an assignment, with repetition: before the next assignment of the same
    block, and earlier in the same loop."""
    name, function = kept.target, kept.scope.function
    module, home = kept.scope.module, kept.scope.block
    binds = module.derive(_binds).get(name, ())
    later = [bind.line for bind in binds if bind.block == home and bind.line > kept.line]
    first, last = 0 if kept.scope.loop is not None else kept.line, min(later, default=1 << 62)
    if function is not None and function.record.end_line:  # a cheap filter: lines instead of blocks
        first, last = max(first, function.record.line - 1), min(last, function.record.end_line)
    exprs = []
    mentions = module.derive(_mentions).get(_root(name), [])
    for mention in mentions[bisect_right(mentions, first, key=_line) : bisect_right(mentions, last, key=_line)]:
        if mention.line != kept.line and (count := _count(mention.value, name)):
            scope = kept.scope.at(mention.block)
            if function is None or scope.is_inside(function):
                exprs += [scope.expr(mention.value, mention.line)] * count
    return exprs


class _Mention(NamedTuple):
    value: Value
    block: int
    line: int


def _line(mention: _Mention) -> int:
    return mention.line


def _mentions(module: Module) -> dict[str, list[_Mention]]:
    """The expressions of a module by the objects that they read, by line; to assign an attribute or an element of an
    object is to read it."""
    mentions_of: dict[str, list[_Mention]] = {}
    for value, block, line in written_values(module.code):
        for root in {_root(name.name) for name in names_in((value,))}:
            mentions_of.setdefault(root, []).append(_Mention(value, block, line))
    for assignment in module.code.assignments:
        root = _root(assignment.target)
        if root != assignment.target:
            mentions_of.setdefault(root, []).append(_Mention(Ref(root), assignment.block, assignment.line))
    for mentions in mentions_of.values():
        mentions.sort(key=_line)
    return mentions_of


def _binds(module: Module) -> dict[str, list[Assignment]]:
    """The assignments of a module by what they assign."""
    binds: dict[str, list[Assignment]] = {}
    for assignment in module.code.assignments:
        binds.setdefault(assignment.target, []).append(assignment)
    return binds


def _root(target: str) -> str:
    """The object whose attribute or element is assigned; a plain name itself."""
    return target.partition(".")[0].partition("[")[0]


def _count(value: Value, name: str) -> int:
    """How often an expression reads a name, not counting the calls in it."""
    if isinstance(value, Const | CallResult):
        return 0
    names = [part.name for part in nested(value) if isinstance(part, Ref)]
    return sum(read == name or read.startswith((f"{name}.", f"{name}[")) for read in names)


_CONTROL = frozenset(
    """tensorflow.cond tensorflow.while_loop tensorflow.case tensorflow.map_fn tensorflow.scan tensorflow.foldl
    tensorflow.foldr tensorflow.nn.dynamic_rnn tensorflow.nn.bidirectional_dynamic_rnn
    tensorflow.contrib.seq2seq.dynamic_decode
    tensorflow.nn.raw_rnn tensorflow.contrib.framework.smart_cond tensorflow.nn.static_state_saving_rnn
    tensorflow.contrib.rnn.stack_bidirectional_dynamic_rnn""".split()
)
# Other names of loops and branches, and calls that also build branches.
_WITHIN = frozenset(
    """tensorflow.keras.backend.switch tensorflow.keras.backend.in_train_phase tensorflow.keras.backend.in_test_phase
    tensorflow.keras.backend.rnn tensorflow.keras.backend.map_fn tensorflow.keras.backend.foldl
    tensorflow.keras.backend.foldr tensorflow.contrib.crf.crf_log_likelihood tensorflow.contrib.crf.crf_log_norm
    tensorflow.contrib.crf.crf_decode""".split()
)
_BESIDE = frozenset(
    """tensorflow.Assert tensorflow.train.piecewise_constant tensorflow.train.cosine_decay_restarts
    tensorflow.train.noisy_linear_cosine_decay""".split()
)
_UNROLLED = frozenset(f"tensorflow.keras.layers.{name}" for name in ("LSTM", "GRU", "SimpleRNN", "RNN"))
# The position of the training flag: a tensor there creates a branch in the graph.
_PHASED = {
    "tensorflow.layers.batch_normalization": ("training", 13),
    "tensorflow.layers.dropout": ("training", 4),
    "tensorflow.contrib.layers.batch_norm": ("is_training", 8),
    "tensorflow.contrib.slim.batch_norm": ("is_training", 8),
    "tensorflow.contrib.layers.dropout": ("is_training", 3),
    "tensorflow.contrib.slim.dropout": ("is_training", 3),
    "tensorflow.layers.BatchNormalization()": ("training", 1),
    "tensorflow.layers.Dropout()": ("training", 1),
    "tensorflow.keras.layers.BatchNormalization()": ("training", 1),
    "tensorflow.keras.layers.Dropout()": ("training", 1),
}
_DYNAMIC = frozenset(
    """tensorflow.boolean_mask tensorflow.unique tensorflow.unique_with_counts tensorflow.dynamic_partition
    tensorflow.image.non_max_suppression tensorflow.image.non_max_suppression_with_scores
    tensorflow.image.non_max_suppression_overlaps tensorflow.setdiff1d tensorflow.sparse.retain
    tensorflow.nn.ctc_greedy_decoder tensorflow.nn.ctc_beam_search_decoder
    tensorflow.contrib.seq2seq.dynamic_decode""".split()
)
_PLACEHOLDERS = frozenset(
    ("tensorflow.placeholder", "tensorflow.keras.backend.placeholder", "tensorflow.placeholder_with_default")
)
_KERAS_INPUT = lazy_compile(
    r"^(?:tensorflow\.)?keras\.(?:(?:layers\.|engine\.\w+\.)?Input(?:Layer)?|applications(?:\.\w+)?\.[A-Z]\w*)$"
)
_RECURRENT = ("dynamic_rnn", "bidirectional_dynamic_rnn")


@fact_kind("control_flow")
class ControlFlow(CallFact):
    """Loops or branches are built into the graph; the name is the canonical name of what builds them."""

    implicit: bool
    """Whether it also builds them: a layer that a placeholder switches, a stepwise learning rate, an assertion."""


@fact_kind("dynamic_shape")
class DynamicShape(CallFact):
    """A tensor has a shape that is not known before the graph runs; the name is the operation that creates it."""

    inner: bool
    """Whether a dimension other than the first is unknown."""
    dims: str
    """What is unknown: the dimensions, their number (rank), or what determines them (data, k)."""


class _SummedValues(CallFact):
    record: Summation = Summation()

    @attribute
    def summed(self) -> Summed:
        """How the values are used: assigned to a name that is summed once and used nowhere else (named), summed where
        they are computed (direct), or otherwise; unknown if k is not a tensor."""
        return self.record.summed

    @attribute
    def into(self) -> str | None:
        """The name that the values are assigned to, or unknown."""
        return self.record.into

    @attribute
    def over(self) -> str | None:
        """The input of top_k, if it is a name."""
        return self.record.over

    @attribute
    def count(self) -> str | None:
        """The argument k, if it is a name."""
        return self.record.count


@fact_kind("top_k")
class TopK(_SummedValues):
    """The largest values of a tensor are taken (``top_k``)."""

    k: K = "unknown"
    """The kind of its k: a constant, or a tensor that the graph computes."""

    @attribute
    def words(self) -> str:
        """The names in k, lower case, joined by spaces."""
        value = self.call.argument("k", 1)
        return " ".join([] if value is None else _names(value))

    @attribute
    def beside_count(self) -> bool:
        """Whether k is fixed, but the sum of the values is divided by a number that the graph counts in each batch."""
        return self.k == "constant" and is_beside_count(self.call)


@fact_kind("top_k_sum")
class SumOfTopK(_SummedValues):
    """The values of a ``top_k`` are summed where they are computed."""


@recognizes(*_CONTROL, *_WITHIN)
def control_flow(call: CallSite) -> list[ControlFlow]:
    """Calls that always build loops or branches."""
    return [ControlFlow(call, call.name, False)]


@recognizes(*_UNROLLED)
def recurrent_layers(call: CallSite) -> list[ControlFlow]:
    """Recurrent layers, which build loops unless they are unrolled."""
    unroll = call.argument("unroll")
    return [ControlFlow(call, call.name, False)] if unroll is None or unroll.single is False else []


@recognizes(*_BESIDE, *_PHASED)
def implied_control_flow(call: CallSite) -> list[ControlFlow]:
    """Calls that also build branches, such as layers that a placeholder switches between training and inference: both
    branches are in the graph."""
    name = call.name
    switch = call.argument(*_PHASED[name]) if name in _PHASED else None
    sites = [] if switch is None else switch.sites
    phased = bool(sites) and all(site.name in _PLACEHOLDERS for site in sites)
    return [ControlFlow(call, name, True)] if phased or name in _BESIDE else []


@recognizes(matching=lambda name: name.endswith(_RECURRENT) and ":" in name and not name.startswith("?"))
def copied_recurrent_loops(call: CallSite) -> list[ControlFlow]:
    """Recurrent loops in a copy of TensorFlow code."""
    last = call.name.replace(":", ".").rpartition(".")[2]
    return [ControlFlow(call, last, False)] if last in _RECURRENT else []


@recognizes(*_DYNAMIC, "tensorflow.where")
def shapes_by_data(call: CallSite) -> list[DynamicShape]:
    """Calls whose number of results depends on data, such as ``where`` with only a condition."""
    name = call.name
    is_choice = len(call.args) != 1 or any(call.has_keyword(key) for key in ("x", "y", "**"))
    return [] if name == "tensorflow.where" and is_choice else [DynamicShape(call, name, True, "data")]


@recognizes(*_PLACEHOLDERS)
def placeholders(call: CallSite) -> list[DynamicShape]:
    """Placeholders without a shape, or with unknown dimensions."""
    value = call.argument("shape", 1)
    if value is None:
        return [DynamicShape(call, "placeholder", True, "rank")]
    for shape in value.displays:
        unknown = [at for at, dimension in enumerate(shape.items) if _is_none(dimension)]
        if unknown:
            return [DynamicShape(call, "placeholder", any(unknown), str(len(unknown)))]
    return []


@recognizes(matching=lambda name: bool(_KERAS_INPUT.match(name)))
def keras_inputs(call: CallSite) -> list[DynamicShape]:
    """Inputs of Keras models with unknown dimensions besides the batch, which their shape leaves out."""
    last = call.name.rpartition(".")[2]
    word, position = ("shape", 0) if last == "Input" else ("input_shape", 0 if last == "InputLayer" else -1)
    shape = call.argument(word, position)
    unknown = max((sum(map(_is_none, expr.items)) for expr in ([] if shape is None else shape.displays)), default=0)
    return [DynamicShape(call, "Input", True, str(unknown))] if unknown and not _only_builds(call) else []


def _only_builds(made: CallSite) -> bool:
    """Whether an input is only given to a call of which nothing uses the result: it makes the weights of a model, and
    data of another shape trains it."""
    taking = [call for call in made.scope.all_calls if made.result.value in [expr.value for expr in call.arguments]]
    if len(taking) != 1 or taking[0].index in consumed(made.module):
        return False
    return taking[0].target is None or taking[0].name.endswith("()")


@recognizes(matching=lambda name: name.endswith(".padded_batch"))
def padded_batches(call: CallSite) -> list[DynamicShape]:
    """Batches of tf.data that are padded to their longest element, so that each has another size."""
    shapes = call.argument("padded_shapes", 1)
    unknown = 0 if shapes is None or call.target is not None else _open_dimensions(shapes)
    return [DynamicShape(call, "padded_batch", True, str(unknown))] if unknown else []


@walker(depth=4, otherwise=int)
def _open_dimensions(shapes: Expr) -> int:
    """How many dimensions are None in shapes, and in what holds them."""
    made = shapes.call
    if made is not None:
        return _open_dimensions(made.args[0]) if made.last == "TensorShape" and made.args else 0
    inner = shapes.items or [value for _, value in shapes.entries]
    return sum(1 if _is_none(expr) else _open_dimensions(expr) for expr in inner)


@recognizes("tensorflow.nn.top_k")
def top_k(call: CallSite) -> Iterator[CallFact]:
    """Calls of ``top_k``, the sums of their values where they are computed, and the shapes that depend on k."""
    kind = k_kind(call)
    if kind != "tensor":
        yield TopK(call, call.name, k=kind)
        return
    yield DynamicShape(call, call.name, True, "k")
    use = summation(call)
    yield TopK(call, call.name, use, kind)
    total = sum_of(call) if use.summed == "direct" else None
    if total is not None:
        yield SumOfTopK(total, call.name, use)


def _is_none(value: Expr) -> bool:
    values = value.known
    return values.values == (None,) and not values.symbol and values.exact


@walker(depth=8, otherwise=list)
def _names(value: Expr) -> list[str]:
    """The names in an expression and in the positional arguments of its calls, lower case."""
    parts = value.operands() if value.call is None else value.call.args
    return [value.written.lower()] if value.written else [name for part in parts for name in _names(part)]
