"""Facts about PyTorch graphs."""

from __future__ import annotations

from npulint.facts.graph import Graph
from npulint.facts.model import Fact
from npulint.graphs.facts.target import Target
from npulint.model.values.context import Context


def facts(path: str, graph: Graph, context: Context, target: Target) -> list[Fact]:
    """All facts of one graph, from all modules of this package."""
    from npulint.graphs.facts.torch import about, shapes, syncs, types
    from npulint.graphs.facts.torch.operators import Operators
    from npulint.graphs.facts.torch.view import TorchGraphView, stop_facts

    view = TorchGraphView(path, graph, context, target)
    operators = Operators(view)
    own = [about.fact(view, operators), *operators.facts(), *syncs.facts(view, operators.fallen())]
    return [*own, *types.facts(view), *shapes.facts(view), *stop_facts(view)]
