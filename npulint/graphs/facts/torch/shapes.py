"""Facts about dynamic dimensions: those that depend on tensor values, and those of the inputs."""

from __future__ import annotations

from typing import Literal

from npulint.core.lazy_regex import lazy_compile
from npulint.data.aten import instead
from npulint.facts.attributes import attribute
from npulint.facts.graph import Node
from npulint.facts.kinds import fact_kind
from npulint.facts.model import Span
from npulint.graphs.facts.graph_fact import GraphFact, Place
from npulint.graphs.facts.torch.syncs import inside, library_lines, makes_shape, syncs, unbacked
from npulint.graphs.facts.torch.view import TorchGraphView, base_of, node_set

_SYMBOL = lazy_compile(r"\b[su]\d+\b")
_LISTED = 4
_SAME = dict.fromkeys(("aten.unique_dim", "aten.unique_consecutive", "aten._unique"), "aten._unique2")


@fact_kind("graph_dim")
class OpenDimension(GraphFact, eq=False, dict=True):
    """A dimension is not fixed; the name is the operator that returns it, or inputs for dimensions that were dynamic
    when the program was exported."""

    cause: Literal["values", "inputs"]
    """What determines the size: the values of tensors, or the inputs."""
    dims: str
    """The symbols of some sizes."""
    spread: int = 0
    """How many later operators have such a size."""
    inside: str = ""
    """The lines of installed libraries that call it, if the step was recorded and the user's code does not itself."""

    @attribute
    def library(self) -> bool:
        """Whether a library calls it, and not the user's code."""
        return bool(self.inside)

    @attribute
    def instead(self) -> str:
        """What to write instead of the operator; empty if nothing is known."""
        return instead(_SAME.get(self.name, self.name)) if self.cause == "values" else ""


def facts(view: TorchGraphView) -> list[OpenDimension]:
    """One fact ``graph_dim`` per operator and place whose result shape depends on values, and one for the inputs."""
    return [*_from_values(view), *_of_inputs(view)]


def _from_values(view: TorchGraphView) -> list[OpenDimension]:
    """The operators whose result size depends on values: the first node with the size, or, if the form records no
    sizes, operators known to return such sizes."""
    spread = _spread(view)
    groups: dict[tuple[str, Place, bool], tuple[list[Node], list[str]]] = {}
    surely = {id(node): name for node, name in syncs(view) if makes_shape(name)}
    seen: set[str] = set()
    for node in view.all():
        fresh = sorted(_sizes(node) - seen)
        seen.update(fresh)
        if fresh or id(node) in surely:
            nodes, dims = groups.setdefault((base_of(node.op), view.place(node), bool(library_lines(node))), ([], []))
            nodes.append(node)
            dims += fresh
    return [
        OpenDimension(
            node_set(nodes, place),
            name,
            "values",
            ", ".join(dims[:_LISTED]),
            max((spread[dim] for dim in dims), default=1) - 1,
            inside(nodes),
        )
        for (name, place, _), (nodes, dims) in groups.items()
    ]


def _of_inputs(view: TorchGraphView) -> list[OpenDimension]:
    """The inputs with dynamic dimensions."""
    nodes = [node for node in view.inputs() if node.attrs.get("kind", "user_input") == "user_input"]
    dynamic = [(node, _open(node)) for node in nodes]
    open_nodes = [node for node, dims in dynamic if dims]
    if not open_nodes:
        return []
    dims = dict.fromkeys(symbol for _, symbols in dynamic for symbol in symbols)
    listed = ", ".join([*dims][:_LISTED])
    return [OpenDimension(node_set(open_nodes, (view.path, Span())), "inputs", "inputs", listed)]


def _open(node: Node) -> list[str]:
    sizes = [size for shape in node.attrs.get("shapes", ()) if isinstance(shape, list) for size in shape]
    return [symbol for size in sizes if isinstance(size, str) for symbol in _SYMBOL.findall(size)]


def _sizes(node: Node) -> set[str]:
    return {symbol for shape in node.attrs.get("shapes", ()) for symbol in unbacked(shape)}


def _spread(view: TorchGraphView) -> dict[str, int]:
    """For each symbol of a size that depends on values, the number of nodes that have it."""
    spread: dict[str, int] = {}
    for node in view.all():
        for symbol in _sizes(node):
            spread[symbol] = spread.get(symbol, 0) + 1
    return spread
