"""Facts about a TensorFlow graph as a whole, and about the placement of its nodes."""

from __future__ import annotations

from npulint.facts.kinds import fact_kind
from npulint.facts.model import Fact
from npulint.graphs.facts.graph_fact import WholeGraph
from npulint.graphs.facts.target import Target
from npulint.graphs.facts.tensorflow import where
from npulint.graphs.facts.tensorflow.formatting import Style, style
from npulint.graphs.facts.tensorflow.placement import GraphPlacement
from npulint.graphs.facts.tensorflow.view import TensorFlowGraphView


@fact_kind("graph")
class TensorFlowGraph(WholeGraph, eq=False, dict=True, kw_only=True):
    """A graph of TensorFlow, at the first line of its file; the name is its form: graph_def, meta_graph, saved_model or
    live_tensorflow. Nodes are counted by where they run."""

    style: Style
    """What runs a step: a session (TensorFlow 1) or a function (TensorFlow 2)."""
    clusters: int
    """How many device parts a step has in sequence."""
    mixed_clusters: int
    """The same in mixed computing."""
    left_behind: int
    """How many nodes stay on the host outside of the largest part although the device can run them."""
    cuts: int
    """How many families of operators split the graph of a step."""
    cut_by: str
    """The operators that split it."""
    list: str
    """The operator list that was used; empty: the recorded one."""
    device_nodes: int
    """How many nodes of a step the AI Core runs."""
    aicpu_nodes: int
    """How many nodes of a step the AI CPU runs."""
    host_nodes: int
    """How many nodes of a step the host runs."""
    unknown_nodes: int
    """How many nodes of a step only a newer CANN may run on the device."""


def facts(view: TensorFlowGraphView, target: Target) -> list[Fact]:
    """One fact ``graph`` at the first line of the file, and the facts about placement."""
    placement = GraphPlacement(view, target)
    placed = where.facts(placement)
    cuts = [fact for fact in placed if isinstance(fact, where.GraphCut)]
    counts = placement.counts
    tensor_flow_graph = TensorFlowGraph(
        view.node_set([]),
        view.graph.form,
        framework="tensorflow",
        version=view.graph.version,
        trains=view.trains,
        functions=len(view.functions),
        size=sum(len(flow.nodes) for flow in view.flows),
        release=target.supported.release,
        style=style(placement),
        clusters=placement.pieces,
        mixed_clusters=placement.mixed_pieces,
        left_behind=placement.left_behind,
        cuts=len(cuts),
        cut_by=", ".join(cut.origins for cut in cuts),
        list=target.supported.source,
        device_nodes=counts["device"],
        aicpu_nodes=counts["aicpu"],
        host_nodes=counts["host"],
        unknown_nodes=counts["unknown"],
    )
    return [tensor_flow_graph, *placed]
