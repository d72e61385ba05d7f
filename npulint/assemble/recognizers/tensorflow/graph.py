"""The graph: V1 control flow and causes of dynamic shapes."""

from __future__ import annotations

from npulint.assemble.context import Context
from npulint.assemble.flow import argument
from npulint.assemble.module import Module
from npulint.assemble.recognizers.tensorflow.summed import described, sum_of
from npulint.facts.code import CallResult, Const, Op, Ref, SequenceDisplay, Value
from npulint.facts.model import Fact
from npulint.lazy_regex import lazy_compile

_CONTROL = frozenset(
    """tensorflow.cond tensorflow.while_loop tensorflow.case tensorflow.map_fn tensorflow.scan tensorflow.foldl
    tensorflow.foldr tensorflow.nn.dynamic_rnn tensorflow.nn.bidirectional_dynamic_rnn
    tensorflow.contrib.seq2seq.dynamic_decode
    tensorflow.nn.raw_rnn tensorflow.contrib.framework.smart_cond tensorflow.nn.static_state_saving_rnn
    tensorflow.contrib.rnn.stack_bidirectional_dynamic_rnn""".split()
)
# Loops and branches under other names, and what builds branches beside its own work.
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
# Where the flag stands that chooses between training and inference: a tensor there is a branch in the graph.
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


_BUILDING = _CONTROL | _WITHIN | _BESIDE | _UNROLLED | _PHASED.keys()
_WANTED = _BUILDING | _DYNAMIC | _PLACEHOLDERS | {"tensorflow.where", "tensorflow.nn.top_k"}


def matches(name: str) -> bool:
    """Control flow and causes of dynamic shapes."""
    return name in _WANTED


def facts_for_call(context: Context, module: Module, index: int, name: str) -> list[Fact]:
    """``control_flow`` and ``dynamic_shape`` facts."""
    found = []
    if name in _CONTROL or _loops(context, module, index, name):
        found.append(context.call_fact("control_flow", name, module, index, implicit="no"))
    elif name in _BESIDE or _phased(context, module, index, name):
        found.append(context.call_fact("control_flow", name, module, index, implicit="yes"))
    if name in _PLACEHOLDERS:
        found += _placeholder(context, module, index)
    elif name in _DYNAMIC or (name == "tensorflow.where" and _one_argument(module, index)):
        found.append(context.call_fact("dynamic_shape", name, module, index, inner="yes", dims="data"))
    elif name == "tensorflow.nn.top_k":
        kind = k_kind(context, module, index)
        if kind == "tensor":
            found.append(context.call_fact("dynamic_shape", name, module, index, inner="yes", dims="k"))
        found += _top_k(context, module, index, name, kind)
    return found


def _top_k(context: Context, module: Module, index: int, name: str, kind: str) -> list[Fact]:
    """The ``top_k`` fact, and a ``top_k_sum`` at the call that sums its values where they are computed."""
    use = described(context, module, index) if kind == "tensor" else {"summed": "unknown"}
    found = [context.call_fact("top_k", name, module, index, k=kind, words=lambda: _k_words(module, index), **use)]
    if use["summed"] == "direct":
        found.append(context.call_fact("top_k_sum", name, module, sum_of(context, module, index), **use))
    return found


def _loops(context: Context, module: Module, index: int, name: str) -> bool:
    """Whether a call builds a loop or branch under another name; recurrent layers do unless they are unrolled."""
    if name not in _UNROLLED:
        return name in _WITHIN
    call = module.code.calls[index]
    unroll = argument(call, "unroll", -1)
    return unroll is None or context.known(module, unroll, call).single is False


def _phased(context: Context, module: Module, index: int, name: str) -> bool:
    """Whether a layer is told by a placeholder whether it trains: both ways are then in the graph."""
    if name not in _PHASED:
        return False
    call = module.code.calls[index]
    flag = argument(call, *_PHASED[name])
    sites = [] if flag is None else context.flow.sites(module, flag, call.block, call.line)
    return bool(sites) and all(context.names.of_call(home, at) in _PLACEHOLDERS for home, at in sites)


def _one_argument(module: Module, index: int) -> bool:
    call = module.code.calls[index]
    return len(call.args) == 1 and not any(k in ("x", "y", "**") for k, _ in call.keywords)


def _placeholder(context: Context, module: Module, index: int) -> list[Fact]:
    call = module.code.calls[index]
    value = argument(call, "shape", 1)
    if value is None or (isinstance(value, Const) and value.value is None):
        return (
            [context.call_fact("dynamic_shape", "placeholder", module, index, inner="yes", dims="rank")]
            if value is None
            else []
        )
    shapes = (
        [value] if isinstance(value, SequenceDisplay) else context.flow.displays(module, value, call.block, call.line)
    )
    for shape in shapes:
        if isinstance(shape, SequenceDisplay):
            unknown = [i for i, d in enumerate(shape.items) if _is_none(context, module, d, call.block, call.line)]
            if unknown:
                inner = "yes" if any(i > 0 for i in unknown) else "no"
                return [
                    context.call_fact(
                        "dynamic_shape", "placeholder", module, index, inner=inner, dims=str(len(unknown))
                    )
                ]
    return []


def _is_none(context: Context, module: Module, value: Value, block: int, line: int) -> bool:
    known = context.flow.known(module, value, block, line)
    return known.values == (None,) and not known.symbol and known.exact


_FOLDED = (
    "tensorflow.shape",
    "tensorflow.size",
    "tensorflow.convert_to_tensor",
)  # constants wherever the shape is static
_TENSOR = lazy_compile(r"^tensorflow\.(?!compat\.|contrib\.training\.HParams|app\.|flags\.|constant\b)")


def k_kind(context: Context, module: Module, index: int) -> str:
    """What top_k's k is: constant, tensor (computed in the graph) or unknown."""
    call = module.code.calls[index]
    value = argument(call, "k", 1)
    if value is None:
        return "constant"
    if context.known(module, value, call).values:
        return "constant"
    name = context.names.of_value(module, value, call.block, call.line)
    if _TENSOR.match(name) and not name.startswith(("tensorflow.data.", *_FOLDED)):
        return "tensor"
    return "unknown"


def _k_words(module: Module, index: int) -> str:
    """The names in top_k's k, lower case, joined by spaces."""
    value = argument(module.code.calls[index], "k", 1)
    queue = [] if value is None else [value]
    words = []
    for _ in range(32):
        if not queue:
            break
        part = queue.pop(0)
        if isinstance(part, Ref):
            words.append(part.name.lower())
        elif isinstance(part, Op):
            queue += part.operands
        elif isinstance(part, CallResult):
            queue += module.code.calls[part.call].args
    return " ".join(words)
