"""What a graph of PyTorch is as a whole."""

from __future__ import annotations

from npulint.assemble.graph.torch.operators import Operators
from npulint.assemble.graph.torch.view import TorchGraphView
from npulint.facts.model import Fact, Span


def fact(view: TorchGraphView, operators: Operators) -> Fact:
    """One fact ``graph``, at the first line of the file: size, whether it trains, how many operators the NPU, other
    operators or the CPU compute, and the release of PyTorch that this was judged for."""
    graph = view.graph
    attrs = {
        "framework": graph.framework,
        "form": graph.form,
        "version": graph.version,
        "functions": sum(bool(body.serves) for body in graph.bodies),
        "size": sum(1 for _ in view.all()),
        "release": operators.release,
        "assumed": "no" if view.target.torch else "yes",
        **operators.counts(),
    }
    return view.fact("graph", graph.form, [], (view.path, Span()), **attrs)
