"""Facts ``onnx_shape``: operators whose result has a size that only their input values decide."""

from __future__ import annotations

from typing import Literal

from npulint.facts.graph import Node
from npulint.facts.kinds import fact_kind
from npulint.graphs.facts.graph_fact import GraphFact, Place
from npulint.graphs.facts.onnx.view import OnnxView

OpenCause = Literal["values", "k"]

_OF_VALUES = frozenset("NonZero NonMaxSuppression Unique Compress".split())
_K = 1  # the input of TopK


@fact_kind("onnx_shape")
class OnnxShape(GraphFact, eq=False, dict=True, kw_only=True):
    """An operator of an ONNX model whose result has no fixed size; the name is the operator."""

    cause: OpenCause
    """What decides the size: the values of a tensor, or a k that the model computes."""


def facts(view: OnnxView) -> list[OnnxShape]:
    """One fact per operator and place."""
    groups: dict[tuple[str, OpenCause, Place], list[Node]] = {}
    for node in view.all():
        cause = _cause(view, node)
        if cause is not None:
            groups.setdefault((node.op, cause, view.place(node)), []).append(node)
    return [OnnxShape(view.node_set(nodes, place), op, cause=cause) for (op, cause, place), nodes in groups.items()]


def _cause(view: OnnxView, node: Node) -> OpenCause | None:
    if node.op in _OF_VALUES:
        return "values"
    if node.op == "TopK" and len(node.inputs) > _K and node.inputs[_K] not in view.constants:
        return "k"
    return None
