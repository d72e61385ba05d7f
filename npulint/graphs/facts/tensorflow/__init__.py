"""Facts about TensorFlow graphs."""

from __future__ import annotations

import msgspec

from npulint.facts.graph import Graph
from npulint.facts.model import Fact
from npulint.graphs.facts.graph_fact import STOP
from npulint.graphs.facts.target import Target
from npulint.graphs.facts.tensorflow.view import TensorFlowGraphView, stop_facts
from npulint.model.values.context import Context


def facts(path: str, graph: Graph, context: Context, target: Target) -> list[Fact]:
    """All facts of one graph, from all modules of this package."""
    from npulint.graphs.facts.tensorflow import about, control, inputs, patterns, shapes, types

    view = TensorFlowGraphView(path, _without_stops(graph), context)
    parts = (about, types, shapes, control, inputs, patterns)
    graph_facts = [fact for part in parts for fact in part.facts(view, target)]
    return [*graph_facts, *stop_facts(graph, view)]


def _without_stops(graph: Graph) -> Graph:
    """The graph without the nodes that say where a run stopped, which are no operators."""
    bodies = [
        msgspec.structs.replace(body, nodes=[node for node in body.nodes if node.op != STOP])
        if any(node.op == STOP for node in body.nodes)
        else body
        for body in graph.bodies
    ]
    return msgspec.structs.replace(graph, bodies=bodies)
