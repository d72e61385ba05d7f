"""Facts ``onnx_input``: what the inputs of a model leave open."""

from __future__ import annotations

from npulint.facts.graph import Node
from npulint.facts.kinds import fact_kind
from npulint.facts.model import Span
from npulint.graphs.facts.graph_fact import GraphFact
from npulint.graphs.facts.onnx.view import OnnxView, dtype_of, shape_of

_MOST = 120  # characters of an option


@fact_kind("onnx_input")
class OnnxInput(GraphFact, eq=False, dict=True, kw_only=True):
    """An input of an ONNX model; the name is that of the input."""

    dtype: str
    """Its element type; sequence, map or optional if it is not a tensor."""
    open: int
    """How many dimensions are not fixed; 1 if its rank is unknown."""
    first: bool
    """Whether it is the first input of the model that is not fixed."""
    dims: str
    """Its dimensions, separated by commas; names and `?` are not fixed."""
    option: str
    """The value of `--input_shape` for all inputs of the model, with names for what is not fixed."""


def facts(view: OnnxView) -> list[OnnxInput]:
    """One fact per input."""
    nodes = list(view.inputs())
    option = ";".join(f"{node.name}:{_dims(node)}" for node in nodes)
    first = next((node for node in nodes if _open(node)), None)
    return [
        OnnxInput(
            view.node_set([node], (view.path, Span())),
            node.name,
            dtype=dtype_of(node),
            open=_open(node),
            first=node is first,
            dims=_dims(node),
            option=option if len(option) <= _MOST else f"{option[:_MOST]}…",
        )
        for node in nodes
    ]


def _open(node: Node) -> int:
    shape = shape_of(node)
    return 1 if shape is None else sum(isinstance(size, str) or size < 0 for size in shape)


def _dims(node: Node) -> str:
    shape = shape_of(node)
    return "?" if shape is None else ",".join(map(str, shape))
