"""What a graph of TensorFlow is as a whole."""

from __future__ import annotations

from npulint.assemble.graph.target import Target
from npulint.assemble.graph.tensorflow.view import View
from npulint.facts.model import Fact


def facts(view: View, target: Target) -> list[Fact]:
    """One fact ``graph``, at the first line of the file."""
    graph = view.graph
    attrs = {
        "framework": graph.framework,
        "form": graph.form,
        "version": graph.version,
        "trains": "yes" if view.trains else "no",
        "functions": len(view.functions),
        "size": sum(len(flow.nodes) for flow in view.flows),
    }
    return [view.fact("graph", graph.form, [], **attrs)]
