"""Facts ``onnx_input``: what the inputs of a model leave open."""

from __future__ import annotations

from npulint.assemble.graph.graph_fact import GraphFact
from npulint.assemble.graph.onnx.view import OnnxView
from npulint.facts.attributes import attribute
from npulint.facts.graph import Node
from npulint.facts.kinds import fact_kind
from npulint.facts.model import Span

_WORST = 120  # characters of a list of inputs


@fact_kind("onnx_input")
class OnnxInput(GraphFact, eq=False, dict=True, kw_only=True):
    """An input of an ONNX model; the name is that of the input."""

    dtype: str
    """Its element type; sequence, map or optional if it is not a tensor."""
    open: int
    """How many dimensions are not fixed; all of them if its rank is unknown."""
    dims: str
    """Its dimensions, separated by commas; names and `?` are not fixed."""
    all_open: str
    """The value of `--input_shape` for all inputs of the model, with names for what is not fixed."""

    @attribute
    def first(self) -> bool:
        """Whether it is the first input of the model that is not fixed."""
        return self.name == self._first

    _first: str


def facts(view: OnnxView) -> list[OnnxInput]:
    """One fact per input."""
    nodes = list(view.inputs())
    listed = ";".join(f"{node.name}:{_dims(node)}" for node in nodes)
    first = next((node.name for node in nodes if _open(node)), "")
    return [
        OnnxInput(
            view.node_set([node], (view.path, Span())),
            node.name,
            dtype=node.attrs.get("dtypes", [""])[0],
            open=_open(node),
            dims=_dims(node),
            all_open=listed if len(listed) <= _WORST else f"{listed[:_WORST]}…",
            _first=first,
        )
        for node in nodes
    ]


def _shape(node: Node) -> list[int | str] | None:
    shape: list[int | str] | None = node.attrs.get("shapes", [None])[0]
    return shape


def _open(node: Node) -> int:
    shape = _shape(node)
    return 1 if shape is None else sum(isinstance(size, str) or size < 0 for size in shape)


def _dims(node: Node) -> str:
    shape = _shape(node)
    return "?" if shape is None else ",".join(map(str, shape))
