"""Facts about where a run of a TensorFlow program stopped, or went on otherwise than it is written."""

from __future__ import annotations

from npulint.facts.graph import Graph
from npulint.graphs.facts.stops import STOP, GraphStop, stop_at
from npulint.graphs.facts.tensorflow.view import TensorFlowGraphView


def facts(graph: Graph, view: TensorFlowGraphView) -> list[GraphStop]:
    """One fact per node that says so."""
    nodes = [node for body in graph.bodies for node in body.nodes if node.op == STOP]
    return [graph_stop for node in nodes if (graph_stop := stop_at(node, view.node_set([node]))) is not None]
