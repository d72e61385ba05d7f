"""Facts about TensorFlow graphs."""

from __future__ import annotations

from npulint.assemble.context import Context
from npulint.assemble.graph.target import Target
from npulint.assemble.graph.tensorflow.view import TensorFlowGraphView
from npulint.facts.graph import Graph
from npulint.facts.model import Fact


def facts(path: str, graph: Graph, context: Context, target: Target) -> list[Fact]:
    """All facts of one graph, from all modules of this package."""
    from npulint.assemble.graph.tensorflow import about, control, inputs, patterns, shapes, types

    view = TensorFlowGraphView(path, graph, context)
    parts = (about, types, shapes, control, inputs, patterns)
    return [fact for part in parts for fact in part.facts(view, target)]
