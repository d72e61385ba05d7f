"""The TensorFlow interfaces that build an operator."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from npulint.core.lazy_regex import lazy_compile
from npulint.data.host_ops import host_ops
from npulint.data.supported import recorded

_LISTED = 4
_GRADIENT = lazy_compile(r"Grad(?:V\d)?$")
_ARRAYS = ("TensorArray", "TensorList", "EmptyTensorList", "StackV2", "StackPush", "StackPop")
_KNOWN = {
    "PyFunc": "tf.py_func",
    "EagerPyFunc": "tf.py_function",
    "PyFuncStateless": "tf.numpy_function",
    "CudnnRNN": "tf.contrib.cudnn_rnn.CudnnLSTM",
    "CudnnRNNV2": "tf.contrib.cudnn_rnn.CudnnLSTM",
    "CudnnRNNV3": "tf.keras.layers.LSTM",
    "BlockLSTM": "tf.contrib.rnn.LSTMBlockFusedCell",
    "LSTMBlockCell": "tf.contrib.rnn.LSTMBlockCell",
    "GRUBlockCell": "tf.contrib.rnn.GRUBlockCellV2",
    "NcclAllReduce": "tf.contrib.nccl.all_sum",
    "CollectiveReduce": "tf.distribute.experimental.MultiWorkerMirroredStrategy",
    "Where": "tf.where",
    "SparseSegmentSum": "tf.nn.embedding_lookup_sparse",
    "SparseSegmentMean": "tf.nn.embedding_lookup_sparse",
    "SparseSegmentSqrtN": "tf.nn.embedding_lookup_sparse",
    "SparseFillEmptyRows": "tf.nn.safe_embedding_lookup_sparse",
    "Unique": "tf.unique",
}


def interfaces(ops: Iterable[str]) -> str:
    """The interfaces that build operators of these types, as a script may spell them."""
    found = dict.fromkeys(_interface(op) for op in ops)
    names = [f"`{name}`" for name in found if name]
    return ", ".join([*names[:_LISTED], *(["…"] if len(names) > _LISTED else [])])


def _interface(op: str) -> str:
    """The usual interface of an operator, else the one of the same name; for a gradient, that of its forward
    operator."""
    base = _GRADIENT.sub("", op)
    known = _KNOWN.get(base) or _recorded().get(base, "")
    if not known and op.startswith(_ARRAYS):
        return "tf.TensorArray"
    return known or (f"tf.raw_ops.{op}" if recorded(op).known else "")


@cache
def _recorded() -> dict[str, str]:
    """From operator to the shortest interface name that builds it and has a similar name."""
    found: dict[str, str] = {}
    for name, entries in host_ops().items():
        short = name.replace("tensorflow.", "tf.", 1)
        last = name.rpartition(".")[2].replace("_", "").lower()
        for op in (op for entry in entries for op in entry.ops.split()):
            if op.lower().startswith(last):
                found[op] = min(found.get(op, short), short, key=lambda one: (len(one), one))
    return found
