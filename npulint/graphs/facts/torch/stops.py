"""Facts about where a recorded step of PyTorch stopped; and products in double precision, which stop a real NPU."""

from __future__ import annotations

from npulint.facts.graph import Node
from npulint.graphs.facts.graph_fact import Place
from npulint.graphs.facts.stops import STOP, GraphStop, stop_at
from npulint.graphs.facts.torch.view import TorchGraphView, base_of, node_set

_PRODUCTS = frozenset(
    "mm bmm mv addmm addmv addbmm baddbmm matmul linear convolution _convolution conv1d conv2d conv3d "
    "conv_transpose1d conv_transpose2d conv_transpose3d".split()
)


def facts(view: TorchGraphView) -> list[GraphStop]:
    """One fact per node that says so, and per place with a matrix product or convolution in float64, for which no chip
    has a kernel: the fake NPU computes it."""
    nodes = [node for body in view.graph.bodies for node in body.nodes if node.op == STOP]
    graph_stops = [
        graph_stop for node in nodes if (graph_stop := stop_at(node, node_set([node], view.place(node)))) is not None
    ]
    return graph_stops + (_double(view) if view.live else [])


def _double(view: TorchGraphView) -> list[GraphStop]:
    groups: dict[Place, list[Node]] = {}
    for node in view.all():
        if "float64" in node.attrs.get("dtypes", ())[:1] and _is_product(node.op):
            groups.setdefault(view.place(node), []).append(node)
    return [
        GraphStop(node_set(nodes, place), "float64", operator=base_of(nodes[0].op), error="")
        for place, nodes in groups.items()
    ]


def _is_product(op: str) -> bool:
    namespace, _, name = base_of(op).partition(".")
    return namespace == "aten" and name in _PRODUCTS
