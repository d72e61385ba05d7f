"""Facts about where a recorded step stopped with an error that it would stop with on an NPU as well."""

from __future__ import annotations

from typing import Literal, get_args

from npulint.assemble.graph.graph_fact import GraphFact, Place
from npulint.assemble.graph.torch.view import STOP, TorchGraphView, base_of, node_set
from npulint.facts.attributes import attribute
from npulint.facts.graph import Node
from npulint.facts.kinds import fact_kind

Reason = Literal[
    "mixed", "numpy", "cuda", "nccl", "npu_name", "float64", "scaler", "desync", "same_device", "host_send", "fork"
]
REASONS: tuple[Reason, ...] = get_args(Reason)
"""Why a step stops on an NPU; see `GraphStop`."""

_PRODUCTS = frozenset(
    "mm bmm mv addmm addmv addbmm baddbmm matmul linear convolution _convolution conv1d conv2d conv3d "
    "conv_transpose1d conv_transpose2d conv_transpose3d".split()
)


@fact_kind("graph_stop")
class GraphStop(GraphFact, eq=False, dict=True):
    """A recorded step stopped here with an error that an NPU server raises as well. The name is the reason: an operator
    received tensors of the host and of the NPU (mixed), numpy a tensor of the NPU (numpy); CUDA was used (cuda), or its
    communication library (nccl); torch_npu has no such name (npu_name); the device does not compute this in double
    precision (float64); the gradient scaler was used in the wrong order (scaler). With several ranks: not all of them
    call this collective (desync), two are on the same NPU (same_device), a collective of the NPU received a tensor of
    the host (host_send). A process that was forked from one that uses the NPU uses it as well (fork)."""

    name: Reason
    operator: str
    """The operator that stopped; empty if it was none."""
    error: str
    """The exception as Python prints it."""

    @attribute
    def what(self) -> str:
        """What stopped, for a sentence: the operator, or the exception."""
        return self.operator or self.error


def facts(view: TorchGraphView) -> list[GraphStop]:
    """One fact per node that says so, and per place with a matrix product or convolution in float64, for which no chip
    has a kernel: the fake NPU computes it."""
    nodes = [node for body in view.graph.bodies for node in body.nodes if node.op == STOP]
    found = [one for node in nodes if (one := _stop(node, view)) is not None]
    return found + (_double(view) if view.live else [])


def _stop(node: Node, view: TorchGraphView) -> GraphStop | None:
    reason = next((one for one in REASONS if one == node.attrs.get("reason")), None)
    if reason is None:
        return None
    operator, error = (str(node.attrs.get(key, "")) for key in ("operator", "error"))
    return GraphStop(node_set([node], view.place(node)), reason, operator=operator, error=error)


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
