"""Dimensions that are not fixed: those that only the values of a tensor tell, and those of the inputs."""

from __future__ import annotations

from npulint.assemble.graph.torch.syncs import makes_shape, syncs, unbacked
from npulint.assemble.graph.torch.view import Place, TorchGraphView, base_of
from npulint.data.aten import instead
from npulint.facts.graph import Node
from npulint.facts.model import Fact, Span
from npulint.lazy_regex import lazy_compile

_SYMBOL = lazy_compile(r"\b[su]\d+\b")
_LISTED = 4


def facts(view: TorchGraphView) -> list[Fact]:
    """One fact ``graph_dim`` for each operator and place whose shape comes from values, one for the inputs."""
    return [*_from_values(view), *_of_inputs(view)]


def _from_values(view: TorchGraphView) -> list[Fact]:
    """By the first node that has such a size; where the form tells no sizes, by what is known to give them."""
    spread = _spread(view)
    groups: dict[tuple[str, Place], tuple[list[Node], list[str]]] = {}
    surely = {id(node): name for node, name in syncs(view) if makes_shape(name)}
    seen: set[str] = set()
    for node in view.all():
        fresh = sorted(_sizes(node) - seen)
        seen.update(fresh)
        if fresh or id(node) in surely:
            nodes, dims = groups.setdefault((base_of(node.op), view.place(node)), ([], []))
            nodes.append(node)
            dims += fresh
    return [_fact(view, name, place, nodes, dims, spread) for (name, place), (nodes, dims) in groups.items()]


def _fact(
    view: TorchGraphView, name: str, place: Place, nodes: list[Node], dims: list[str], spread: dict[str, int]
) -> Fact:
    behind = max((spread[one] for one in dims), default=1) - 1
    attrs = {"dims": ", ".join(dims[:_LISTED]), "spread": behind, "instead": instead(_SAME.get(name, name))}
    return view.fact("graph_dim", name, nodes, place, cause="values", phase=nodes[0].phase or "forward", **attrs)


_SAME = dict.fromkeys(("aten.unique_dim", "aten.unique_consecutive", "aten._unique"), "aten._unique2")


def _of_inputs(view: TorchGraphView) -> list[Fact]:
    """The inputs whose sizes were left open when the program was exported."""
    nodes = [node for node in view.inputs() if node.attrs.get("kind", "user_input") == "user_input"]
    dynamic = [(node, _open(node)) for node in nodes]
    found = [node for node, dims in dynamic if dims]
    if not found:
        return []
    dims = dict.fromkeys(symbol for _, symbols in dynamic for symbol in symbols)
    told = ", ".join([*dims][:_LISTED])
    return [
        view.fact("graph_dim", "inputs", found, (view.path, Span()), cause="inputs", dims=told, spread=0, instead="")
    ]


def _open(node: Node) -> list[str]:
    sizes = [size for shape in node.attrs.get("shapes", ()) if isinstance(shape, list) for size in shape]
    return [symbol for size in sizes if isinstance(size, str) for symbol in _SYMBOL.findall(size)]


def _sizes(node: Node) -> set[str]:
    return {symbol for shape in node.attrs.get("shapes", ()) for symbol in unbacked(shape)}


def _spread(view: TorchGraphView) -> dict[str, int]:
    """By size that only values tell, how many nodes have it."""
    found: dict[str, int] = {}
    for node in view.all():
        for symbol in _sizes(node):
            found[symbol] = found.get(symbol, 0) + 1
    return found
