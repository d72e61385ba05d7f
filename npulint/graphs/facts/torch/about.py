"""The fact about a PyTorch graph as a whole."""

from __future__ import annotations

from npulint.facts.kinds import fact_kind
from npulint.facts.model import Span
from npulint.graphs.facts.graph_fact import NodeSet, WholeGraph
from npulint.graphs.facts.torch.operators import Operators
from npulint.graphs.facts.torch.view import TorchGraphView


@fact_kind("graph")
class TorchGraph(WholeGraph, eq=False, dict=True, kw_only=True):
    """A graph of PyTorch, at the first line of its file; the name is its form: exported_program, torchscript or
    live_torch. Operators are counted by their verdict."""

    assumed: bool
    """Whether the release of PyTorch is assumed, because none is declared."""
    npu: int
    """How many operators have an NPU kernel."""
    decomposes: int
    """How many decompose into other operators."""
    cpu: int
    """How many run on the CPU."""
    error: int
    """How many fail."""
    custom: int
    """How many belong to a library with its own kernels."""
    unknown: int
    """How many are unknown."""


def fact(view: TorchGraphView, operators: Operators) -> TorchGraph:
    """The fact ``graph``, with the verdicts of the operators for the release of the target."""
    graph = view.graph
    return TorchGraph(
        NodeSet(view.path, Span()),
        graph.form,
        framework="torch",
        version=graph.version,
        trains=view.trains,
        functions=sum(bool(body.serves) for body in graph.bodies),
        size=sum(1 for _ in view.all()),
        release=operators.release,
        assumed=not view.target.torch,
        **operators.counts(),
    )
