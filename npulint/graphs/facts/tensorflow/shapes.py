"""Shapes that a TensorFlow graph leaves open, and the cause: feeds, batches, results whose size depends on data."""

from __future__ import annotations

from typing import Literal
from weakref import WeakKeyDictionary

from npulint.facts.graph import Node
from npulint.facts.kinds import fact_kind
from npulint.graphs.facts.graph_fact import GraphFact
from npulint.graphs.facts.target import Target
from npulint.graphs.facts.tensorflow.flow import DataFlow
from npulint.graphs.facts.tensorflow.formatting import op_counts
from npulint.graphs.facts.tensorflow.origins import CONSTANT, DATA, WORDS, OriginWord, origins
from npulint.graphs.facts.tensorflow.sizes import (
    BATCH,
    INNER,
    RANK,
    Dims,
    Shape,
    constant,
    declared_shape,
    declared_shapes,
    recorded_shapes,
    taken,
    unknown,
    written,
)
from npulint.graphs.facts.tensorflow.view import TensorFlowGraphView

_FED = frozenset("Placeholder PlaceholderV2 PlaceholderWithDefault".split())
_NEXT = frozenset("IteratorGetNext IteratorGetNextSync".split())
_BATCHES = {  # the position of drop_remainder among the inputs; 0: it has none
    "BatchDataset": 0,
    "BatchDatasetV2": 2,
    "ParallelBatchDataset": 3,
    "PaddedBatchDataset": 0,
    "PaddedBatchDatasetV2": -1,
    "MapAndBatchDataset": -1,
    "MapAndBatchDatasetV2": -1,
    "ExperimentalMapAndBatchDataset": -1,
}
OF_DATA = frozenset(
    """Where Unique UniqueV2 UniqueWithCounts UniqueWithCountsV2 ListDiff DynamicPartition NonMaxSuppression
    NonMaxSuppressionV2 NonMaxSuppressionV3 NonMaxSuppressionV4 NonMaxSuppressionV5 NonMaxSuppressionWithOverlaps
    CTCGreedyDecoder CTCBeamSearchDecoder SegmentSum SegmentMean SegmentMax SegmentMin SegmentProd SparseSegmentSum
    SparseSegmentMean SparseSegmentSqrtN SparseFillEmptyRows SetDiff1D DenseToDenseSetOperation""".split()
)
"""Operators whose number of result rows depends on data."""

_SIZED = {  # operators with an input that determines the result size: its position
    "Range": 1,
    "Fill": 0,
    "Tile": 1,
    "OneHot": 1,
    "Reshape": 1,
    "BroadcastTo": 1,
    "Slice": 2,
    "Pad": 1,
    "PadV2": 1,
    "MirrorPad": 1,
    "SparseToDense": 1,
    "ScatterNd": 2,
    "LinSpace": 2,
    "RandomUniform": 0,
    "ResizeBilinear": 1,
    "ResizeNearestNeighbor": 1,
    "ResizeBicubic": 1,
}
_TOP_K = frozenset(("TopK", "TopKV2"))
_LISTED = 4


@fact_kind("graph_dynamic")
class OpenShape(GraphFact, eq=False, dict=True, kw_only=True):
    """The graph leaves a shape open; the name is the cause: placeholder; batch, padded_batch or iterator (batches of
    data sets); data or sparse_update (operators compute the size of their results)."""

    dims: Dims
    """Which dimensions are dynamic: only the batch (batch), others as well (inner), or their number (rank)."""
    shape: str
    """The shapes of some nodes, for a sentence; empty for operators that compute their result size."""
    ops: str
    """The types of the nodes with their counts, for a sentence; empty for placeholders."""


@fact_kind("graph_top_k")
class DynamicTopK(GraphFact, eq=False, dict=True, kw_only=True):
    """The k of a TopK or TopKV2 is not a constant; the name is the operator type."""

    k: Literal["shape", "unknown", "variable", "fed", "data"]
    """The origin of k."""
    maker: str
    """The nodes that compute it, for a sentence."""


_known: WeakKeyDictionary[TensorFlowGraphView, list[OpenShape | DynamicTopK]] = WeakKeyDictionary()


def facts(view: TensorFlowGraphView, target: Target) -> list[OpenShape | DynamicTopK]:
    """Facts ``graph_dynamic``, one per cause, and ``graph_top_k``."""
    shape_facts = _known.get(view)
    if shape_facts is None:
        shape_facts = _known[view] = [*_placeholders(view), *_batches(view), *_results(view)]
    return shape_facts


def _placeholders(view: TensorFlowGraphView) -> list[OpenShape]:
    by_dims: dict[str, list[tuple[Node, Shape]]] = {}
    for _, _, node in view.stepped_of(_FED):
        shape = declared_shape(node)
        by_dims.setdefault(unknown(shape), []).append((node, shape))
    shown: tuple[Dims, ...] = (INNER, BATCH, RANK)
    return [
        OpenShape(view.node_set([node for node, _ in fed]), "placeholder", dims=dims, shape=_shapes(fed), ops="")
        for dims in shown
        if (fed := by_dims.get(dims))
    ]


def _batches(view: TensorFlowGraphView) -> list[OpenShape]:
    """The batches that a step takes from datasets, at the operator that leaves their size open if the graph contains
    it."""
    open_: dict[str, list[tuple[Node, Shape]]] = {}
    for _, _, node in view.stepped_of(_NEXT):
        shapes = declared_shapes(node, "output_shapes")
        if shapes is not None:
            worst: Shape = max(shapes, key=lambda shape: ("", BATCH, INNER, RANK).index(unknown(shape)), default=[])
            open_.setdefault(unknown(worst), []).append((node, worst))
    open_shapes = []
    shown: tuple[Dims, ...] = (INNER, RANK, BATCH)
    for dims in shown:
        if nexts := open_.get(dims):
            makers = _makers(view, padded=dims == INNER)
            name = ("padded_batch" if dims == INNER else "batch") if makers else "iterator"
            nodes = makers or [node for node, _ in nexts]
            open_shapes.append(
                OpenShape(view.node_set(nodes), name, dims=dims, shape=_shapes(nexts), ops=op_counts(nodes))
            )
    return open_shapes


def _makers(view: TensorFlowGraphView, padded: bool) -> list[Node]:
    """The operators that make batches of unknown size: they pad to the longest sample, or keep an incomplete last
    batch."""
    makers = [(f, place, f.nodes[place]) for f in view.flows for op in _BATCHES for place in f.of_op.get(op, ())]
    if padded:
        return [node for _, _, node in makers if node.op.startswith("Padded")]
    return [node for flow, place, node in makers if _keeps_remainder(flow, place)]


def _keeps_remainder(flow: DataFlow, place: int) -> bool:
    node = flow.nodes[place]
    position = _BATCHES[node.op]
    if not position:
        return True
    values = [text for text in node.inputs if not text.startswith("^")]
    producer = taken(flow, place, position if position > 0 else len(values) - 1)
    return producer is not None and constant(flow, producer) is False


def _results(view: TensorFlowGraphView) -> list[OpenShape | DynamicTopK]:
    """The operators whose result size depends on their values."""
    groups: dict[str, list[Node]] = {}
    top_k: dict[OriginWord, list[tuple[Node, str]]] = {}
    for flow, path in zip(view.flows, view.on_path, strict=True):
        ops = [op for op in flow.of_op if op in _SIZED or op in OF_DATA or op in _TOP_K]
        open_places = sorted(
            place for op in ops for place in flow.of_op[op] if place in path and _open(flow.nodes[place])
        )
        origin_of = origins(flow, _decisive(flow, open_places))
        for place in open_places:
            node = flow.nodes[place]
            if node.op in _TOP_K:
                origin, maker = _k(flow, place, origin_of)
                top_k.setdefault(origin, []).append((node, maker))
            elif group := _cause(flow, place, origin_of):
                groups.setdefault(group, []).append(node)
    results: list[OpenShape | DynamicTopK] = [
        OpenShape(view.node_set(nodes), name, dims=INNER, shape="", ops=op_counts(nodes))
        for name, nodes in sorted(groups.items())
    ]
    for origin, pairs in sorted(top_k.items()):
        if origin != "constant":
            makers = ", ".join(dict.fromkeys(f"`{maker}`" for _, maker in pairs[:_LISTED] if maker))
            results.append(
                DynamicTopK(view.node_set([node for node, _ in pairs]), pairs[0][0].op, k=origin, maker=makers)
            )
    return results


def _open(node: Node) -> bool:
    """Whether a result has an unknown dimension."""
    shapes = recorded_shapes(node)
    return not shapes or any(unknown(shape) for shape in shapes)


def _decisive(flow: DataFlow, open_places: list[int]) -> list[int]:
    """The nodes whose origin decides about the nodes at these positions."""
    deciding = []
    for place in open_places:
        op = flow.nodes[place].op
        position = 1 if op in _TOP_K else _SIZED.get(op)
        decisive = place if position is None else taken(flow, place, position)
        deciding += [] if decisive is None else [decisive]
    return deciding


def _cause(flow: DataFlow, place: int, origin_of: dict[int, int]) -> str:
    """Why the shape of a result is open; empty if it is not, or if another open shape causes it."""
    node = flow.nodes[place]
    if node.op in _SIZED:
        size = taken(flow, place, _SIZED[node.op])
        return "data" if size is not None and origin_of[size] == DATA else ""
    if node.attrs.get("pad_to_max_output_size") is True or origin_of[place] == CONSTANT:
        return ""
    if node.op.startswith("Unique") and any(scope.startswith("update_") for scope in node.name.split("/")):
        return "sparse_update"
    return "data"


def _k(flow: DataFlow, place: int, origin_of: dict[int, int]) -> tuple[OriginWord, str]:
    """The origin of the k of a TopK, and the operator that computes it."""
    if flow.nodes[place].op == "TopK":  # it is an attribute
        return WORDS[CONSTANT], ""
    producer = taken(flow, place, 1)
    if producer is None:
        return "unknown", ""
    origin = WORDS[origin_of[producer]]
    for _ in range(_LISTED):
        if flow.nodes[producer].op not in ("Identity", "Cast", "Switch") or not flow.inputs[producer]:
            break
        producer = flow.inputs[producer][0]
    return origin, flow.nodes[producer].name


def _shapes(pairs: list[tuple[Node, Shape]]) -> str:
    return ", ".join(dict.fromkeys(f"`{node.name}` {written(shape)}" for node, shape in pairs[:_LISTED]))
